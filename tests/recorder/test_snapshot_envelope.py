"""The envelope is what its page and schema say, and its digests can be computed by anyone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import blake3
import jsonschema
import pytest
import rfc8785

import twice
from programs import recorded
from twice.recorder.snapshots import Cursors

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/format/snapshot-envelope.schema.json").read_text())
VECTOR = json.loads((ROOT / "tests/vectors/snapshot-envelope.json").read_text())
GOLDEN = ROOT / "tests/golden/session/run-session-1.twice"


def labelled(content: bytes) -> str:
    return "blake3:" + blake3.blake3(content).hexdigest()


def envelopes() -> list[Any]:
    with twice.open(GOLDEN) as record:
        return [
            json.loads(record.reader.envelope(at)) for at in range(len(record.reader.snapshots))
        ]


def test_every_envelope_follows_the_schema() -> None:
    found = envelopes()

    for envelope in found:
        jsonschema.validate(envelope, SCHEMA)
    assert [envelope["tick"] for envelope in found] == [0, 10, 20, 30]


def test_an_envelope_without_a_state_hash_does_not_follow_the_schema() -> None:
    envelope = {name: value for name, value in VECTOR["envelope"].items() if name != "state_hash"}

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(envelope, SCHEMA)


def test_the_vector_s_digests_follow_from_its_contents() -> None:
    subsystems = VECTOR["envelope"]["subsystems"]
    contents = {name: bytes.fromhex(text) for name, text in VECTOR["contents"].items()}

    digests = {name: labelled(content) for name, content in contents.items()}

    assert digests == {name: entry["digest"] for name, entry in subsystems.items()}
    assert labelled(rfc8785.dumps(digests)) == VECTOR["envelope"]["state_hash"]
    assert {name: len(content) for name, content in contents.items()} == {
        name: entry["bytes"] for name, entry in subsystems.items()
    }


def test_the_golden_record_still_holds_the_vector() -> None:
    assert envelopes()[1] == VECTOR["envelope"]


@pytest.mark.integration  # a real record
def test_an_envelope_has_its_rfc_8785_form_whatever_components_are_called(tmp_path: Path) -> None:
    source = """
        def main(run):
            for name in ("a\\nb", "\\x7f", "\\u00fc", "\\ue000", "\\U0001f600", 'q"uote', "\\\\u0041"):
                run.track(name, {"n": 1})
            for tick in run.ticks(2):
                pass
    """
    with recorded(tmp_path, source) as record:
        form = bytes(record.reader.envelope(0))

    assert len(json.loads(form)["subsystems"]) == 8
    assert form == rfc8785.dumps(json.loads(form))


@pytest.mark.parametrize("wrong", ["3", 3.5, None, [3]])
@pytest.mark.parametrize("name", ["inputs", "loop", "loop_first", "point"])
def test_a_cursor_that_is_no_whole_number_is_refused(name: str, wrong: object) -> None:
    envelope = json.loads(json.dumps(VECTOR["envelope"]))
    (envelope if name == "point" else envelope["cursors"])[name] = wrong

    with pytest.raises(TypeError):
        Cursors.from_json(envelope)
