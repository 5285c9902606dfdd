"""Laws of the quick searches: words and runs are found where a plain search finds them."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from twice.assets.leaks.text import Keywords, find_runs

WORDS = (b"seed", b"seeds", b"cfg", b"cfg_scale", b"/", b"step", b"steps: ", b"eedse")
MARKS = bytes(ord("x") if each in b"ab" else ord(" ") for each in range(256))
TEXTS = st.lists(st.sampled_from([*WORDS, b" ", b"s", b"\0", b"x" * 700]), max_size=40).map(
    b"".join
)


def places(data: bytes, word: bytes) -> list[int]:
    return [at for at in range(len(data)) if data.startswith(word, at)]


@given(TEXTS)
def test_words_are_found_where_each_alone_is(data: bytes) -> None:
    expected = {word: places(data, word) for word in WORDS if word in data}

    assert Keywords(WORDS).find(data) == expected


@given(st.text("ab1 ,\n", max_size=200), st.integers(1, 9))
def test_runs_are_those_of_a_pattern(text: str, shortest: int) -> None:
    data = text.encode()
    expected = [each.span() for each in re.finditer(rb"[ab]{%d,}" % shortest, data)]

    assert list(find_runs(data, MARKS, shortest)) == expected
