"""A record as a notebook shows it: whole, torn, closed, or written by a stranger."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from forging import content_of, write

from twice.recorder.runrecord import RunRecord

GOLDEN = Path(__file__).parents[1] / "golden" / "session" / "run-session-1.twice"
HOSTILE = "<script>alert(1)</script>\x1b[31m"


def show(path: Path) -> str:
    with RunRecord.open(path) as record:
        return record._repr_html_()


def test_a_whole_record_says_how_it_ended_and_is_verified_next() -> None:
    page = show(GOLDEN)

    assert ">completed</strong> run-session-1.twice: walk.py:main, seed " in page
    assert f">twice verify {shlex.quote(str(GOLDEN))}</code>" in page
    assert ">predicate</th>" in page


def test_a_torn_record_says_so_and_is_closed_next(tmp_path: Path) -> None:
    torn = tmp_path / "a torn one.twice"
    torn.write_bytes(GOLDEN.read_bytes()[:-100])

    page = show(torn)

    assert ">torn</strong>" in page
    assert "twice migrate &#x27;" in page


def test_a_closed_record_shows_the_error_in_place_of_facts() -> None:
    with RunRecord.open(GOLDEN) as record:
        pass

    assert ">E-REPLAY-002</strong>" in record._repr_html_()


@pytest.mark.parametrize("place", ["program", "config", "ending"])
def test_texts_of_a_stranger_are_shown_and_not_obeyed(place: str, tmp_path: Path) -> None:
    content = content_of(GOLDEN)
    if place == "program":
        content.identity["setup"]["program"]["target"] = f"{HOSTILE}.py"
    elif place == "config":
        content.identity["setup"]["config"] = {HOSTILE: [HOSTILE]}
    else:
        told = {"type": HOSTILE, "message": HOSTILE, "frames": [{"file": HOSTILE, "line": HOSTILE}]}
        content.ending.update(how="exception", exception=told, caveats=[HOSTILE])
    write(content, tmp_path / "forged.twice")

    page = show(tmp_path / "forged.twice")

    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "\x1b" not in page
