"""What a page says of records that are torn, still growing, without their program, or of a stranger."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from programs import recorded
from twice.errors import TwiceError, UsageError
from twice.recorder.cadence import Cadence
from twice.recorder.record import RecordWriter
from twice.recorder.runrecord import RunRecord
from twice.view.executions import Executions
from twice.view.server import ViewServer
from twice.view.viewed_runs import ViewedRuns

pytestmark = pytest.mark.integration  # real records are shown

COUNTING = """
    def main(run):
        count = run.track("count", {"n": 0})
        for _ in run.ticks(3000):
            count["n"] += 1
"""


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A record whose program is gone."""
    with recorded(folder := tmp_path_factory.mktemp("run"), COUNTING) as record:
        found = record.path.read_bytes()
    for program in folder.glob("*.py"):
        program.unlink()
    return found


def tell(runs: ViewedRuns) -> dict[str, Any]:
    run: dict[str, Any] = runs.answer("session", {})["runs"][0]
    return run


@pytest.fixture
def torn(content: bytes, tmp_path: Path) -> Iterator[tuple[Path, ViewedRuns]]:
    path = tmp_path / "a.twice"
    path.write_bytes(content[: len(content) * 2 // 3])
    with closing(ViewedRuns([path])) as runs:
        yield path, runs


def test_a_torn_record_shows_what_it_holds(torn: tuple[Path, ViewedRuns]) -> None:
    _, runs = torn
    run = tell(runs)

    assert (run["state"], run["mood"], run["can_branch"]) == ("not closed", "unsure", False)
    # A program that still writes its record leaves it just so.
    assert (run["ending"], len(run["caveats"])) == ("no ending", 1)
    assert "still runs" in run["caveats"][0]
    assert 0 < run["ticks"] < 3000
    assert "migrate" in run["next"]
    told = runs.answer("moment", {"run": "0", "tick": str(run["ticks"] - 1)})
    assert told["changed"] == ["count"]


def test_a_record_that_grows_is_opened_anew(torn: tuple[Path, ViewedRuns], content: bytes) -> None:
    path, runs = torn
    before = tell(runs)
    with path.open("ab") as file:
        file.write(content[path.stat().st_size :])

    run = tell(runs)

    assert before["ticks"] < run["ticks"] == 3000
    assert (run["state"], run["mood"]) == ("complete", "good")


def test_a_record_that_another_run_replaces_stays_as_it_was(
    torn: tuple[Path, ViewedRuns], tmp_path: Path
) -> None:
    path, runs = torn
    before = tell(runs)
    with recorded(tmp_path, "def main(run):\n    pass\n", out=tmp_path / "b.twice") as other:
        other.path.replace(path)

    run = tell(runs)

    *caveats, replaced = run["caveats"]
    assert {**run, "caveats": caveats} == before
    assert "was replaced or removed" in replaced
    assert runs.answer("moment", {"run": "0", "tick": "7"})["changed"] == ["count"]


def test_a_record_that_ends_while_it_is_opened_is_opened_anew(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.twice"
    path.write_bytes(content[: len(content) * 2 // 3])
    read = RunRecord.open

    def open_and_end(opened: Path) -> RunRecord:
        record = read(opened)
        with path.open("ab") as file:
            file.write(content[path.stat().st_size :])
        return record

    monkeypatch.setattr(RunRecord, "open", open_and_end)
    with closing(ViewedRuns([path])) as runs:
        assert tell(runs)["state"] == "complete"


def test_without_its_program_a_run_is_shown_and_not_executed(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "a.twice"
    path.write_bytes(content)
    with closing(ViewedRuns([path])) as runs, closing(Executions()) as executions:
        assert runs.answer("paths", {"run": "0", "tick": "7"})["paths"][0]["path"] == "count.n"
        for execute in (
            lambda: executions.replay(path, 2),
            lambda: executions.branch(path, 2, {}, onwards=False),
        ):
            with pytest.raises(TwiceError) as raised:
                execute()
            assert raised.value.remedy


def test_a_port_in_use_is_one_error(torn: tuple[Path, ViewedRuns]) -> None:
    _, runs = torn
    with ViewServer(runs, 0) as server, pytest.raises(UsageError, match="cannot be used"):
        ViewServer(runs, server.server_port)


def test_the_next_command_is_one_command_whatever_the_file_is_named(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "a; touch b.twice"
    path.write_bytes(content)
    with closing(ViewedRuns([path])) as runs:
        assert shlex.split(tell(runs)["next"]) == ["twice", "verify", str(path)]


def test_a_plot_has_gaps_and_exact_texts(tmp_path: Path) -> None:
    source = """
    def main(run):
        values = [10**20, float("nan"), 10**400, True, None]
        count = run.track("count", {"n": 2**53 + 1, "flag": True})
        for tick in run.ticks(6):
            count["n"] = values[tick] if tick < 5 else 0
    """
    with recorded(tmp_path, source, cadence=Cadence("tick", 1)) as record:
        with closing(ViewedRuns([record.path])) as runs:
            told = runs.answer("values", {"run": "0", "path": "count.n"})
            with pytest.raises(UsageError, match="path of a number"):
                runs.answer("values", {"run": "0", "path": "count.flag"})

    assert told["values"] == [2.0**53, 1e20, None, None, None, None]
    assert told["texts"][:3] == ["9007199254740993", "100000000000000000000", "nan"]
    assert told["texts"][3].startswith("1000")
    assert told["texts"][4:] == ["True", "None"]


@pytest.mark.parametrize(("tick", "ticks"), [(-20, 0), (1 << 60, (1 << 53) - 1), (6, 7)])
def test_numbers_that_no_run_has_are_said_in_words(
    content: bytes, tmp_path: Path, tick: int, ticks: int
) -> None:
    path, forged = tmp_path / "a.twice", tmp_path / "forged.twice"
    path.write_bytes(content)
    with RunRecord.open(path) as record:
        point = record.reader.points.point(0)
        writer = RecordWriter.create(forged, record.identity)
        digests = b"".join(point.digests.values())
        layout = writer.layout(tuple(point.digests))
        writer.point(layout, tick, point.name, point.root, point.chain, digests)
        streams = {"x": {"draws": {"toLocaleString": 5}}, "y": {"draws": 4000}}
        writer.close({**(record.ending or {}), "streams": streams})

    with closing(ViewedRuns([forged])) as runs:
        told = tell(runs)

    assert told["ticks"] == ticks
    assert any("The record claims" in text for text in told["caveats"]) == (tick != 6)
    assert [each["draws"] for each in told["streams"]] == ["not counted", "4,000"]


def test_a_tick_that_the_run_came_back_to_says_so(tmp_path: Path) -> None:
    source = """
        def main(run):
            count = run.track("count", {"n": 0})
            vetoes = 0
            for tick in run.ticks(9):
                count["n"] += run.input("push", lambda: tick)
                if tick == 5 and vetoes < 2:
                    vetoes += 1
                    run.rollback(3 - vetoes)
        """
    with (
        recorded(tmp_path, source, cadence=Cadence("tick", 1)) as record,
        closing(ViewedRuns([record.path])) as runs,
    ):
        told = [runs.answer("moment", {"run": "0", "tick": str(tick)}) for tick in range(7)]

        assert runs.answer("values", {"run": "0", "path": "count.n"})["ticks"] == [*range(9)]

    assert [each["times"] for each in told] == [1, 2, 3, 3, 3, 3, 1]
    assert [len(each["inputs"]) for each in told] == [1, 2, 3, 3, 3, 3, 1]
