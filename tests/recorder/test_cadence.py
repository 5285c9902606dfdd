"""Where compare-points and snapshots stand, and that no choice of them changes a verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import chains, cli, names, recorded, write
from twice.errors import ClassRefused, SnapshotCadence
from twice.recorder.cadence import (
    Cadence,
    Granularity,
    RateGuard,
    default_cadence,
    parse_cadence,
    parse_granularity,
    parse_strategy,
    require_dense,
)
from twice.replayer.verify import verify

EPISODES = """
    def main(run):
        walk = run.track("walk", Walk(run.rng("walk")))
        for tick in run.ticks(12):
            if tick % 4 == 1:
                run.input("push", lambda: 0.25)
            walk.step(0.5)
            if tick % 6 == 5:
                run.episode("round")
"""


def snapshots(record) -> list[int]:
    return [entry.tick for entry in record.reader.snapshots]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("text", "ticks"),
    [
        ("every=5", [0, 5, 10]),
        ("tick", list(range(12))),
        ("decision", [0, 2, 6, 10]),
        ("episode", [0, 6]),
        ("none", []),
    ],
)
def test_snapshots_stand_where_the_cadence_says(
    tmp_path: Path, text: str, ticks: list[int]
) -> None:
    with recorded(tmp_path, EPISODES, walk=True, cadence=parse_cadence(text)) as record:
        assert snapshots(record) == ticks
        assert str(record.setup.cadence) == text
        assert verify(record.path).result == "PASS"


@pytest.mark.integration
@pytest.mark.parametrize(
    ("granularity", "cadence", "points"),
    [
        ("tick", "every=5", [(tick, "tick") for tick in range(12)]),
        ("decision", "decision", [(1, "input:push"), (5, "input:push"), (9, "input:push")]),
        ("snapshot", "every=5", [(-1, "snapshot"), (4, "snapshot"), (9, "snapshot")]),
        ("episode", "episode", [(5, "episode:round"), (11, "episode:round")]),
    ],
)
def test_points_stand_where_the_granularity_says(
    tmp_path: Path, granularity: str, cadence: str, points: list[tuple[int, str]]
) -> None:
    stated = parse_cadence(cadence)
    with recorded(tmp_path, EPISODES, walk=True, granularity=granularity, cadence=stated) as record:
        assert names(record) == [(-1, "start"), *points, (11, "end")]
        assert verify(record.path).result == "PASS"
        part = verify(record.path, first=7)
        assert (part.result, part.exit_code, part.failure) == ("PARTIAL", 0, None)


@pytest.mark.integration
def test_the_four_strategies_give_one_verdict_and_one_chain(tmp_path: Path) -> None:
    found = {}
    for strategy in ("full", "delta", "event-sourced", "hybrid"):
        with recorded(
            tmp_path, EPISODES, walk=True, out=tmp_path / f"{strategy}.twice",
            strategy=strategy, cadence=Cadence("tick", 2),
        ) as record:  # fmt: skip
            statement = verify(record.path)
            found[strategy] = (statement.result, dict(statement.counts), chains(record))
            assert snapshots(record) == ([] if strategy == "event-sourced" else [0, 2, 4, 6, 8, 10])
    assert found["full"][0] == "PASS"
    assert all(outcome == found["full"] for outcome in found.values())


@pytest.mark.integration
def test_full_snapshots_store_again_what_hybrid_ones_refer_to(tmp_path: Path) -> None:
    source = """
    import numpy as np

    def main(run):
        board = run.track("board", np.arange(50_000.0))
        for tick in run.ticks(10):
            board[tick] = -1.0
    """
    sizes = {}
    for strategy in ("full", "hybrid"):
        with recorded(
            tmp_path, source, out=tmp_path / f"{strategy}.twice",
            strategy=strategy, cadence=Cadence("tick", 1),
        ) as record:  # fmt: skip
            blocks = record.reader.summary()["blocks"]
            sizes[strategy] = sum(block["raw_bytes"] for block in blocks.values())
    assert sizes["hybrid"] * 4 < sizes["full"]


@pytest.mark.integration
def test_a_rate_that_snapshots_cannot_carry_stops_the_run_and_names_the_ways_out(
    tmp_path: Path,
) -> None:
    with pytest.raises(SnapshotCadence, match="E-SNAPSHOT-001") as caught:
        recorded(
            tmp_path,
            """
            import numpy as np

            def main(run):
                board = run.track("board", np.zeros(400_000))
                for tick in run.ticks(100, rate_hz=100_000):
                    board += 1
            """,
            cadence=Cadence("tick", 1),
        )
    for way in ("--snapshots every=", "decision", "delta", "none"):
        assert way in caught.value.remedy


def test_the_guard_spreads_a_snapshot_over_the_ticks_between() -> None:
    easy = RateGuard(100.0, Cadence("tick", 10))
    for _ in range(20):
        easy.spent(0.05)
    hard = RateGuard(100.0, Cadence("tick", 10))
    for _ in range(7):
        hard.spent(0.2)
    with pytest.raises(SnapshotCadence):
        hard.spent(0.2)


@pytest.mark.parametrize(
    "text", ["every=0", "every=-1", "every=", "often", "", "every=1.5", "every=" + "9" * 5000]
)
def test_a_cadence_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ClassRefused, match="not a snapshot cadence"):
        parse_cadence(text)


def test_words_that_are_no_granularity_or_strategy_are_refused() -> None:
    with pytest.raises(ClassRefused, match="'ticks' is not a granularity"):
        parse_granularity("ticks")
    with pytest.raises(ClassRefused, match="'whole' is not a snapshot strategy"):
        parse_strategy("whole")


@pytest.mark.parametrize(
    ("granularity", "cadence"),
    [("decision", "tick"), ("decision", "every=100"), ("episode", "tick"), ("episode", "decision"),
     ("decision", "episode")],
)  # fmt: skip
def test_points_that_are_sparser_than_snapshots_are_refused(
    granularity: Granularity, cadence: str
) -> None:
    with pytest.raises(SnapshotCadence, match=f"per {granularity} are sparser"):
        require_dense(granularity, parse_cadence(cadence))


@pytest.mark.parametrize("granularity", ["tick", "decision", "snapshot", "episode"])
def test_snapshots_are_no_denser_than_points_if_nobody_says(granularity: Granularity) -> None:
    stated = default_cadence(granularity)
    require_dense(granularity, stated)
    require_dense(granularity, parse_cadence("none"))

    assert stated.unit in {granularity, "tick"}


@pytest.mark.integration
def test_a_run_with_sparse_points_is_refused_before_it_begins(tmp_path: Path) -> None:
    program = write(tmp_path, EPISODES, walk=True)
    stated = ("--compare", "episode", "--snapshots", "tick")
    done = cli("record", program, "--seed", 1, *stated, "-o", tmp_path / "a.twice")

    assert done.returncode == 2
    assert done.stderr.startswith("E-SNAPSHOT-001"), done.stderr
    assert not (tmp_path / "a.twice").exists()
