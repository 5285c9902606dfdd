"""Values as Python writes them: they read back, and a formatter would change nothing."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.specification.scaffold.values import to_literal, to_quotable

PLAIN = st.one_of(st.integers(), st.text(), st.booleans(), st.none())
VALUES = st.recursive(
    PLAIN,
    lambda each: st.one_of(
        st.lists(each, max_size=4),
        st.lists(each, max_size=4).map(tuple),
        st.dictionaries(st.text(max_size=9), each, max_size=4),
    ),
)


@given(VALUES)
def test_a_value_reads_back(value: object) -> None:
    assert ast.literal_eval(to_literal(value)) == value


@pytest.mark.integration
def test_a_formatter_has_nothing_to_change() -> None:
    word = "a word, and another"
    values: list[object] = [
        (), {}, [], (word,), (word, word, word), tuple([word] * 9), {"a": word, "b": 1},
        {f"key {at}": [word] * at for at in range(7)}, [(1, word, (word,) * at) for at in range(6)],
        word * 2, "it's", 'say "it"',
    ]  # fmt: skip
    source = "".join(f"NAME = {to_literal(each, before=7)}\n" for each in values)
    for width in ("80", "120"):
        formatted = subprocess.run(
            [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", width, "-"],
            input=source, capture_output=True, check=True, text=True,
        )  # fmt: skip
        assert formatted.stdout == source


@given(st.text())
def test_a_shown_text_stands_within_double_quotes(text: str) -> None:
    assert "\n" not in to_quotable(text)
    assert isinstance(ast.literal_eval(f'"{to_quotable(text)}"'.replace("\x00", "")), str)
