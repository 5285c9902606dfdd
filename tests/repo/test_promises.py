"""The table of promises names tests that exist, in the tiers that they are in."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tiers import TIERS

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "internals" / "promises.md"
ROWS = [
    [cell.strip().split("<br>") for cell in line.split("|")[3:5]]
    for line in PAGE.read_text("utf-8").splitlines()
    if "::" in line and "(" not in line.split("|")[4].replace("(sample)", "")
]


def marks_of(place: str) -> set[str]:
    """Return the marks of a test, by the source of its file."""
    path, *_, name = place.split("::")
    tree = ast.parse((TESTS / path).read_text("utf-8"))
    marked = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and "pytestmark" in ast.unparse(node)
    ]
    (function,) = (
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name
    )
    text = "\n".join(map(ast.unparse, [*marked, *function.decorator_list]))
    return {tier for tier in TIERS if f"mark.{tier}" in text} | (
        {"sampled"} if "sampled(" in text or "mark.sample(" in text else set()
    )


def tier_of(place: str) -> str:
    """Return the words that the table has for the tier of a test."""
    marks = marks_of(place)
    tier = next((tier for tier in TIERS if tier in marks), "default")
    return f"{tier} (sample), heavy" if "sampled" in marks else tier


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][0].strip("`"))
def test_every_named_test_exists_in_its_tier(row: list[list[str]]) -> None:
    places = [re.findall(r"`([^`]+)`", cell)[0] for cell in row[0]]

    assert [tier_of(place) for place in places] == row[1]
