"""Numbers and their nouns."""

from __future__ import annotations

from twice.foundation.printable import pluralize


def test_a_number_agrees_with_its_noun() -> None:
    assert pluralize(1, "file") == "1 file"
    assert pluralize(0, "file") == "0 files"
    assert pluralize(2_000, "entry", "entries") == "2,000 entries"
    assert pluralize(1, "run agrees", "runs agree") == "1 run agrees"
