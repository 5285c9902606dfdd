"""A vocabulary says of words what the text itself would say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.checker.syntax.vocabulary import Vocabulary

_PIECES = st.sampled_from(["set", "seed", "re", *"(). _-é\nx0S\u00a0\ud800"])


@given(st.lists(_PIECES).map("".join), st.lists(_PIECES, min_size=1, max_size=4).map("".join))
def test_a_vocabulary_has_what_the_text_has(text: str, word: str) -> None:
    assert Vocabulary(text).has([word]) is (word in text)
    assert Vocabulary(text).has(["no such word", word]) is (word in text)
    assert not Vocabulary(text).has([])


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("x = set(y)", True),
        ("reset(y)", False),
        ("reset(y) or set(z)", True),
        ("set (y)", False),
        ("\u00d7set(y)", True),
        ("éset(y)", False),
        ("", False),
    ],
)
def test_a_word_before_a_sign_begins_where_no_other_word_goes_on(text: str, begins: bool) -> None:
    assert Vocabulary(text).begins("set(") is begins
