"""Claims about many records whose programs are run afresh: real recordings, by jobs that are done in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from executors import ElsewhereExecutor, HereExecutor

import twice.worker.executor
from programs import write
from twice.errors import OutputExists, UsageError, WorkerDied
from twice.recorder.recorder import record
from twice.recorder.runrecord import RunRecord
from twice.runs.reruns import describe_entry, rerun_records
from twice.worker.executor import Executor, Job

pytestmark = pytest.mark.integration

READS = """
    def main(run):
        place = run.track("place", {"x": run.seed.value})
        for tick in run.ticks(3):
            if tick == 1:
                place["x"] += len(open("world").read())
"""


def made(folder: Path, monkeypatch: pytest.MonkeyPatch, count: int = 2) -> list[Path]:
    """Record a program that reads a file of its folder, which is then the present one."""
    program = write(folder, READS)
    (folder / "world").write_text("one")
    monkeypatch.chdir(folder)
    paths = [folder / "runs" / f"{seed}.twice" for seed in range(count)]
    paths[0].parent.mkdir()
    for seed, path in enumerate(paths):
        record(program, seed=seed, out=path).close()
    return paths


def rerun_all(
    paths: list[Path], executor: Executor | None = None, *, force: bool = False
) -> list[dict[str, Any]]:
    return rerun_records(
        paths,
        Path("again"),
        executor or HereExecutor(),
        force=force,
        informational=False,
        progress=lambda *_: None,
    )


@pytest.mark.parametrize("kind", [HereExecutor, ElsewhereExecutor])
def test_each_says_whether_it_parts_from_its_record(
    kind: type[HereExecutor], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = made(tmp_path, monkeypatch)
    assert [each["parts_at"] for each in rerun_all(paths, kind())] == [None, None]
    (tmp_path / "world").write_text("three")

    entries = rerun_all(paths, kind(), force=True)

    assert [each["parts_at"] for each in entries] == [1, 1]
    assert describe_entry(entries[0]).endswith("completed; parts from its record at tick 1")
    for path, entry in zip(paths, entries, strict=True):
        with RunRecord.open(path) as old, RunRecord.open(entry["record"]) as new:
            assert new.parent == {"run_id": old.run_id, "rerun_of": path.name}


def test_a_second_command_makes_what_is_not_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = made(tmp_path, monkeypatch, 3)
    first = rerun_all(paths)
    torn = Path(first[1]["record"])
    torn.write_bytes(torn.read_bytes()[: torn.stat().st_size // 2])
    Path(first[2]["record"]).unlink()
    executor = HereExecutor()

    assert rerun_all(paths, executor) == first
    assert executor.jobs == 2


def test_a_record_whose_worker_died_over_it_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = made(tmp_path, monkeypatch, 1)
    monkeypatch.setattr(twice.worker.executor, "_PAUSE_S", 0.001)
    deaths = 1

    def die(job: Job) -> None:
        nonlocal deaths
        if deaths:
            deaths -= 1
            torn = path.read_bytes()
            Path(job.arguments["out"]).write_bytes(torn[: len(torn) // 2])
            raise WorkerDied("It died.", "", "", job=job.action)

    (entry,) = rerun_all([path], HereExecutor(die))

    assert (entry["how"], entry["parts_at"]) == ("completed", None)


def test_what_is_another_record_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = made(tmp_path, monkeypatch)
    rerun_all(paths[1:])
    Path("again", "1.twice").replace(Path("again", "0.twice"))
    executor = HereExecutor()

    with pytest.raises(OutputExists):
        rerun_all(paths, executor)
    with pytest.raises(UsageError, match=r"2 records have the name 0\.twice"):
        rerun_all([paths[0], paths[0]], executor)
    assert executor.jobs == 0


def test_a_record_that_cannot_be_read_keeps_nothing_from_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = made(tmp_path, monkeypatch)
    paths[0].write_bytes(b"no record")

    broken, fine = rerun_all(paths)

    assert broken["error"]["id"] == "E-RECORD-002"
    assert fine["parts_at"] is None
