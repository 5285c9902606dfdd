"""Three-way merge: laws, and the cases that tools before this one got wrong."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from twice.specifying.scaffolding.merging import has_markers, merge

# Few different lines, so that texts repeat themselves: that is where merges go wrong.
LINES = st.lists(st.sampled_from(["a", "b", "c", "", "  d"]), max_size=12)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


@given(TEXTS, TEXTS)
def test_what_only_we_changed_is_ours(base: str, ours: str) -> None:
    assert merge(base, ours, base).text == ours
    assert merge(base, ours, base).conflicts == 0


@given(TEXTS, TEXTS)
def test_what_only_they_changed_is_theirs(base: str, theirs: str) -> None:
    assert merge(base, base, theirs).text == theirs


@given(TEXTS, TEXTS)
def test_what_both_changed_alike_is_that(base: str, both: str) -> None:
    merged = merge(base, both, both)

    assert (merged.text, merged.conflicts) == (both, 0)


@given(TEXTS, TEXTS, TEXTS)
def test_swapping_the_sides_swaps_nothing_but_halves_between_markers(
    base: str, ours: str, theirs: str
) -> None:
    here = merge(base, ours, theirs, names=("one", "two"))
    there = merge(base, theirs, ours, names=("two", "one"))

    assert here.conflicts == there.conflicts
    if not here.conflicts:
        assert here.text == there.text
    assert sorted(here.text.split("\n")) == sorted(
        there.text.replace("<<<<<<< two", "<<<<<<< one")
        .replace(">>>>>>> one", ">>>>>>> two")
        .split("\n")
    )


@given(TEXTS, TEXTS, TEXTS)
def test_no_line_of_ours_is_lost_but_one_that_they_took_away(
    base: str, ours: str, theirs: str
) -> None:
    merged = merge(base, ours, theirs).text.splitlines()

    for line in ours.splitlines():
        assert line in merged or (line in base.splitlines() and line not in theirs.splitlines())


@given(st.lists(st.integers(0, 99), min_size=3, max_size=20, unique=True), st.data())
def test_edits_with_a_line_between_are_both_kept(numbers: list[int], data: st.DataObject) -> None:
    lines = [f"line {each}" for each in numbers]
    first = data.draw(st.integers(0, len(lines) - 3))
    second = data.draw(st.integers(first + 2, len(lines) - 1))
    ours, theirs = [*lines], [*lines]
    ours[first], theirs[second] = "ours", "theirs"

    merged = merge("\n".join(lines), "\n".join(ours), "\n".join(theirs))

    assert merged.conflicts == 0
    expected = [*lines]
    expected[first], expected[second] = "ours", "theirs"
    assert merged.text == "\n".join(expected)


def test_a_conflict_has_standard_markers() -> None:
    merged = merge("a\nb\nc\n", "a\nours\nc\n", "a\ntheirs\nc\n")

    assert merged.conflicts == 1
    assert merged.text == "a\n<<<<<<< yours\nours\n=======\ntheirs\n>>>>>>> new\nc\n"
    assert has_markers(merged.text)


def test_what_both_added_in_one_place_is_a_conflict() -> None:
    assert merge("", "ours\n", "theirs\n").conflicts == 1
    assert merge("a\nz\n", "a\nours\nz\n", "a\ntheirs\nz\n").conflicts == 1


def test_what_one_changed_and_the_other_took_away_is_a_conflict() -> None:
    assert merge("a\nb\nc\n", "a\nB\nc\n", "a\nc\n").conflicts == 1


def test_a_last_line_without_an_end_does_not_run_into_a_marker() -> None:
    merged = merge("a", "b", "c")

    assert merged.text == "<<<<<<< yours\nb\n=======\nc\n>>>>>>> new\n"
