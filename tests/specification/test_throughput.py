"""The figure of sheet 06: what is one, and when measured replays keep it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sheets_written import write

from twice.cli import main
from twice.specification.cost.result import Spread
from twice.specification.throughput import ReplayPromise, read_promise


@pytest.mark.parametrize(
    ("text", "promise"),
    [
        ("at most 1.5 times as long as the recording", ReplayPromise("ratio", 1.5)),
        ("2x as fast", ReplayPromise("ratio", 0.5)),
        ("1,000 ticks/s on one core", ReplayPromise("ticks_per_s", 1000)),
        ("40 ticks per second", ReplayPromise("ticks_per_s", 40)),
        ("no slower than recording", None),
        ("0 times as fast", None),
        ("in 3 weeks", None),
        ("", None),
    ],
)
def test_a_figure_is_read_from_a_text(text: str, promise: ReplayPromise | None) -> None:
    assert read_promise(text) == promise


@pytest.mark.parametrize(
    ("promise", "spread", "result"),
    [
        (ReplayPromise("ratio", 2), Spread(1.5, 1, 2), "kept"),
        (ReplayPromise("ratio", 2), Spread(1.5, 1, 2.1), "within the spread"),
        (ReplayPromise("ratio", 2), Spread(3, 2.1, 4), "broken"),
        (ReplayPromise("ticks_per_s", 10), Spread(15, 10, 20), "kept"),
        (ReplayPromise("ticks_per_s", 10), Spread(15, 9, 20), "within the spread"),
        (ReplayPromise("ticks_per_s", 10), Spread(7, 5, 9), "broken"),
    ],
)
def test_a_promise_is_judged_by_the_whole_spread(
    promise: ReplayPromise, spread: Spread, result: str
) -> None:
    assert promise.judge(spread) == result


@pytest.mark.parametrize(
    ("said", "asked"), [("no slower than recording", 1), ("2 times as long", 0), ("?", 0)]
)
def test_a_text_without_a_figure_is_asked_for_by_the_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], said: str, asked: int
) -> None:
    write(tmp_path, {"06": {"throughput": said}})

    with pytest.raises(SystemExit) as json_end:
        main(["spec", "status", "--project", str(tmp_path), "--json"])
    told = json.loads(capsys.readouterr().out)
    with pytest.raises(SystemExit) as text_end:
        main(["spec", "status", "--project", str(tmp_path)])

    assert sum(note.startswith("06 throughput") for note in told["notes"]) == asked
    assert capsys.readouterr().out.count("note: 06 throughput says") == asked
    assert json_end.value.code == text_end.value.code
