"""A verdict fits 80 columns and 25 lines, breaks no name, and says when something was left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.diagnosis.text_layout import (
    LINES_MAX,
    MORE,
    WIDTH,
    Block,
    cut,
    fold,
    join_blocks,
    name_place,
    set_values,
    spell_paths,
)

WORDS = st.lists(st.text("abcdefgh_./0123", min_size=1, max_size=70), min_size=1, max_size=40)


@given(WORDS, st.integers(0, 6))
def test_folding_keeps_every_word_whole_and_within_the_width(words: list[str], depth: int) -> None:
    lines = fold(" " * depth + " ".join(words))
    assert " ".join(lines).split() == words
    assert all(len(line) <= WIDTH or len(line.split()) == 1 for line in lines)
    assert lines[0].startswith(" " * depth)


@given(st.text(max_size=200))
def test_a_cut_line_is_one_line(text: str) -> None:
    assert len(cut(text)) <= WIDTH
    assert len(cut(text).splitlines()) <= 1


def test_long_values_stand_below_each_other() -> None:
    assert set_values("  x", "1", "2") == ["  x: 1 / 2"]
    lines = set_values("  x", "1" * 60, "2" * 90)
    assert [line.strip()[:4] for line in lines] == ["x:", "a: 1", "b: 2"]
    assert max(map(len, lines)) == WIDTH


def test_long_values_are_shown_from_where_they_differ() -> None:
    same = "[" + "".join(f"{at}," for at in range(100))
    shown = set_values("  x", f"{same}7]", f"{same}8]")
    assert shown == ["  x:", "    a: ...,95,96,97,98,99,7]", "    b: ...,95,96,97,98,99,8]"]
    assert set_values("  x", same, same)[1].startswith("    a: [0,1,2,")


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 5)), max_size=40))
def test_what_matters_least_goes_first(shapes: list[tuple[int, int]]) -> None:
    blocks = [Block([f"{at}/{rank}"] * size, rank) for at, (size, rank) in enumerate(shapes)]
    lines = join_blocks(blocks).splitlines()
    always = [line for block in blocks if block.rank == 0 for line in block.lines]
    assert [line for line in lines if line in always] == always
    dropped = [block.rank for block in blocks if block.lines[0] not in lines]
    kept = [block.rank for block in blocks if block.lines[0] in lines]
    assert (MORE in lines) == bool(dropped)
    assert not dropped or min(dropped) >= max(kept)
    assert len(lines) <= max(LINES_MAX, len(always) + 1)


def test_a_file_below_the_current_folder_is_named_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert name_place(f"{tmp_path}/sub/walk.py", 7) == "sub/walk.py:7"
    assert name_place("/elsewhere/walk.py", 7) == "/elsewhere/walk.py:7"


def test_a_current_folder_that_is_gone_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert name_place("/x/walk.py", 1) == "/x/walk.py:1"


@pytest.mark.parametrize(
    ("traced", "spelt"),
    [
        ("object:map._routes: a set is opaque", "map._routes: a set is opaque"),
        ("<1 Map.route>self._db: is opaque", "self._db in Map.route: is opaque"),
        ("<2 f.<locals>.<listcomp>>bird.x differs", "bird.x in f.<locals>.<listcomp> differs"),
        ("<0 main>(returned)[3], and more", "what main returns[3], and more"),
        ("3 < 4 and <Wagon load=3> in <stdin>", "3 < 4 and <Wagon load=3> in <stdin>"),
    ],
)
def test_paths_of_a_trace_are_spelt_as_people_write_them(traced: str, spelt: str) -> None:
    assert spell_paths(traced) == spelt
