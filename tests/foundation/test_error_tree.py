"""Each leaf of the errors has an id of its own, in whichever room it is defined."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from twice.errors import RecordTorn, TwiceError, find_leaf

SOURCES = Path(__file__).parents[2] / "src" / "twice"
LEAF = re.compile(r'^class \w+\(.*\bid="(E-[A-Z]+(?:-[A-Z]+)*-\d{3})"', re.MULTILINE)


def test_no_id_stands_twice() -> None:
    ids = [
        each
        for path in sorted(SOURCES.rglob("errors.py"))
        for each in LEAF.findall(path.read_text("utf-8"))
    ]

    assert len(ids) > 90
    assert [each for each, count in Counter(ids).items() if count > 1] == []


def test_errors_are_defined_in_the_files_of_errors_alone() -> None:
    elsewhere = [
        path
        for path in SOURCES.rglob("*.py")
        if path.name != "errors.py" and LEAF.search(path.read_text("utf-8"))
    ]

    assert elsewhere == []


def test_a_leaf_is_found_by_its_id_and_an_unknown_one_is_the_root() -> None:
    assert (find_leaf("E-RECORD-003"), find_leaf("E-NOBODY-001")) == (RecordTorn, TwiceError)
