"""Whether a resumed run ended as the straight one, and which fields it lacked.

The states at the first moment that both runs have are compared. Then an experiment puts back all fields that differ,
and all but one: a field without which the end is the same is harmless.

Invariant: a field is missing only if it differs where the resumed run begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Final

from twice.diagnosis.resume.comparison import (
    PRINTED,
    Noise,
    compare_ends,
    has_evidence,
    list_differing,
    list_differing_files,
    name_field,
    shift_moment,
)
from twice.diagnosis.resume.file_log import Write
from twice.diagnosis.resume.loops import Loop
from twice.diagnosis.resume.moments import END, NAN, STEP, name_moment
from twice.diagnosis.resume.points import normalize
from twice.diagnosis.resume.report import PointResult, Result
from twice.diagnosis.resume.trial import Trial
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize
from twice.replayer.output_difference import list_measurements
from twice.worker.concurrency import run_concurrently

_LEFT_OVER: Final = ("gradients", "modes")
"""Leaves of a module that the step before left there, and that nearly every training sets anew before they count."""
_GIVEN: Final = {"data": "another batch"}
_LEAVE_OUT: Final = "; lines that may differ can be left out: --ignore-output REGEX"
_ONLY_PRINTED: Final = f"state and files are the same{_LEAVE_OUT}"
_BEGAN_ANEW: Final = "it began anew: it read the checkpoint, and made every step again"
_NOTHING_COMPARED: Final = "nothing could be compared: it prints no line that two runs share, and no file that they leave the same"
_UNKNOWN_MISSING: Final = (
    "all fields that are known are as they were where it goes on: something else is missing, "
    "such as the place in an iterator, or state in a closure, a class or another module"
)
_NO_MOMENT: Final = (
    "no moment was found that both runs have, so that their states could not be compared"
)
MORE_MISSING: Final = (
    "with all fields that are known put back the end still differs: something else is missing"
)

PutBack = Callable[[Path, str, Sequence[str], Path], Trial | None]
"""Resumes a run in a folder, under a name, with parts whose states lie in a folder put back; None where it dies."""


@dataclass(frozen=True)
class Resumed:
    """A kill and the run that was resumed behind it.

    Attributes:
        at: steps that were done, or the number of the checkpoint.
        write: behind which the process was killed.
        left: the folder that the killed process left; None where it could not be killed in time.
        trial: of the resumed run; None where there is none, or it died.
        failure: why there is none.
    """

    at: int
    write: Write
    left: Path | None
    trial: Trial | None
    failure: str = ""


@dataclass(frozen=True)
class Parting:
    """How two states differ at one moment.

    Attributes:
        moment: its name; empty where there is none that both runs have.
        given: paths that differ of what the moment was given, such as a batch, by name.
        fields: paths that differ of the parts of the state, by part.
    """

    moment: str = ""
    given: Mapping[str, Sequence[str]] = field(default_factory=dict)
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def name_fields(self, is_named: Callable[[str], bool] = bool) -> list[str]:
        """Return the names of all that differs, or of what ``is_named`` by its part."""
        both = {**self.given, **self.fields}
        named = {part: paths for part, paths in both.items() if is_named(part)}
        kept = {
            part: [path for path in paths if not path.startswith(_LEFT_OVER)]
            for part, paths in named.items()
        }
        some = {part: paths for part, paths in kept.items() if paths}
        return [name_field(part, paths) for part, paths in (some or named).items()]


@dataclass(frozen=True)
class Reference:
    """Two runs that nobody stopped: what a resumed run is compared with.

    Attributes:
        straight: the first one.
        control: the second, with the states of its moments.
        states: the folder of these states, one folder for each moment.
        noise: what differs between the two.
        problem: why nothing can be compared; empty where something can.
        loop: of the user's code in which it writes its checkpoints; None where there is none.
    """

    straight: Trial
    control: Trial
    states: Path
    noise: Noise
    problem: str
    loop: Loop | None = None

    def list_caveats(self) -> Iterator[str]:
        """Yield sentences on what is not compared."""
        apart = "not compared, two runs that nobody stops differ there"
        yield from (f"{apart}: {each}" for each in sorted(self.noise.files))
        yield from (f"lines {apart}: {each}" for each in self.noise.output)
        ends = [each["fields"].values() for each in self.straight.moments() if each["kind"] == END]
        leaves = [leaf for parts in ends for part in parts for leaf in part.values()]
        if any(shown.endswith(NAN) for _, shown in leaves):
            yield "the straight run ends with NaN in its state: that another one is the same says little"

    def judge(self, one: Resumed) -> PointResult:
        """Judge a resumed run, without an experiment."""
        path = one.write.path
        if self.problem:
            return PointResult(one.at, path, "unknown", reason=self.problem)
        if one.trial is None:
            died: Result = "unknown" if one.left is None else "differs"
            return PointResult(one.at, path, died, reason=one.failure)
        differences = compare_ends(self.straight, one.trial, self.noise, is_resumed=True)
        parting = self.compare_states(one.trial)
        if not differences and self._began_anew(one.trial, normalize(path)):
            return PointResult(one.at, path, "unknown", reason=_BEGAN_ANEW)
        if not differences and not has_evidence(self.straight, one.trial, self.noise):
            return PointResult(one.at, path, "unknown", reason=_NOTHING_COMPARED)
        if not differences:
            return PointResult(one.at, path, "same", harmless=parting.name_fields())
        has_ended = one.trial.exit_code == self.straight.exit_code
        reason = self._explain_steps(one, one.trial) if has_ended else ""
        missing = [*(["position"] if reason else []), *parting.name_fields()]
        return PointResult(one.at, path, "differs", missing, (), differences, reason)

    def compare_states(self, resumed: Trial) -> Parting:
        """Return how the states differ at the first moment that both runs have."""
        there = {(each["kind"], each["number"]): each for each in self.control.moments()}
        ahead = self.straight.counts.get(STEP, 0) - resumed.counts.get(STEP, 0)
        for moment in resumed.moments():
            number = None if moment["kind"] == END else shift_moment(self.straight, resumed, moment)
            same = there.get((moment["kind"], number))
            # An epoch that was resumed in its middle begins elsewhere.
            steps = ahead + moment["counts"].get(STEP, 0)
            if same is not None and same["counts"].get(STEP, 0) == steps:
                given, fields = (
                    list_differing(same[key], moment[key]) for key in ("given", "fields")
                )
                return Parting(name_moment(moment["kind"], number), given, fields)
        return Parting()

    def try_fields(self, one: Resumed, result: PointResult, put_back: PutBack) -> PointResult:
        """Put back all fields that differ, then all but one, and say which of them the end depends on."""
        parting = self.compare_states(one.trial) if one.trial is not None else Parting()
        parts, left = [*parting.fields], one.left
        if left is None:
            return result
        if not (parts or parting.given):
            why = _UNKNOWN_MISSING if parting.moment else _NO_MOMENT
            return replace(result, reason=result.reason or why)

        def run_with(puts: Sequence[str], name: str) -> Trial | None:
            return put_back(left, f"{one.at}-{name}", puts, self.states / parting.moment)

        def is_same(trial: Trial | None, as_trial: Trial) -> bool:
            return trial is not None and not compare_ends(
                as_trial, trial, self.noise, is_resumed=True
            )

        whole = run_with(parts, "all") if parts else None
        suffices = is_same(whole, self.straight)
        if suffices:  # the steps that it made were enough
            result = replace(result, missing=parting.name_fields(), reason="")
        if whole is None or (suffices and len(parts) == 1):
            return result if suffices else self._explain_rest(result, parting)
        # Where they do not suffice, a field still matters only if the end is another one without it.
        end = self.straight if suffices else whole
        without = [[each for each in parts if each != part] for part in parts]
        calls = [partial(run_with, puts, f"without-{at}") for at, puts in enumerate(without)]
        trials = run_concurrently(calls)
        harmless = {part for part, trial in zip(parts, trials, strict=True) if is_same(trial, end)}
        named = parting.name_fields(lambda part: part not in harmless)
        spared = parting.name_fields(lambda part: part in harmless)
        if suffices:
            return replace(result, missing=named or result.missing, harmless=spared)
        return self._explain_rest(replace(result, missing=named, harmless=spared), parting)

    def _explain_rest(self, result: PointResult, parting: Parting) -> PointResult:
        """Say what is known where the fields that can be put back do not suffice."""
        if all(each.what == PRINTED for each in result.differences):
            harmless = [*result.missing, *result.harmless]
            return replace(result, missing=[PRINTED], harmless=harmless, reason=_ONLY_PRINTED)
        others = ", ".join(_GIVEN.get(each, f"another {each}") for each in parting.given)
        why = f"it begins with {others}, which nothing can put back" if others else MORE_MISSING
        # Other steps than those that were left explain more than fields of a state.
        return replace(result, reason=result.reason or why)

    def _began_anew(self, resumed: Trial, checkpoint: str) -> bool:
        """Return whether a resumed run made as many steps as the straight one: that shows nothing of its checkpoint."""
        straight, made = self.straight.counts, resumed.counts
        # Rounds of a straight run are counted from its first checkpoint on.
        if total := straight.get(STEP, 0):
            return made.get(STEP, 0) >= total
        kind = "" if self.loop is None else self.loop.kind
        if rounds := straight.get(kind, 0):
            return made.get(kind, 0) > rounds
        total, again = (
            sum(normalize(each.path) == checkpoint for each in trial.files.writes)
            for trial in (self.straight, resumed)
        )
        return again >= total

    def _explain_steps(self, one: Resumed, trial: Trial) -> str:
        """Say that a resumed run makes other steps than those that were left; empty where it does not."""
        total, made = self.straight.counts.get(STEP, 0), trial.counts.get(STEP, 0)
        left = total - one.write.steps
        if not total or made == left:
            return ""
        return f"it made {pluralize(made, 'step')} where {left} of {total} were left"


def find_noise(straight: Trial, control: Trial, ignored: Sequence[str]) -> tuple[Noise, str]:
    """Return what differs between two runs that nobody stops, and a sentence where that leaves nothing to compare."""
    differing = list_differing_files(straight.folder, control.folder)
    # A name with the time or the process in it is another one in each run.
    files = frozenset(
        path
        if (straight.folder / path).exists() and (control.folder / path).exists()
        else normalize(path)
        for path in differing
    )
    folders = [str(straight.folder), str(control.folder)]
    output = list_measurements(straight.printed, control.printed, ignored, folders)
    noise = Noise(files, output, (*ignored,))
    first = next(iter(compare_ends(straight, control, noise, is_resumed=False)), None)
    if first is None:
        return noise, ""
    advice = _LEAVE_OUT if first.what == PRINTED else ""
    return noise, f"two runs that nobody stops differ already: {first.what}: {first.where}{advice}"
