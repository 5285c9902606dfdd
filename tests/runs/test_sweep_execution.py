"""Claims about the runs of a sweep: real recordings, by jobs that are done in this process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from executors import ElsewhereExecutor, HereExecutor

import twice.worker.executor
from programs import environ, wait_until, write
from twice.errors import (
    ConfigKeyUnknown,
    ConfigKeyUnused,
    OutputExists,
    OutputUnwritable,
    ProgramChanged,
    ProgramFailed,
    ProgramNotFound,
    TwiceError,
    WorkerDied,
)
from twice.foundation.seeds import Seed, derive_in
from twice.recorder.environment.surroundings import for_recording
from twice.recorder.program_spec import parse_program
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import Setup
from twice.runs.sweep import MANIFEST, Sweep, SweepFolder, parse_grid
from twice.runs.sweep_execution import run_sweep
from twice.runs.sweep_report import SummaryOptions, SweepReport
from twice.worker.executor import Executor, Job

pytestmark = pytest.mark.integration

SWEEP_SEED = Seed(5)
CRASHES = {
    derive_in(SWEEP_SEED, "sweep", at).value: at % 4 for at in (2, 3, 4, 5, 9, 11, 17, 23, 38)
}
"""Which of four crashes is planted in which run."""
PLANTED = f"""
    CRASHES = {CRASHES}

    def check(kind):
        if kind == 0:
            raise ValueError(f"kind {{kind}}")  # line 6
        return kind

    def main(run):
        kind = check(CRASHES.get(run.seed.value))
        if kind == 1:
            {{}}[str(run.seed)]  # line 12
        if kind == 2:
            raise SystemExit(3)
        if kind == 3:
            raise ValueError(f"seed {{run.seed}}")  # line 16
        run.summary("x", 1)
"""
CLOCK = """
    import posix  # behind the back of what governs entropy

    def main(run):
        count = run.track("count", {"n": 0})
        for _ in run.ticks(2):
            count["n"] = int.from_bytes(posix.urandom(8))
"""


def sweep_of(
    out: Path,
    source: str,
    *pairs: str,
    seeds: int = 6,
    executor: Executor | None = None,
    summary: SummaryOptions = SummaryOptions(),
    verifies: bool = False,
) -> SweepReport:
    """Write a program beside a folder and sweep it; what comes is the same for the same source."""
    program = parse_program(write(out.parent, source))
    setup = Setup(program, SWEEP_SEED)
    sweep = Sweep(setup, for_recording(os.environ, explicit={}), parse_grid(pairs), seeds)
    with SweepFolder(out) as folder:
        return run_sweep(
            sweep,
            folder,
            executor or HereExecutor(),
            summary=summary,
            verifies=verifies,
            progress=lambda *_: None,
        )


def test_planted_failures_are_grouped_by_line_and_every_run_has_its_record(tmp_path: Path) -> None:
    report = sweep_of(tmp_path / "out", PLANTED, seeds=40)

    assert [(str(group.cause), group.runs, Path(group.record).name) for group in report.causes] == [
        ("ValueError at program.py:16 in main", 3, "0003.twice"),
        ("KeyError at program.py:12 in main", 3, "0005.twice"),
        ("exit code 3", 2, "0002.twice"),
        ("ValueError at program.py:6 in check", 1, "0004.twice"),
    ]
    assert report.endings == {"completed": 31, "exception": 7, "exit": 2}
    assert (report.failures, report.exit_code) == (9, 1)
    for run in report.sweep:
        with RunRecord.open(report.folder / run.file) as record:
            assert record.seed == run.seed


def test_a_sweep_goes_on_from_whole_records_and_makes_torn_ones_again(tmp_path: Path) -> None:
    whole = sweep_of(tmp_path / "out", PLANTED)
    torn, gone, kept = (tmp_path / "out" / whole.sweep[at].file for at in (1, 3, 4))
    torn.write_bytes(torn.read_bytes()[:-200])
    gone.unlink()
    before = kept.read_bytes()

    again = sweep_of(tmp_path / "out", PLANTED)

    assert again.made == 2
    assert kept.read_bytes() == before
    assert {**again.to_json(), "made": 6} == whole.to_json()


def test_records_are_verified_once_and_a_failing_one_names_its_line(tmp_path: Path) -> None:
    report = sweep_of(tmp_path / "out", CLOCK, seeds=1, verifies=True)
    again = sweep_of(tmp_path / "out", CLOCK, seeds=1, verifies=True)

    assert [str(group.cause) for group in report.causes] == [
        "differs first at program.py:7, count['n']"
    ]
    assert report.results == again.results == {"FAIL": 1}
    assert again.made == 0


@pytest.mark.heavy
def test_workers_elsewhere_give_the_same_records_and_statements(tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    here = sweep_of(tmp_path / "here" / "out", PLANTED, seeds=2)
    there = sweep_of(tmp_path / "there" / "out", PLANTED, seeds=2, executor=ElsewhereExecutor())
    before = (there.folder / there.sweep[0].file).read_bytes()
    verified = sweep_of(
        tmp_path / "there" / "out", PLANTED, seeds=2, executor=ElsewhereExecutor(), verifies=True
    )

    told = [{**each.to_json(), "folder": "", "next": "", "causes": ""} for each in (here, there)]
    assert told[0] == told[1]
    assert verified.results == {"PASS": 2}
    assert (there.folder / there.sweep[0].file).read_bytes() == before


def test_an_arm_takes_no_more_seeds_than_its_interval_needs(tmp_path: Path) -> None:
    executor = HereExecutor()
    source = "def main(run):\n    run.summary('x', run.config['lr'])\n"
    report = sweep_of(
        tmp_path / "out", source, "lr=1,2", seeds=50, executor=executor, summary=SummaryOptions("x", 0.1, 0.5)
    )  # fmt: skip

    assert report.is_decided
    assert report.exit_code == 0
    assert report.runs == 10
    assert executor.jobs <= 14


@pytest.mark.parametrize(
    ("source", "pairs", "error"),
    [
        ("import not_there\ndef main(run): pass\n", (), ProgramFailed),
        ("exec('def main(run:')\n" + "def main(run): pass\n", (), ProgramFailed),
        ("def other(run): pass\n", (), ProgramNotFound),
        ("def main(run): run.config['n']\n", (), ConfigKeyUnknown),
        ("def main(run): run.config['n']\n", ("n=1", "m=1,2"), ConfigKeyUnused),
    ],
)
@pytest.mark.sample(2)
def test_a_program_that_no_run_can_be_of_is_one_error_and_the_folder_is_as_before(
    tmp_path: Path, source: str, pairs: tuple[str, ...], error: type[TwiceError]
) -> None:
    executor = HereExecutor()
    (tmp_path / "there").mkdir()
    for out in (tmp_path / "new", tmp_path / "there"):
        with pytest.raises(error):
            sweep_of(out, source, *pairs, seeds=100, executor=executor)

    assert executor.jobs <= 16
    assert not (tmp_path / "new").exists()
    assert [*(tmp_path / "there").iterdir()] == []


def test_a_program_that_has_changed_is_not_mixed_in(tmp_path: Path) -> None:
    sweep_of(tmp_path / "out", "def main(run): pass\n", seeds=2)

    with pytest.raises(ProgramChanged, match=r"program\.py has changed since .*0000\.twice"):
        sweep_of(tmp_path / "out", "def main(run): print(1)\n", seeds=2)
    assert (tmp_path / "out" / MANIFEST).exists()


def refuse_after(count: int, error: TwiceError) -> Callable[[Job], None]:
    """Give the error for every job after some."""
    left = [None] * count

    def before(job: Job) -> None:
        del job
        if not left:
            raise error
        left.pop()

    return before


def test_a_program_that_is_edited_while_a_sweep_runs_is_not_mixed_in(tmp_path: Path) -> None:
    def edit(job: Job) -> None:
        if executor.jobs == 4:
            write(tmp_path, PLANTED.replace('run.summary("x", 1)', 'run.summary("x", 2)'))

    executor = HereExecutor(edit)

    with pytest.raises(ProgramChanged, match="in the runs before it"):
        sweep_of(tmp_path / "out", PLANTED, seeds=8, executor=executor)


@pytest.mark.heavy
def test_the_record_of_another_run_is_not_counted(tmp_path: Path) -> None:
    sweep_of(tmp_path / "out", PLANTED)
    (tmp_path / "out" / "0001.twice").write_bytes((tmp_path / "out" / "0000.twice").read_bytes())

    with pytest.raises(OutputExists, match="record of another seed"):
        sweep_of(tmp_path / "out", PLANTED)


def test_a_full_disk_ends_the_sweep_and_what_was_recorded_is_gone_on_from(tmp_path: Path) -> None:
    full = OutputUnwritable("the disk is full.", "Expected room.", "Make some.")
    source = "def main(run): pass\n"

    with pytest.raises(OutputUnwritable):
        sweep_of(tmp_path / "out", source, executor=HereExecutor(refuse_after(5, full)))
    again = sweep_of(tmp_path / "out", source)

    assert (again.made, again.runs, again.exit_code) == (1, 6, 0)


def test_a_run_whose_worker_dies_again_and_again_is_lost_and_the_others_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(twice.worker.executor, "_PAUSE_S", 0)

    def before(job: Job) -> None:
        if job.key.number == 2:
            raise WorkerDied("It died.", "Expected an answer.", "Look.")

    report = sweep_of(tmp_path / "out", "def main(run): pass\n", executor=HereExecutor(before))

    assert report.endings == {"completed": 5, "lost": 1}
    assert report.exit_code == 2


def test_a_program_whose_process_dies_is_a_failure_that_is_made_again(tmp_path: Path) -> None:
    source = "import os\ndef main(run):\n    for _ in run.ticks(1): os.kill(os.getpid(), 9)\n"
    reports = [sweep_of(tmp_path / "out", source, seeds=2) for _ in range(2)]

    assert [report.made for report in reports] == [2, 2]
    for report in reports:
        assert report.endings == {"died": 2}
        assert [group.cause.kind for group in report.causes] == ["died"]
        assert report.exit_code == 1


def test_a_command_that_was_killed_is_gone_on_with_by_the_same_command(tmp_path: Path) -> None:
    """Two processes: what is killed is the command itself, with its workers at work."""
    write(tmp_path, PLANTED)
    words = ["sweep", "program.py:main", "--seeds", "12", "--seed", "5", "--jobs", "2", "-o", "out"]
    command = [sys.executable, "-m", "twice", *words, "--json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) as killed:
        wait_until(lambda: len([*tmp_path.glob("out/*.twice")]) > 2, killed)
        os.kill(killed.pid, signal.SIGKILL)

    again = subprocess.run(
        command, cwd=tmp_path, env=environ(), capture_output=True, text=True, check=False
    )

    told = json.loads(again.stdout)
    assert again.returncode == 1
    assert told["counts"] == {"completed": 6, "exception": 5, "exit": 1}
    assert 0 < told["made"] < 12
    assert sorted(path.name for path in (tmp_path / "out").glob("[!.]*")) == [
        *(f"{at:04}.twice" for at in range(12)), MANIFEST,
    ]  # fmt: skip
