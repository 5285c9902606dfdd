"""Every operation stands in the description of the format, under its number."""

from __future__ import annotations

from pathlib import Path

from twice.recorder.effects.ops import FILE_WRITTEN, OPS
from twice.recorder.effects.sources import describe

PAGE = Path(__file__).parents[3] / "docs" / "format" / "journal.md"


def documented() -> dict[int, str]:
    """Operations of the page's table, by number."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 3 and cells[0][:1].isdigit():
            numbers = [int(number) for number in cells[0].split(",")]
            found |= dict(zip(numbers, cells[1].replace("`", "").split(", "), strict=True))
    return found


def test_the_page_lists_every_operation_under_its_number() -> None:
    assert documented() == {number: op.name for number, op in OPS.items()}


def test_a_fact_is_told_as_what_was_asked_and_what_was_answered() -> None:
    held = ("b.csv", (0, "blake3:" + "0" * 64, 12))
    assert describe(FILE_WRITTEN.number, held) == f"files.written('b.csv') -> {held[1]!r}"
