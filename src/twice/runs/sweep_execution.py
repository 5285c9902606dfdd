"""Execute a sweep: make the runs whose records are not whole yet, wherever jobs are executed, and count all of them.

Runs that end badly are results. What concerns the sweep as a whole ends it with one error: a program that cannot be
loaded, a key that it does not take, a full disk. What was recorded by then stays, and the same command goes on from it;
where nothing of it can be of use, the folder is left as it was found.

Invariant: a run counts once, however often its worker died, and a whole record is never made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from twice.errors import (
    ConfigKeyUnused,
    OutputExists,
    OutputUnwritable,
    ProgramChanged,
    TwiceError,
    UsageError,
    WorkerDied,
)
from twice.recorder.runrecord import RunRecord
from twice.recorder.trust import remember_record
from twice.replayer.preconditions import source_changes
from twice.runs.causes import FailureCause
from twice.runs.sweep import MANIFEST, Sweep, SweepFolder, SweptRun
from twice.runs.sweep_report import LOST, SummaryOptions, SweepReport
from twice.runs.sweep_run import RunOutcome, identify, read_outcome
from twice.worker.executor import Done, Executor, Job, run_jobs
from twice.writing import write


def run_sweep(
    sweep: Sweep,
    folder: SweepFolder,
    executor: Executor,
    *,
    summary: SummaryOptions,
    verifies: bool,
    progress: Callable[[int, int], object],
) -> SweepReport:
    """Make the runs of a sweep and return the report.

    Args:
        sweep: the plan.
        folder: of its records; its manifest is written, or compared with the plan.
        executor: where the runs are made.
        summary: the number that is reported, and when an arm has enough seeds.
        verifies: whether every record is verified once it is made.
        progress: called with (runs known, runs of the plan).

    Raises:
        OutputExists: E-OUTPUT-001. OutputUnwritable: E-OUTPUT-002. ProgramChanged: E-PROGRAM-004, since the folder's first
            record. UsageError: the runs make no sense. ProgramFailed, ConfigKeyUnused, SampleMissing: see
            ``SweepReport.add``.
    """
    folder.begin(sweep)
    report = SweepReport(sweep, folder.path, summary)
    try:
        waiting = _count_whole(report, verifies=verifies)
        done = len(sweep) - len(waiting)
        jobs = _list_jobs(report, waiting, verifies=verifies, is_here=executor.is_here)
        for end in run_jobs(executor, jobs):
            report.made += 1
            done += 1
            outcome = _settle(report, end)
            _require_of_sweep(report, end.job.key, outcome)
            report.add(end.job.key, outcome)
            progress(done, len(sweep))
    except TwiceError as error:
        # More than the first round is never thrown away.
        is_first = report.made <= len(sweep.arms) + 2 * executor.slots
        if not report.is_loaded or (isinstance(error, ConfigKeyUnused) and is_first):
            executor.close()  # what still runs would write into the folder
            folder.undo(sweep)
        raise
    return report


def _count_whole(report: SweepReport, *, verifies: bool) -> list[int]:
    """Count the runs whose records are whole; return the numbers of those that are to be made."""
    waiting, is_checked = list[int](), False
    for run in report.sweep:
        path = report.folder / run.file
        outcome = read_outcome(path) if path.exists() else None
        if outcome is None or (verifies and not outcome.result):
            waiting.append(run.number)
            continue
        if not is_checked:
            with RunRecord.open(report.folder / run.file) as record:
                for change in source_changes(record):
                    raise ProgramChanged(
                        f"{change.path} has changed since {record.path} was recorded.",
                        "Expected one program in all runs of a sweep.",
                        "Bring the recorded source back, or sweep into another folder: -o FOLDER",
                        path=change.path,
                    )
            is_checked = True
        _require_of_sweep(report, run, outcome)
        report.add(run, outcome)
    return waiting


def _require_of_sweep(report: SweepReport, run: SweptRun, outcome: RunOutcome) -> None:
    """Refuse a record of another run, and one that another version of the program made than the runs before it.

    Raises:
        OutputExists: E-OUTPUT-001. ProgramChanged: E-PROGRAM-004.
    """
    path = report.folder / run.file
    if outcome.identity and outcome.identity != identify(report.sweep.setup_of(run)):
        raise OutputExists(
            f"{path} is the record of another seed or of other values than {MANIFEST} says.",
            "Expected the record of this run, or none.",
            f"Move it away, and give the command again: it makes {run.file}.",
            path=str(path),
        )
    for name, digest in outcome.sources.items():
        if report.sources.setdefault(name, digest) != digest:
            raise ProgramChanged(
                f"{name} was another one when {path} was recorded than in the runs before it.",
                "Expected one program in all runs of a sweep.",
                f"Remove {path} and give the command again with the program of the other runs, or sweep into "
                "another folder: -o FOLDER",
                path=name,
            )


def _list_jobs(
    report: SweepReport, waiting: Sequence[int], *, verifies: bool, is_here: bool
) -> Iterator[Job]:
    """Yield the jobs of runs as an executor takes them; an arm that has enough seeds by then takes no more."""
    surroundings = report.sweep.surroundings.to_json()
    for number in waiting:
        run = report.sweep[number]
        if not report.is_needed(run):
            continue
        path = report.folder.absolute() / run.file
        arguments: dict[str, Any] = {
            "setup": report.sweep.setup_of(run).to_json(),
            "surroundings": surroundings,
            "out": str(path),
            "is_here": is_here,
            "content": None,
            "verify": verifies,
        }
        if not is_here and read_outcome(path) is not None:  # to be verified
            arguments["content"] = path.read_bytes()
        yield Job("twice.runs.sweep_run:run_one", arguments, run)


def _settle(report: SweepReport, end: Done) -> RunOutcome:
    """Return the outcome of a run that ended; put down what a worker elsewhere sent of it."""
    error, run = end.error, end.job.key
    if isinstance(error, WorkerDied):
        return RunOutcome(LOST, FailureCause("died", error.happened))
    if isinstance(error, UsageError | OutputUnwritable) or (error and not report.is_loaded):
        raise error
    if error is not None:
        return RunOutcome("refused", FailureCause("refused", error.id))
    assert end.answer is not None, "a job has an answer or an error"
    for name, content in end.answer["files"].items():
        path = report.folder / name
        write(path, content)
        path.chmod(0o600)  # like every record and statement
        if name == run.file:
            with RunRecord.open(path) as record:
                # This command had it recorded, with its own program: it may be executed here.
                remember_record(record.digest)
    return RunOutcome.from_json(end.answer["outcome"])
