"""Claims about the determinism log: what is read, what is refused and where, and that schema and reader agree."""

from __future__ import annotations

import copy
import json
import math
from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from completelogs import NA, art, audio, holder, leaves, marked
from twice.assets.errors import LogRefused, LogUnreadable, LogVersion
from twice.assets.log.block import NotApplicable
from twice.assets.log.io import (
    canonical,
    canonical_document,
    examine,
    examine_bytes,
    log_digest,
    parse,
    read_log,
    to_document,
)
from twice.assets.log.kinds import UNKNOWN_WORDS, Fault
from twice.assets.log.schema import PATH, make_schema

SCHEMA: dict[str, Any] = make_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
COMPLETE = [art(), audio(), marked()]
UNKNOWNS = [
    None, "", " ", "\t\n", -1, -1.0, math.nan, math.inf, "unknown", " Unknown ", "LATEST", "latest",
    "-1", "n/a", "None", "null", "NaN", "TBD", "\u200b", "?", "???", "\u2026", "--", "N / A", "T.B.D.",
    "(unknown)", "not recorded", "<version>", "${VERSION}", "\u2800", "\u3164", "\ufe0f", "xxx",
    "unknown\u0000", {"not_applicable": ""}, {"not_applicable": None},
    {"not_applicable": "unknown"},
]  # fmt: skip
FREE = ("/recipe/argv", "/recipe/env")
"""Where a text is what a program takes, so that every text is a value."""


def faults(document: object) -> list[tuple[str, Fault]]:
    return [(each.pointer, each.fault) for each in examine(document).problems]


def valid(document: object) -> bool:
    return bool(VALIDATOR.is_valid(document))


@pytest.mark.parametrize("document", COMPLETE, ids=lambda each: each["log_id"])
def test_a_complete_log_has_no_problem_and_comes_back(document: dict[str, Any]) -> None:
    assert faults(document) == []
    assert valid(document)
    examined = examine(document)
    assert to_document(examined.log) == document
    assert canonical_document(document) == canonical(examined.log)
    assert parse(canonical(examined.log), "a") == document


def test_values_are_typed() -> None:
    log = examine(art()).log

    assert log.deterministic
    assert log.art is not None
    assert isinstance(log.art.negative_prompt, NotApplicable)
    assert (log.seed.effective, log.art.post[0].args) == ("7", {"resize": 2})  # type: ignore[union-attr, index]


def test_the_shipped_schema_is_that_of_the_code_and_stands_alone() -> None:
    assert json.loads(PATH.read_text("utf-8")) == SCHEMA
    assert [each.name for each in PATH.parent.iterdir()] == [PATH.name]
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(("name", "block"), [("art", "ArtRender"), ("audio", "AudioRender")])
def test_a_render_alone_is_valid_by_its_own_definition(name: str, block: str) -> None:
    render = {"art": art, "audio": audio}[name]()[name]
    one: Any = {"$ref": f"#/$defs/deterministic/{block}", "$defs": SCHEMA["$defs"]}
    validator = jsonschema.Draft202012Validator(one)

    assert list(validator.iter_errors(render)) == []
    del render["export" if name == "audio" else "steps"]
    assert not validator.is_valid(render)


def changed(at: int, pointer: str, *value: object) -> Any:
    """Copy a complete log with another value at a pointer, or without one."""
    document = copy.deepcopy(COMPLETE[at])
    inside, key = holder(document, pointer)
    del inside[key]
    if value:
        inside[key] = value[0]
    return document


@cache
def list_required() -> list[tuple[int, str]]:
    return [
        (at, pointer)
        for at, document in enumerate(COMPLETE)
        for pointer, _ in leaves(document)
        if isinstance(holder(document, pointer)[0], dict)
        and not pointer.endswith("/not_applicable")
        and not valid(changed(at, pointer))
    ]


def test_the_rows_of_the_issue_are_required() -> None:
    pointers = {pointer for _, pointer in list_required()}

    assert len(pointers) > 90
    assert pointers >= {
        "/provider/name", "/model/name", "/model/version", "/audio/source", "/audio/daw/version",
        "/seed/requested", "/seed/effective", "/audio/tempo_bpm", "/audio/key",
        "/audio/time_signature", "/audio/chain", "/audio/session_sample_rate_hz",
        "/audio/session_bit_depth", "/audio/loudness/target_lufs", "/audio/presets",
        "/art/width_px", "/art/height_px", "/art/aspect_ratio", "/art/workflow", "/art/steps",
        "/art/guidance", "/art/sampler", "/art/scheduler", "/art/negative_prompt", "/art/post",
        "/promise/why", "/promise/why_code", "/promise/constraints", "/recipe", "/environment",
    }  # fmt: skip


def test_a_missing_field_is_named_and_nothing_else() -> None:
    for at, pointer in list_required():
        assert faults(changed(at, pointer)) == [(pointer, Fault.MISSING)]


def test_nothing_that_means_unknown_stands_in_for_a_field() -> None:
    cases = [(at, pointer, each) for at, pointer in list_required() for each in (None, "TBD")]
    for at, pointer, unknown in [*cases, *((0, "/model/version", each) for each in UNKNOWNS)]:
        if pointer.startswith(FREE) and unknown is not None:
            continue
        document = changed(at, pointer, unknown)
        found = [each for each, _ in faults(document)]
        assert found, (pointer, unknown)
        assert all(each.startswith(pointer) for each in found), (pointer, unknown)
        if not isinstance(unknown, float) or math.isfinite(unknown):
            assert not valid(document), (pointer, unknown)


@given(
    st.deferred(lambda: st.sampled_from(list_required())),
    st.sampled_from(UNKNOWN_WORDS),
    st.text(" \t\n\r\u00a0\u200b\ufeff", max_size=3),
    st.text(" \t\n\r\u00a0\u200b\ufeff", max_size=3),
    st.lists(st.booleans(), min_size=20, max_size=20),
)
def test_no_way_to_write_unknown_passes(
    field: tuple[int, str], word: str, before: str, after: str, upper: list[bool]
) -> None:
    said = "".join(c.upper() if up else c for c, up in zip(word, upper, strict=False))
    document = changed(*field, before + said + after)

    assert faults(document)
    assert not valid(document)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8) | st.sampled_from(["deterministic", "art", "a/b", "7", "x" * 64, "0" * 64]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["name", "not_applicable", "version", "mode", "x/y", ""]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
POINTERS = [[pointer for pointer, _ in leaves(document)] for document in COMPLETE]


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """Draw a complete log with some of its values replaced, removed or added."""
    at = draw(st.sampled_from([0, 1, 2]))
    document = copy.deepcopy(COMPLETE[at])
    for pointer in draw(st.lists(st.sampled_from(POINTERS[at]), min_size=0, max_size=3)):
        try:
            inside, key = holder(document, pointer)
            what = draw(st.sampled_from(["replace", "replace", "delete", "add"]))
            if what == "delete":
                del inside[key]
            elif what == "add" and isinstance(inside, dict):
                inside[draw(st.sampled_from(["note", "", "a/b~c", "sha256"]))] = draw(JSON_VALUES)
            else:
                inside[key] = draw(JSON_VALUES)
        except (KeyError, IndexError, TypeError, ValueError):
            continue  # An earlier change took the place away.
    return document


@given(mutated())
def test_schema_and_reader_agree(document: Any) -> None:
    assert valid(document) == (faults(document) == []), faults(document)


@given(mutated())
def test_what_was_read_is_a_log_that_says_the_same(document: Any) -> None:
    examined = examine(document)
    again = examine(to_document(examined.log))

    assert again.log == examined.log
    if not examined.problems:
        assert to_document(examined.log) == document


@given(JSON_VALUES)
def test_no_json_value_stops_the_reader(document: object) -> None:
    assert examine(document).problems


@pytest.mark.parametrize(
    ("pointer", "value", "fault"),
    [
        ("/audio/session_sample_rate_hz", 0, Fault.IMPOSSIBLE),
        ("/audio/session_sample_rate_hz", "48000", Fault.TYPE),
        ("/audio/tempo_bpm", -4, Fault.IMPOSSIBLE),
        ("/audio/loudness/target_lufs", -1, Fault.UNKNOWN),
        ("/audio/session_bit_depth", True, Fault.TYPE),
        ("/seed/effective", 7, Fault.TYPE),
        ("/seed/effective", "007", Fault.IMPOSSIBLE),
        ("/seed/effective", "7\n", Fault.IMPOSSIBLE),
        ("/asset/file", "../cue.wav", Fault.IMPOSSIBLE),
        ("/recipe/output", "../../etc/passwd", Fault.IMPOSSIBLE),
        ("/recipe/output", "/etc/passwd", Fault.IMPOSSIBLE),
        ("/recipe/output", "x\n/../../etc/passwd", Fault.IMPOSSIBLE),
        ("/recipe/output", "a/..", Fault.IMPOSSIBLE),
        ("/asset/file", "..", Fault.UNKNOWN),
        ("/asset/file", "a\0b", Fault.IMPOSSIBLE),
        ("/log_id", "a/b", Fault.IMPOSSIBLE),
        ("/created", "2026-13-01T00:00:00Z", Fault.IMPOSSIBLE),
        ("/promise/grade", "close", Fault.IMPOSSIBLE),
        ("/promise/grade", 3, Fault.TYPE),
        ("/audio/chain", [], None),
        ("/recipe/argv", [], Fault.IMPOSSIBLE),
        ("/recipe/argv", {}, Fault.TYPE),
        ("/recipe/env", [], Fault.TYPE),
        ("/audio/chain/1/bypass", 1, Fault.TYPE),
    ],
)
def test_what_cannot_be_is_refused_at_its_place(
    pointer: str, value: object, fault: Fault | None
) -> None:
    document = changed(1, pointer, value)

    assert faults(document) == ([] if fault is None else [(pointer, fault)])
    assert valid(document) is (fault is None)


@pytest.mark.parametrize("name", ["promise", "asset", "producer", "evidence", "log_id"])
def test_identity_and_promise_are_never_excused(name: str) -> None:
    document = art() | {name: NA}

    assert faults(document)
    assert not valid(document)


TOLERANCE = {"mode": "deterministic", "grade": "tolerance"}
PROFILE = {"name": "image-stochastic", "limits": {"psnr_db_min": 45}}


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ({"model": NA, "recipe": NA, "seed": NA}, []),
        ({"promise": TOLERANCE}, [("/promise/profile", Fault.MISSING)]),
        ({"promise": TOLERANCE | {"profile": PROFILE}}, []),
        ({"audio": audio()["audio"]}, [("/audio", Fault.UNEXPECTED)]),
        ({"audio": None}, [("/audio", Fault.UNEXPECTED)]),
    ],
)
def test_fields_depend_on_kind_and_promise(over: Any, expected: list[tuple[str, Fault]]) -> None:
    assert faults(art() | over) == expected
    assert valid(art() | over) is (expected == [])


def test_a_later_revision_names_the_one_before() -> None:
    document = art() | {"revision": 2}
    assert faults(document) == [("/supersedes", Fault.MISSING)]
    assert not valid(document)

    document["supersedes"] = log_digest(examine(art()).log)
    assert faults(document) == []
    assert valid(document)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "ends early"),
        (canonical_document(art())[:300], "ends early|is no JSON"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b'{"a": NaN}', "NaN"),
        (b"\xff\xfe{", "utf-8"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b"[" * 200_000, "deep"),
        (b"[" * 90 + b"]" * 90, "deep"),
        (b'{"a": ' + b"9" * 5000 + b"}", "digits"),
    ],
)
def test_bytes_that_are_no_log_are_one_error(data: bytes, words: str) -> None:
    with pytest.raises(LogUnreadable, match=words):
        examine_bytes(data, "a.detlog.json")


def test_a_later_format_is_named() -> None:
    with pytest.raises(LogVersion, match="determinism-log/2"):
        examine_bytes(json.dumps(art() | {"format": "twice.determinism-log/2"}).encode(), "a")


@given(st.binary(max_size=200))
def test_any_bytes_end_in_a_log_or_an_error(data: bytes) -> None:
    refused = False
    problems: tuple[object, ...] = ()
    try:
        problems = examine_bytes(data, "a")[1].problems
    except LogUnreadable:
        refused = True
    assert refused or problems


def test_a_draft_may_lack_fields_and_a_log_may_not(tmp_path: Any) -> None:
    document = changed(0, "/seed")
    path = tmp_path / "a.detlog.json"
    path.write_bytes(canonical_document(document))

    assert read_log(path, draft=True).seed is None
    with pytest.raises(LogRefused, match="/seed") as caught:
        read_log(path)
    assert caught.value.fields["pointer"] == "/seed"


def test_equal_documents_have_one_digest() -> None:
    shuffled = dict(reversed(art().items()))

    assert log_digest(examine(shuffled).log) == log_digest(examine(art()).log)
    assert canonical_document(art()).endswith(b"}\n")


def test_a_long_text_takes_no_longer_than_its_length() -> None:
    document = art()
    for text in (" " * 900_000 + "x", "a/" * 2000, "-" * 900_000 + " é"):
        document["art"]["prompt"] = document["recipe"]["output"] = text
        assert all(each.pointer == "/recipe/output" for each in examine(document).problems)
