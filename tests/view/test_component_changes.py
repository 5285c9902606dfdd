"""Changes of components: in counts, in one tick, and the next one, against a walk from point to point."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs import recorded
from twice.errors import UsageError
from twice.recorder.record import RecordReader, RecordWriter
from twice.view import component_changes, levels
from twice.view.component_changes import find_change, list_changed
from twice.view.levels import count_events
from twice.view.viewed_runs import ViewedRuns

Entry = tuple[str, tuple[str, ...], int, int]
"""Name of a point, its columns, its tick, and what the digests are made of."""

POINTS = (
    ("tick", ("a", "b", "z")),
    ("decision", ("a", "z")),
    ("late", ("c", "z")),
    ("note", ("note",)),
    # A value that is compared by the name of a component.
    ("a", ("a",)),
)
STEPS = st.lists(
    st.tuples(st.sampled_from(POINTS), st.sampled_from([0, 1, 1, 2, -2]), st.integers(0, 3)),
    max_size=40,
)


def digest_of(column: str, entry: Entry) -> int:
    return entry[3] >> (column in {"a", "note"}) & 1


def write_points(path: Path, entries: Sequence[Entry], cuts: set[int]) -> RecordReader:
    """Write compare-points; a cut ends a block."""
    writer = RecordWriter.create(path, {}, force=True)
    for at, entry in enumerate(entries):
        name, columns, tick, _ = entry
        digests = b"".join(bytes([digest_of(column, entry)]) * 16 for column in columns)
        writer.point(writer.layout(list(columns)), tick, name, bytes(16), at.to_bytes(16), digests)
        if at in cuts:
            writer.flush()
    writer.close({})
    return RecordReader.open(path)


def walk(entries: list[Entry]) -> dict[str, list[int]]:
    """Return the ticks of all changes by component, from point to point."""
    found, before = dict[str, list[int]](), dict[str, int]()
    for entry in entries:
        name, columns, tick, _ = entry
        for column in columns if columns != (name,) else ():
            digest = digest_of(column, entry)
            if before.setdefault(column, digest) != digest:
                found.setdefault(column, []).append(tick)
            before[column] = digest
    return found


@settings(deadline=None)
@given(STEPS, st.sets(st.integers(0, 40)), st.integers(1, 5))
def test_changes_are_those_of_a_walk_from_point_to_point(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[tuple[str, tuple[str, ...]], int, int]],
    cuts: set[int],
    searched: int,
) -> None:
    entries, tick = [("tick", ("a", "b", "z"), 0, 0)], 0
    for (name, columns), step, digests in steps:
        tick = max(tick + step, 0)
        entries.append((name, columns, tick, digests))
    changed, last = walk(entries), max(entry[2] for entry in entries)
    end = entries[-1][2]  # ticks behind it were rolled back
    path = tmp_path_factory.getbasetemp() / "a.twice"
    with write_points(path, entries, cuts) as reader, pytest.MonkeyPatch.context() as patch:
        patch.setattr(component_changes, "_SEARCHED_POINTS", searched)
        told = count_events(reader, 0, last, last + 1)
        assert told["exact"]
        counted = {
            each["name"]: each["counts"]
            for each in told["tracks"]
            if each["group"] == "component" and any(each["counts"])
        }
        assert counted == {
            name: [ticks.count(at) for at in range(last + 1)] for name, ticks in changed.items()
        }
        for at in range(last + 1):
            found = list_changed(reader.points, at)
            assert found["changed"] == sorted(name for name in changed if at in changed[name])
            is_compared = any(e[2] == at and e[1] != (e[0],) for e in entries)
            assert (found["sentence"] == "no component was compared") == (not is_compared)
            for name in ("a", "b", "c", "z"):
                ticks = [each for each in changed.get(name, []) if each <= end]
                after, before = (search(reader, name, at, backwards=way) for way in (False, True))
                assert after == min((each for each in ticks if each > at), default=None)
                assert before == max((each for each in ticks if each < at), default=None)


def search(reader: RecordReader, name: str, tick: int, *, backwards: bool) -> int | None:
    """Search to the end, however often it takes."""
    while (found := find_change([reader], name, tick, backwards=backwards))["until"] is not None:
        assert found["tick"] is None
        assert (found["until"] - tick) * (-1 if backwards else 1) > 0
        tick = found["until"]
    return found["tick"]


def test_a_rare_change_is_found_where_counts_are_sampled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "_MERGED_BLOCKS", 1)
    entries = [("tick", ("a", "b"), tick, 2 * (tick >= 7_001) + tick % 2) for tick in range(9_000)]
    with write_points(tmp_path / "a.twice", entries, set(range(0, 9_000, 100))) as reader:
        assert not count_events(reader, 0, 8_999, 40)["exact"]
        assert search(reader, "a", 0, backwards=False) == 7_001
        assert search(reader, "a", 8_999, backwards=True) == 7_001
        assert search(reader, "a", 7_001, backwards=False) is None
        assert search(reader, "b", 12, backwards=False) == 13


def test_a_search_that_is_long_says_how_far_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(component_changes, "_SEARCHED_POINTS", 1000)
    entries = [("tick", ("a", "b"), tick, 0) for tick in range(3_000)]
    with write_points(tmp_path / "a.twice", entries, set(range(99, 3_000, 100))) as reader:
        after = find_change([reader], "a", 49, backwards=False)
        before = find_change([reader], "a", 2_950, backwards=True)

    assert (after["tick"], after["until"], before["tick"], before["until"]) == (
        None,
        999,
        None,
        2_000,
    )
    assert after["sentence"] == (
        "a does not change after tick 49 as far as tick 999: 1,000 compare-points were read. Ask again to go on."
    )


@pytest.mark.parametrize(
    ("tick", "backwards", "found"),
    [(0, False, 200), (200, False, 700), (700, False, None), (899, True, 700), (700, True, 200), (200, True, None)],
)  # fmt: skip
@pytest.mark.parametrize("searched", [50, 10_000])
def test_the_change_of_two_runs_is_the_nearest_of_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tick: int, backwards: bool, found: int | None, searched: int
) -> None:  # fmt: skip
    monkeypatch.setattr(component_changes, "_SEARCHED_POINTS", searched)
    cuts = set(range(49, 900, 50))
    early = [("tick", ("a",), at, 2 * (at >= 200)) for at in range(900)]
    late = [("tick", ("a",), at, 2 * (at >= 700)) for at in range(800)]
    with (
        write_points(tmp_path / "a.twice", early, cuts) as a,
        write_points(tmp_path / "b.twice", late, cuts) as b,
    ):
        for readers in ([a, b], [b, a]):
            told = find_change(readers, "a", tick, backwards=backwards)
            while told["until"] is not None:
                assert told["tick"] is None
                told = find_change(readers, "a", told["until"], backwards=backwards)
            assert told["tick"] == found


def test_a_change_in_a_tick_that_was_rolled_back_behind_the_end_is_not_found(
    tmp_path: Path,
) -> None:
    entries = [("tick", ("a",), tick, 2 * (tick % 2)) for tick in (0, 1, 2, 3, 4, 5, 2, 3)]
    with write_points(tmp_path / "a.twice", entries, {3}) as reader:
        assert search(reader, "a", 2, backwards=False) == 3
        assert search(reader, "a", 3, backwards=False) is None
        assert search(reader, "a", 9, backwards=True) == 3


def test_a_digest_that_lies_far_back_makes_counts_inexact_and_not_wrong(tmp_path: Path) -> None:
    entries = [("late", ("c", "z"), 0, 0), *[("tick", ("a", "z"), t, 0) for t in range(1, 300)]]
    entries += [("late", ("c", "z"), 300, 1)]
    with write_points(tmp_path / "a.twice", entries, set(range(300))) as reader:
        told = count_events(reader, 290, 300, 11)
        assert not told["exact"]
        assert search(reader, "c", 0, backwards=False) == 300
        assert list_changed(reader.points, 300)["sentence"] == "c (since tick 0), z changed"


COMPARING = """
    def main(run):
        c, d = run.track("c", {"n": 0}), run.track("d", {"m": 0})
        for tick in run.ticks(30):
            c["n"] += tick % 10 == 0
            d["m"] += 1
            run.compare("note", tick)
"""
DECIDING = """
    def main(run):
        c = run.track("c", {"n": 0})
        for tick in run.ticks(30):
            c["n"] += 1
            if tick % 10 == 5:
                run.input("x", lambda: tick)
"""


@pytest.mark.integration  # real records
def test_explicit_compares_hide_no_change(tmp_path: Path) -> None:
    with recorded(tmp_path, COMPARING) as record, closing(ViewedRuns([record.path])) as runs:

        def ask(question: str, **asked: Any) -> dict[str, Any]:
            return runs.answer(question, {"run": "0", **{k: str(v) for k, v in asked.items()}})

        assert [ask("moment", tick=tick)["changed"] for tick in (10, 11)] == [["c", "d"], ["d"]]
        tracks = {
            each["name"]: each for each in ask("timeline")["tracks"] if each["group"] == "component"
        }
        assert (sum(tracks["c"]["counts"]), sum(tracks["d"]["counts"])) == (3, 30)
        assert "note" not in tracks
        assert ask("change", tick=0, component="c", direction=1)["tick"] == 10
        assert ask("change", tick=10, component="c", direction=-1)["tick"] == 0
        assert ask("change", tick=500, component="c", direction=-1)["tick"] == 20
        with pytest.raises(UsageError, match="component"):
            ask("change", tick=0, component="note")
        with pytest.raises(UsageError, match="run is 7"):
            ask("change", tick=0, component="c", other=7)


@pytest.mark.integration  # a real record
def test_a_tick_in_which_nothing_is_compared_says_so(tmp_path: Path) -> None:
    with recorded(tmp_path, DECIDING, granularity="decision") as record:
        with closing(ViewedRuns([record.path])) as runs:
            told = [runs.answer("moment", {"run": "0", "tick": str(tick)}) for tick in (10, 15)]

    assert (told[0]["changed"], told[0]["sentence"]) == ([], "no component was compared")
    assert "c" in told[1]["changed"]
    assert "c (since tick 5)" in told[1]["sentence"]
