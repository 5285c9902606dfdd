"""Secrets that nobody named are not in a record: sixty kinds, printed, read, raised, sent by processes and wires."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from planted_kinds import planted

from planted import stands_in
from programs import cli, write
from twice.recorder.redaction.policy import Policy
from twice.recorder.redaction.redaction import Redaction
from twice.recorder.redaction.shapes import SHAPES, find_shapes

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "secrets.md"
PLANTING = """
    import logging, subprocess, sys
    from pathlib import Path

    def main(run):
        seen = run.track("seen", [])
        texts = sorted(Path("texts").iterdir())
        for tick in run.ticks(1):
            for path in texts:
                text = path.read_bytes().decode("latin-1")
                print(text, flush=True)
                logging.warning("%s", text)
                cat = subprocess.run(["cat"], input=text, capture_output=True, text=True)
                run.effects.call("service", lambda: {"said": [text]})
                seen.append(len(cat.stdout) > 0)
        raise RuntimeError(texts and texts[5].read_text())
    """


@pytest.mark.heavy
def test_sixty_kinds_are_not_in_the_record_of_a_program_that_meets_them(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    for number, one in enumerate(planted()):
        (tmp_path / "texts" / f"{number:02}").write_text(one.text, encoding="latin-1", newline="")
    program, out = write(tmp_path, PLANTING), tmp_path / "a.twice"

    done = cli("record", program, "--seed", 1, "-o", out, "--files", "contents", cwd=tmp_path)
    kept = [one.kind for one in planted() if stands_in(out, one.secret)]
    again = cli("verify", out, cwd=tmp_path)

    assert done.returncode == 1, done.stderr
    assert "RuntimeError" in done.stderr, done.stderr
    assert len(planted()) == 60
    assert kept == []
    assert again.stdout.startswith(("PASS", "UNKNOWN")), again.stdout + again.stderr


def test_every_kind_is_blanked_in_a_text_of_its_own() -> None:
    kept = [
        one.kind for one in planted() if one.secret in Redaction().value(f"\n{one.text}", "test")
    ]

    assert kept == []


def test_a_text_that_was_blanked_stays_as_it_is() -> None:
    for one in planted():
        blanked = Redaction().value(one.text, "test")

        assert Redaction().value(blanked, "test") == blanked
        assert len(blanked) == len(one.text)


def test_source_code_and_prose_are_left_as_they_are() -> None:
    root = GUIDE.parents[2]
    every = [*root.glob("src/twice/recorder/**/*.py"), *root.glob("docs/guides/*.md")]
    found = {
        path.name: [(kind, text[begin:end]) for begin, end, kind in find_shapes(text)]
        for path in every
        if path.name not in {GUIDE.name, "shapes.py"}
        and any(find_shapes(text := path.read_bytes()))
    }

    assert found == {}


NOISES = (
    b"\xeb\x82y!\x8bz\x970Pwd:\xc77\xa0.\x88:W\xe88\xe6\xa7\x04\x17\x12",
    b"E\x17\x91%P\xc6zgpWD:\x08\xebp\x0f\x0f\xb2=\xb9u\xff\x82\xf9\x8f~\x80",
    b"\xc9\xf5\x86\xd8\xcc\xe1<\x0ePwd=\x8ch\xdf\x8c\xaf\xfe\x96#\xc2J\xe2\xf6f",
)
"""Cut out of random bytes: what stands behind a secret's name by chance is no text."""


@pytest.mark.parametrize("noise", NOISES)
def test_noise_behind_a_name_is_no_secret(noise: bytes) -> None:
    assert list(find_shapes(noise)) == []


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_password_of_any_letters_is_blanked(encoding: str) -> None:
    text = "user=me\nPWD=gehe\xefm\xfcr5\n".encode(encoding)

    assert [text[begin:end].decode(encoding) for begin, end, _ in find_shapes(text)] == [
        "gehe\xefm\xfcr5"
    ]


def test_shapes_can_be_switched_off_and_are_not_looked_for_in_records_from_before() -> None:
    token = planted()[0].text
    old = Policy.from_json({"off": ["cookies"]})

    assert Redaction(Policy(off=("shapes",))).value(token, "test") == token
    assert Redaction(old).value(token, "test") == token
    assert Policy.from_json(Policy().to_json()) == Policy()
    assert Policy.from_json({"shapes": "many"}).shapes == 0


def test_the_guide_names_every_kind() -> None:
    guide = re.sub(r"\s+", " ", GUIDE.read_text())

    assert [shape.kind for shape in SHAPES if shape.kind not in guide] == []
