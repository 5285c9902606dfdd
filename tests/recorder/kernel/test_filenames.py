"""A record holds any name of a file as text, and gives it back as it was."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.foundation.encoding import decode, encode
from twice.recorder.effects.outcomes import given as again
from twice.recorder.effects.outcomes import outcome_of
from twice.recorder.kernel.paths import escape_path, unescape_path

NAMES = st.binary(min_size=1).filter(lambda name: b"\0" not in name)


@given(NAMES)
def test_every_name_comes_back_as_it_was(raw: bytes) -> None:
    name = raw.decode("utf-8", "surrogateescape")

    assert unescape_path(decode(encode(escape_path(name)))) == name
    assert unescape_path(escape_path(raw)) == raw


@given(NAMES, NAMES)
def test_two_names_are_never_kept_alike(one: bytes, other: bytes) -> None:
    names = [each.decode("utf-8", "surrogateescape") for each in (one, other)]

    assert (escape_path(names[0]) == escape_path(names[1])) is (one == other)


@pytest.mark.parametrize("name", ["a", "é.txt", "日本", "{program}/a", "a\\udcff", "😀"])
def test_a_name_that_is_text_is_kept_as_it_is(name: str) -> None:
    assert escape_path(name) == name


def test_the_form_of_a_byte_is_fixed() -> None:
    assert escape_path("a\udcff\udc80b") == "a\0ff\0" + "80b"


def test_an_error_keeps_the_names_that_it_is_about() -> None:
    name = os.fsdecode(b"absent\xff")

    def fail() -> None:
        raise FileNotFoundError(2, "No such file or directory", name, None, f"{name}2")

    outcome = decode(encode(outcome_of(fail)))

    with pytest.raises(FileNotFoundError) as raised:
        again(outcome)
    assert (raised.value.filename, raised.value.filename2) == (name, f"{name}2")
