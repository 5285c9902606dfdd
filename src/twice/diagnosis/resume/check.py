"""Kill a training behind its checkpoints, resume it by its own way, and say what the checkpoints lack.

One execution runs to its end, a second one shows what differs by itself. For each point a third is killed and started
again in its folder, and ``judgement`` compares.

Not for: a proof. A resumed run that ended the same at these points may end otherwise at others.

Invariant: every execution is a process of its own in a private copy of the folder.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from twice.diagnosis.resume.comparison import PRINTED, list_files, shift_moment
from twice.diagnosis.resume.file_log import Write
from twice.diagnosis.resume.judgement import MORE_MISSING, Reference, Resumed, find_noise
from twice.diagnosis.resume.loops import Loop
from twice.diagnosis.resume.moments import END, STEP
from twice.diagnosis.resume.points import choose_points, group_writes, normalize
from twice.diagnosis.resume.report import PointResult, ResumeReport
from twice.diagnosis.resume.trial import Trial, Trials
from twice.errors import (
    CheckpointNotWritten,
    CheckpointThere,
    CheckpointUnused,
    ProgramFailed,
    UsageError,
)
from twice.foundation.printable import pluralize
from twice.foundation.seeds import Seed
from twice.recorder.environment.surroundings import for_recording
from twice.recorder.output import parse_ignored_output
from twice.recorder.program import Program
from twice.recorder.recorder import choose_master_seed, to_program
from twice.recorder.setup import Setup
from twice.worker.concurrency import run_concurrently

Progress = Callable[[str], None]
_KILLS_MAX = 3
_NAMED_MAX = 5


def check_resume(
    program: str | os.PathLike[str] | Program,
    *,
    seed: int | Seed | None = None,
    at: int = 3,
    resume_arguments: Sequence[str] | None = None,
    checkpoints: Collection[str] = (),
    ignored_output: Sequence[str] = (),
    progress: Progress | None = None,
) -> ResumeReport:
    """Kill a training behind some of its checkpoints, and compare each resumed run with the one that was never stopped.

    Args:
        program: a script, as ``twice.record`` takes it.
        seed: master seed; the variable TWICE_SEED when None.
        at: at how many checkpoints it is killed, evenly spread over the run.
        resume_arguments: the script's arguments when it is resumed; None for the same ones.
        checkpoints: paths of the checkpoint's files, in which numbers stand for any; empty for those that a resumed run reads.
        ignored_output: regular expressions for printed lines that are not compared.
        progress: called with what is being done.

    Returns:
        The report. A resumed run that differs is a result, never an exception.

    Raises:
        CheckpointNotWritten: E-RESUME-001. CheckpointUnused: E-RESUME-002. CheckpointThere: E-RESUME-003.
        ProgramFailed: E-PROGRAM-003, when the program fails though nobody stops it.
        UsageError: E-USE-001, for no whole program, no point, or a folder that is too large.
    """
    found = to_program(program)
    if not found.whole:
        raise UsageError(
            f"{found} is a function of a run.",
            "Expected a script, or a module with -m: it is killed as a whole, and started again.",
            "Name the script that trains and resumes.",
        )
    if at < 1:
        raise UsageError(
            f"{at} points to kill at were asked for.",
            "Expected at least one.",
            "For example: --at 3",
        )
    ignored = parse_ignored_output(ignored_output)
    setup = Setup(found, choose_master_seed(seed), ignored_output=ignored)
    tell = progress or (lambda _text: None)
    with tempfile.TemporaryDirectory(prefix="twice-resume-", ignore_cleanup_errors=True) as text:
        trials = Trials(setup, for_recording(os.environ), Path(text).resolve())
        check = _Check(trials, None if resume_arguments is None else tuple(resume_arguments), tell)
        try:
            return check.run(at, {normalize(each) for each in checkpoints})
        finally:
            trials.end()  # of a check that was stopped, some may still run


class _Check:
    """The trials of one training, and what they have in common."""

    def __init__(
        self, trials: Trials, resume_arguments: tuple[str, ...] | None, tell: Progress
    ) -> None:
        self._trials, self._resume_arguments, self._tell = trials, resume_arguments, tell
        self._program = str(trials.program)
        self._source_files = frozenset(list_files(trials.source))
        self._checkpoints: Collection[str] = ()
        self._loop: Loop | None = None

    def run(self, at: int, checkpoints: Collection[str]) -> ResumeReport:
        self._tell("the run that nobody stops")
        straight = self._trials.run(self._trials.copy("straight"), wanted={})
        if straight.exit_code:
            raise _describe_failure(straight)
        if not straight.files.writes:
            raise CheckpointNotWritten(
                f"{self._program} wrote no file in its folder.",
                "Expected checkpoints, in the folder that it is started in or below.",
                "Let it write them there; what it writes elsewhere is not followed.",
            )
        self._checkpoints = checkpoints or self._find_checkpoints(straight)
        self._require_fresh()
        self._loop = _find_loop(straight, self._checkpoints)
        groups = group_writes(straight.files.writes, self._checkpoints)
        if not groups:
            raise CheckpointNotWritten(
                f"{self._program} wrote no file that --checkpoint names: {', '.join(sorted(self._checkpoints))}.",
                "Expected files that it writes and closes, or moves into their place; a link is neither.",
                f"Name others; it wrote {_name_files(straight.files.writes)}",
            )
        steps = straight.counts.get(STEP, 0)
        points = choose_points(groups, steps, at)
        if not points:
            raise CheckpointNotWritten(
                f"{self._program} wrote {pluralize(len(groups), 'checkpoint')}, and did nothing behind the last one.",
                "Expected a checkpoint with steps behind it.",
                f"Write one earlier, or name its files: --checkpoint PATH; it wrote {_name_files(straight.files.writes)}",
            )
        numbers = {write: number for number, group in enumerate(groups, 1) for write in group}
        self._tell(f"{pluralize(len(points), 'kill')} and as many resumed runs")
        calls = [
            partial(self._kill_and_resume, write, write.steps or numbers[write]) for write in points
        ]
        return self._judge(straight, run_concurrently(calls), at)

    def _find_checkpoints(self, straight: Trial) -> set[str]:
        """Return the normalised paths of the files that a run reads when it is started behind a kill."""
        writes = straight.files.writes
        self._tell("looking for what a resumed run reads")
        for number, write in enumerate(dict.fromkeys((writes[len(writes) // 2], writes[-1]))):
            killed, left = self._kill(write, f"scout-{number}")
            trial = self._resume(left, f"scout-{number}-resumed")
            written = {normalize(each.path) for each in killed.files.writes}
            found = {normalize(path) for path in trial.files.reads} & written
            if found:
                return found
        raise CheckpointUnused(
            f"{self._program} was started again behind a kill, and read none of the files that it had written: "
            f"{_name_files(writes)}.",
            "Expected that the same command resumes from the checkpoint that is there.",
            "Give the arguments with which it resumes: --resume-with '--resume last.pt'",
        )

    def _require_fresh(self) -> None:
        there = sorted(path for path in self._source_files if normalize(path) in self._checkpoints)
        if there:
            raise CheckpointThere(
                f"{there[0]} is in the folder already, so that no run begins at the beginning.",
                "Expected a folder without checkpoints.",
                "Move it away, or run the command in a copy of the folder.",
                path=there[0],
            )

    def _kill(self, write: Write, name: str) -> tuple[Trial, Path]:
        folder = self._trials.copy(f"{name}-killed")
        return self._trials.run(folder, wanted={}, kill_behind=write), folder

    def _resume(self, left: Path, name: str, **given: Any) -> Trial:
        folder = self._trials.copy(name, of=left)
        return self._trials.run(folder, arguments=self._resume_arguments, **given)

    def _kill_and_resume(self, write: Write, at: int) -> Resumed:
        for attempt in range(_KILLS_MAX):
            name = f"{at}-{attempt}"
            killed, left = self._kill(write, name)
            if not killed.was_killed:
                continue
            if any(normalize(path) in self._checkpoints for path in killed.files.changed):
                continue  # the next checkpoint had begun: it may be half of one
            try:
                trial = self._resume(left, f"{name}-resumed", wanted=None, loop=self._loop)
            except ProgramFailed as error:
                return Resumed(at, write, left, None, error.happened)
            return Resumed(at, write, left, trial)
        return Resumed(
            at, write, None, None, "the process could not be killed in time behind this write"
        )

    def _judge(self, straight: Trial, resumed: Sequence[Resumed], asked: int) -> ResumeReport:
        self._tell("the run that nobody stops, once more")
        states = self._trials.make_folder("states")
        wanted = _list_wanted(straight, [each.trial for each in resumed if each.trial is not None])
        folder = self._trials.copy("control")
        control = self._trials.run(folder, wanted=wanted, states=states, keeps=True)
        noise, problem = find_noise(straight, control, self._trials.ignored_output)
        reference = Reference(straight, control, states, noise, problem, self._loop)
        caveats = [*reference.list_caveats()]
        if len(resumed) < asked:
            few = pluralize(len(resumed), "checkpoint")
            caveats.append(f"{few} had steps behind it, and {asked} points were asked for")
        results = [*map(reference.judge, resumed)]
        first = next((at for at, each in enumerate(results) if each.result == "differs"), None)
        if first is not None:
            self._tell("runs with fields put back")
            tried = reference.try_fields(resumed[first], results[first], self._put_back)
            results = [_learn(each, tried) for each in results]
            results[first] = tried
            is_open = tried.reason == MORE_MISSING or not tried.missing
            if is_open and (why := self._find_unsteady(straight)):
                results = [
                    replace(each, result="unknown", missing=(), reason=why)
                    if each.result == "differs"
                    else each
                    for each in results
                ]
        steps = straight.counts.get(STEP, 0)
        return ResumeReport(self._program, sorted(self._checkpoints), results, steps, caveats)

    def _find_unsteady(self, straight: Trial) -> str:
        """Run once more what nobody stops; return how it differs now, empty for not at all."""
        self._tell("the run that nobody stops, a third time")
        third = self._trials.run(self._trials.copy("third"), wanted={})
        return find_noise(straight, third, self._trials.ignored_output)[1]

    def _put_back(self, left: Path, name: str, puts: Sequence[str], states: Path) -> Trial | None:
        try:
            return self._resume(left, name, wanted=None, loop=self._loop, puts=puts, states=states)
        except ProgramFailed:
            return None


def _find_loop(straight: Trial, checkpoints: Collection[str]) -> Loop | None:
    """Return the loop of the user's code in which Python began the first write of a checkpoint."""
    files = straight.files
    pairs = zip(files.writes, files.loops, strict=True)
    return next((loop for write, loop in pairs if normalize(write.path) in checkpoints), None)


def _list_wanted(straight: Trial, resumed: Sequence[Trial]) -> dict[str, set[int]]:
    """Return the moments of the straight run that are those of resumed runs, by kind."""
    wanted: dict[str, set[int]] = {}
    for trial in resumed:
        for moment in trial.moments():
            number = None if moment["kind"] == END else shift_moment(straight, trial, moment)
            if number is not None:
                wanted.setdefault(moment["kind"], set()).add(number)
    return wanted


def _learn(result: PointResult, tried: PointResult) -> PointResult:
    """Return the result of a point with what the experiment showed at another one."""
    if result.result != "differs":
        return result
    if tried.missing == [PRINTED] and all(each.what == PRINTED for each in result.differences):
        return replace(result, missing=tried.missing)
    missing = [each for each in result.missing if each not in tried.harmless]
    # Where the experiment found none of its fields guilty, those of another point are no better.
    return replace(result, missing=missing or (result.missing if tried.missing else ()))


def _describe_failure(trial: Trial) -> ProgramFailed:
    raised = trial.exception or {}
    return ProgramFailed(
        f"The program ended with exit code {trial.exit_code} though nobody stopped it: {raised.get('message', '')}",
        f"Its last words: {trial.printed[1][-2000:].decode('utf-8', 'replace').strip()}",
        "Run it by itself first.",
        exit_code=trial.exit_code,
    )


def _name_files(writes: Sequence[Write]) -> str:
    names = list(dict.fromkeys(each.path for each in writes))
    more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
    return ", ".join(names[:_NAMED_MAX]) + more
