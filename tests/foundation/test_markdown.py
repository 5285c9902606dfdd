"""Text of a program is no markup."""

from __future__ import annotations

import pytest

from twice.foundation.markdown import escape_markdown, quote_markdown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b", "a_b"),
        ("_a_", r"\_a\_"),
        ("x*y", r"x\*y"),
        ("<b>", r"\<b>"),
        ("[a](b)", r"\[a](b)"),
        ("a\\b", r"a\\b"),
    ],
)
def test_text_is_escaped(text: str, shown: str) -> None:
    assert escape_markdown(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"), [("a", "`a`"), ("a|b", r"`a\|b`"), ("`a`", "`` `a` ``"), ("a\n b", "`a b`")]
)
def test_code_stays_on_one_line_in_a_table(text: str, shown: str) -> None:
    assert quote_markdown(text) == shown
