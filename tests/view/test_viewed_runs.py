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


def test_a_large_value_is_cut(tmp_path: Path) -> None:
    source = """
    import numpy

    def main(run):
        run.track("big", {"array": numpy.arange(10_000).reshape(100, 100), "text": "x" * 5000})
        for _ in run.ticks(1):
            pass
    """
    with recorded(tmp_path, source) as record, closing(ViewedRuns([record.path])) as runs:
        told = runs.answer("moment", {"run": "0", "tick": "0"})
        big = told["snapshot"]["values"]["big"]

    assert (big["array"]["array"]["shape"], big["array"]["array"]["omitted"]) == ([100, 100], 9000)
    assert big["array"]["array"]["values"] == list(range(1000))
    assert big["text"] == "x" * 1000 + "…"


def test_the_next_command_is_one_command_whatever_the_file_is_named(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "a; touch b.twice"
    path.write_bytes(content)
    with closing(ViewedRuns([path])) as runs:
        assert shlex.split(tell(runs)["next"]) == ["twice", "verify", str(path)]


def test_a_number_beyond_a_double_is_a_gap_in_its_plot(tmp_path: Path) -> None:
    source = """
    def main(run):
        count = run.track("count", {"n": 1})
        for _ in run.ticks(2):
            count["n"] = 10**400
    """
    cadence = Cadence("tick", 1)
    with recorded(tmp_path, source, cadence=cadence) as record:
        with closing(ViewedRuns([record.path])) as runs:
            told = runs.answer("values", {"run": "0", "path": "count.n"})

    assert told["values"] == [1.0, None]


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

    assert [each["times"] for each in told] == [1, 2, 3, 3, 3, 3, 1]
    assert [len(each["inputs"]) for each in told] == [1, 2, 3, 3, 3, 3, 1]
