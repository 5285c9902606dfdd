"""Kill a training behind its checkpoints, resume it by its own way, and say what the checkpoints lack.

One execution runs to its end, a second one shows what differs by itself. For each point a third is killed and started
again in its folder. Where the two ends differ, the states at the first moment of the resumed run are compared with the
straight run's at the same moment. Then an experiment puts back all fields that differ, and all but one: a field without
which the end is the same is harmless.

Not for: a proof. A resumed run that ended the same at these points may end otherwise at others.

Invariant: every execution is a process of its own in a private copy of the folder.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from twice.diagnosis.resume.comparison import (
    Noise,
    compare_ends,
    list_differing,
    list_differing_files,
    list_files,
    name_field,
    shift_moment,
)
from twice.diagnosis.resume.file_log import Write
from twice.diagnosis.resume.moments import END, NAN, STEP
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
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize
from twice.foundation.seeds import Seed
from twice.recorder.environment.surroundings import for_recording
from twice.recorder.program import Program
from twice.recorder.recorder import choose_master_seed, to_program
from twice.recorder.setup import Setup
from twice.replayer.output_difference import list_measurements
from twice.worker.concurrency import run_concurrently

Progress = Callable[[str], None]
_KILLS_MAX = 3
_NAMED_MAX = 5
_BATCH, _LEFT_OVER = "data", ".gradients"
_OTHER_DATA = (
    "its first batch is another one, which nothing can put back: the place in the data is missing"
)
_MORE_MISSING = (
    "with all of these fields put back the end still differs: something else is missing too"
)


def check_resume(
    program: str | os.PathLike[str] | Program,
    *,
    seed: int | Seed | None = None,
    at: int = 3,
    resume_arguments: Sequence[str] | None = None,
    checkpoints: Collection[str] = (),
    progress: Progress | None = None,
) -> ResumeReport:
    """Kill a training behind some of its checkpoints, and compare each resumed run with the one that was never stopped.

    Args:
        program: a script, as ``twice.record`` takes it.
        seed: master seed; the variable TWICE_SEED when None.
        at: at how many checkpoints it is killed, evenly spread over the run.
        resume_arguments: the script's arguments when it is resumed; None for the same ones.
        checkpoints: paths of the checkpoint's files, in which numbers stand for any; empty for those that a resumed run reads.
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
    setup = Setup(found, choose_master_seed(seed))
    tell = progress or (lambda _text: None)
    with tempfile.TemporaryDirectory(prefix="twice-resume-", ignore_cleanup_errors=True) as text:
        trials = Trials(setup, for_recording(os.environ), Path(text).resolve())
        check = _Check(trials, None if resume_arguments is None else tuple(resume_arguments), tell)
        return check.run(at, {normalize(each) for each in checkpoints})


@dataclass(frozen=True)
class _Resumed:
    """A kill, what it left, and the run that was resumed there; None for a kill that came too late."""

    at: int
    write: Write
    left: Path | None
    trial: Trial | None
    failure: str = ""


class _Check:
    """The trials of one training, and what they have in common."""

    def __init__(
        self, trials: Trials, resume_arguments: tuple[str, ...] | None, tell: Progress
    ) -> None:
        self._trials, self._resume_arguments, self._tell = trials, resume_arguments, tell
        self._program = str(trials.program)
        self._source_files = frozenset(list_files(trials.source))

    def run(self, at: int, checkpoints: Collection[str]) -> ResumeReport:
        self._tell("the run that nobody stops")
        straight = self._trials.run(self._trials.copy("straight"), wanted={})
        if straight.exit_code:
            raise _failed(straight)
        if not straight.files.writes:
            raise CheckpointNotWritten(
                f"{self._program} wrote no file in its folder.",
                "Expected checkpoints, in the folder that it is started in or below.",
                "Let it write them there; what it writes elsewhere is not followed.",
            )
        checkpoints = checkpoints or self._find_checkpoints(straight)
        self._require_fresh(checkpoints)
        groups = group_writes(straight.files.writes, checkpoints)
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
            lambda write=write: self._kill_and_resume(
                write, write.steps or numbers[write], checkpoints, straight
            )
            for write in points
        ]
        resumed = run_concurrently(calls)
        return self._judge(straight, resumed, checkpoints, steps, at)

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

    def _require_fresh(self, checkpoints: Collection[str]) -> None:
        there = sorted(path for path in self._source_files if normalize(path) in checkpoints)
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

    def _kill_and_resume(
        self, write: Write, at: int, checkpoints: Collection[str], straight: Trial
    ) -> _Resumed:
        for attempt in range(_KILLS_MAX):
            name = f"{at}-{attempt}"
            killed, left = self._kill(write, name)
            if not killed.was_killed:
                continue
            if any(normalize(path) in checkpoints for path in killed.files.changed):
                continue  # the next checkpoint had begun: it may be half of one
            try:
                trial = self._resume(left, f"{name}-resumed", wanted=None, loop=straight.loop)
            except ProgramFailed as error:
                return _Resumed(at, write, left, None, error.happened)
            return _Resumed(at, write, left, trial)
        return _Resumed(
            at, write, None, None, "the process could not be killed in time behind this write"
        )

    def _judge(
        self,
        straight: Trial,
        resumed: Sequence[_Resumed],
        checkpoints: Collection[str],
        steps: int,
        asked: int,
    ) -> ResumeReport:
        wanted: dict[str, set[int]] = {}
        for each in resumed:
            for moment in each.trial.moments() if each.trial is not None else ():
                number = shift_moment(straight, each.trial, moment) if each.trial else None
                if moment["kind"] != END and number is not None:
                    wanted.setdefault(moment["kind"], set()).add(number)
        self._tell("the run that nobody stops, once more")
        states = self._trials.make_folder("states")
        control = self._trials.run(
            self._trials.copy("control"), wanted=wanted, states=states, keeps=True
        )
        noise, problem = _find_noise(straight, control)
        caveats = [
            f"not compared, two runs that nobody stops differ there: {each}"
            for each in sorted(noise.files)
        ]
        caveats += [
            f"lines not compared, two runs that nobody stops differ there: {each}"
            for each in noise.output
        ]
        ends = [each for each in straight.moments() if each["kind"] == END]
        if any(
            shown.endswith(NAN)
            for end in ends
            for leaves in end["fields"].values()
            for _, shown in leaves.values()
        ):
            caveats.append(
                "the straight run ends with NaN in its state: that it is the same says little"
            )
        if len(resumed) < asked:
            caveats.append(
                f"{pluralize(len(resumed), 'checkpoint')} had steps behind it, and {asked} points were asked for"
            )
        results = [
            PointResult(each.at, each.write.path, "unknown", reason=problem)
            if problem
            else self._judge_point(straight, control, each, noise)
            for each in resumed
        ]
        first = next((at for at, each in enumerate(results) if each.result == "differs"), None)
        if first is not None:
            results[first] = self._try_fields(
                straight, control, resumed[first], results[first], noise, states
            )
            harmless = {*results[first].harmless}
            results = [
                replace(
                    each,
                    missing=[field for field in each.missing if field not in harmless]
                    or each.missing,
                )
                if each.result == "differs"
                else each
                for each in results
            ]
        return ResumeReport(self._program, sorted(checkpoints), results, steps, caveats)

    def _judge_point(
        self, straight: Trial, control: Trial, one: _Resumed, noise: Noise
    ) -> PointResult:
        if one.trial is None:
            is_late = one.left is None
            return PointResult(
                one.at, one.write.path, "unknown" if is_late else "differs", reason=one.failure
            )
        differences = compare_ends(straight, one.trial, noise, is_resumed=True)
        differing, aligned = _compare_moments(straight, control, one.trial)
        fields = [name_field(part, paths) for part, paths in differing.items()]
        if not differences:
            return PointResult(one.at, one.write.path, "same", harmless=fields)
        has_ended = one.trial.exit_code == straight.exit_code
        reason = _explain_steps(straight, one) if has_ended and not aligned else ""
        missing = fields if aligned else ["position"] if reason else []
        return PointResult(one.at, one.write.path, "differs", missing, (), differences, reason)

    def _try_fields(
        self,
        straight: Trial,
        control: Trial,
        one: _Resumed,
        result: PointResult,
        noise: Noise,
        states: Path,
    ) -> PointResult:
        """Put back all fields that differ, then all but one, and say which of them the end depends on."""
        differing, aligned = (
            _compare_moments(straight, control, one.trial) if one.trial else ({}, "")
        )
        parts = [part for part in differing if part != _BATCH]
        if not aligned or not parts or one.left is None:
            return result
        left = one.left
        self._tell(f"{pluralize(len(parts) + 1, 'run')} with fields put back")

        def is_same_with(puts: Sequence[str], name: str) -> bool:
            try:
                trial = self._resume(
                    left,
                    f"{one.at}-{name}",
                    wanted=None,
                    loop=straight.loop,
                    puts=puts,
                    states=states / aligned,
                )
            except ProgramFailed:
                return False
            return not compare_ends(straight, trial, noise, is_resumed=True)

        if not is_same_with(parts, "all"):
            why = _OTHER_DATA if _BATCH in differing else _MORE_MISSING
            # Gradients of the step before, which nearly every training takes away first.
            named = [each for each in result.missing if not each.endswith(_LEFT_OVER)]
            return replace(result, missing=named or result.missing, reason=why)
        if len(parts) == 1:
            return result
        calls = [
            lambda part=part: is_same_with(
                [each for each in parts if each != part], f"without-{parts.index(part)}"
            )
            for part in parts
        ]
        harmless = {
            part for part, is_same in zip(parts, run_concurrently(calls), strict=True) if is_same
        }
        named = {part: name_field(part, paths) for part, paths in differing.items()}
        return replace(
            result,
            missing=[name for part, name in named.items() if part not in harmless]
            or result.missing,
            harmless=[named[part] for part in sorted(harmless)],
        )


def _compare_moments(
    straight: Trial, control: Trial, resumed: Trial
) -> tuple[dict[str, list[str]], str]:
    """Return the leaves that differ at the first moment that both runs have, and that moment's name; empty for none."""
    there = {(each["kind"], each["number"]): each for each in control.moments()}
    ahead = straight.counts.get(STEP, 0) - resumed.counts.get(STEP, 0)
    for moment in resumed.moments():
        number = None if moment["kind"] == END else shift_moment(straight, resumed, moment)
        same = there.get((moment["kind"], number))
        # An epoch that was resumed in its middle begins elsewhere.
        if same is None or same["counts"].get(STEP, 0) != ahead + moment["counts"].get(STEP, 0):
            continue
        return list_differing(same["fields"], moment["fields"]), f"{moment['kind']}-{number}"
    return {}, ""


def _explain_steps(straight: Trial, one: _Resumed) -> str:
    """Say that a resumed run makes other steps than those that were left; empty where it does not."""
    total = straight.counts.get(STEP, 0)
    made = one.trial.counts.get(STEP, 0) if one.trial is not None else 0
    if not total or made == total - one.write.steps:
        return ""
    left = total - one.write.steps
    return f"it made {pluralize(made, 'step')} where {left} of {total} were left"


def _find_noise(straight: Trial, control: Trial) -> tuple[Noise, str]:
    """Return what differs between two runs that nobody stops, and a sentence where that leaves nothing to compare."""
    files = frozenset(list_differing_files(straight.folder, control.folder))
    output = list_measurements(
        straight.printed, control.printed, (), [str(straight.folder), str(control.folder)]
    )
    noise = Noise(files, output)
    first = next(iter(compare_ends(straight, control, noise, is_resumed=False)), None)
    if first is None:
        return noise, ""
    return noise, f"two runs that nobody stops differ already: {first.what}: {first.where}"


def _failed(trial: Trial) -> ProgramFailed:
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
