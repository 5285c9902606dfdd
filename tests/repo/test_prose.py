"""The prose of the documentation: its counts are in the range of well-known projects' pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATED = {"ten-verdicts.md", "cli.md", "library.md"}
INSTRUCTIONS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(each for each in (ROOT / "docs/guides").glob("*.md") if each.name not in GENERATED),
]
REFERENCE = [
    *sorted((ROOT / "docs/format").glob("*.md")),
    *(
        ROOT / "docs/internals" / name
        for name in (
            "architecture.md",
            "decisions.md",
            "effects.md",
            "glossary.md",
            "plan.md",
            "tests.md",
        )
    ),
]
FAR_FETCHED = re.compile(
    r"\b(?:hence|thereof|whereof|wherein|how-manieth|such a one|such an one|is no pass)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Counts:
    """Of the words outside of code: "what", "you" and semicolons for 1,000, long sentences for 100."""

    words: int
    what: float
    you: float
    semicolons: float
    long_sentences: float


def count(text: str) -> Counts:
    """Count in a page without its code, comments and tables' rules."""
    text = re.sub(r"^ *```.*?^ *```|<!--.*?-->", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`]*`", "x", text)
    words = [each.lower() for each in re.findall(r"[A-Za-z][A-Za-z']*", text)]
    sentences = [re.findall(r"\w+", each) for each in re.split(r"[.!?:]\s|\n\n|\||^- ", text)]
    sentences = [each for each in sentences if len(each) > 2]
    each_1000 = 1000 / max(1, len(words))
    return Counts(
        len(words),
        each_1000 * words.count("what"),
        each_1000 * sum(each in {"you", "your", "yours"} for each in words),
        each_1000 * text.count(";"),
        100 * sum(len(each) > 25 for each in sentences) / max(1, len(sentences)),
    )


@pytest.mark.parametrize("page", [*INSTRUCTIONS, *REFERENCE], ids=lambda page: page.stem)
def test_a_page_is_plain(page: Path) -> None:
    text = page.read_text("utf-8")
    counts = count(text)

    assert counts.what <= 1.9, counts
    assert counts.semicolons <= 1.7, counts
    assert counts.long_sentences <= 3, counts
    assert FAR_FETCHED.findall(text) == []


@pytest.mark.parametrize("page", INSTRUCTIONS, ids=lambda page: page.stem)
def test_a_page_speaks_to_its_reader(page: Path) -> None:
    counts = count(page.read_text("utf-8"))

    assert counts.you >= (4 if page.name == "verdicts.md" else 6), counts  # that one explains


def test_code_and_comments_are_not_prose() -> None:
    text = "You run `what; ever`.\n\n```text\nwhat; what\n```\n<!-- what; -->\nYour turn; go.\n"

    assert count(text) == Counts(6, 0, 1000 / 3, 1000 / 6, 0)
