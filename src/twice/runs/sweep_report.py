"""What came of a sweep: endings, causes of failure and numbers, for each arm and for all.

Outcomes arrive as runs end, and count in the order of their seeds: where a sweep stops, and every number in its report,
are the same with one worker and with many, and a run that happens to be fast is not preferred.

Invariant: the report is a function of the manifest, the options and the outcomes.
"""

from __future__ import annotations

import math
import shlex
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from twice.errors import ConfigKeyUnused, ProgramFailed, SampleMissing
from twice.foundation.distributions import student_t_quantile
from twice.foundation.interquartile_mean import LEAST as IQM_LEAST
from twice.foundation.interquartile_mean import interquartile_mean
from twice.foundation.next_step import NextStep
from twice.foundation.printable import pluralize
from twice.foundation.sample_size import VALUE_MAX
from twice.runs.causes import CauseGroup, CauseGroups
from twice.runs.confidence_sequence import MeanSequence
from twice.runs.sweep import Sweep, SweptRun
from twice.runs.sweep_run import RunOutcome

FORMAT: Final = "twice.sweep-report/1"
LOST: Final = "lost"
"""How a run ended whose worker died again and again: nothing is known of it."""


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """The number that a sweep reports for each arm.

    Attributes:
        name: as the program reports it; empty for none.
        until: width of the interval at which an arm has enough seeds; None for all seeds.
        alpha: chance that the interval misses the mean.
    """

    name: str = ""
    until: float | None = None
    alpha: float = 0.05


@dataclass(slots=True)
class ArmTally:
    """The runs of one arm that count so far."""

    waiting: dict[int, tuple[SweptRun, RunOutcome]] = field(default_factory=dict)
    runs: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    values: array[float] = field(default_factory=lambda: array("d"))
    sequence: MeanSequence = field(default_factory=MeanSequence)
    is_decided: bool = False

    def describe(self, summary: SummaryOptions) -> dict[str, Any]:
        """Return mean, deviation, interquartile mean and interval of the values, as plain values."""
        n, sequence = len(self.values), self.sequence
        half = math.inf
        if summary.until is not None:
            half = sequence.half_width(summary.alpha)
        elif n > 1:
            error = math.sqrt(sequence.squares / (n - 1) / n)
            half = student_t_quantile(summary.alpha / 2, n - 1) * error
        is_bounded = math.isfinite(half)
        return {
            "name": summary.name,
            "n": n,
            "missing": self.runs - n,
            "mean": sequence.mean if n else None,
            "deviation": math.sqrt(sequence.squares / (n - 1)) if n > 1 else None,
            "iqm": interquartile_mean(self.values) if n >= IQM_LEAST else None,
            "low": sequence.mean - half if is_bounded else None,
            "high": sequence.mean + half if is_bounded else None,
            "level": 1 - summary.alpha,
            "interval": "student-t" if summary.until is None else "confidence-sequence",
            **({} if summary.until is None else {"decided": self.is_decided}),
        }


class SweepReport:
    """The outcomes of a sweep, as they come.

    Args:
        sweep: the plan.
        folder: of the records.
        summary: the number that is reported.

    Attributes:
        made: how many runs were made by this command.
        is_loaded: whether the program was loaded by any run.
    """

    def __init__(self, sweep: Sweep, folder: Path, summary: SummaryOptions) -> None:
        self.sweep, self.folder, self.summary = sweep, folder, summary
        self.arms = [ArmTally() for _ in sweep.arms]
        self.causes = CauseGroups()
        self.results: Counter[str] = Counter()
        self.made = 0
        self.sources: dict[str, str] = {}
        self._unread = {*sweep.grid, *sweep.setup.config}
        self.is_loaded = False

    @property
    def is_decided(self) -> bool:
        """Whether every arm has enough seeds."""
        return all(arm.is_decided for arm in self.arms)

    def is_needed(self, run: SweptRun) -> bool:
        """Return whether a run that is not made yet may still count."""
        return not self.arms[run.arm].is_decided

    def add(self, run: SweptRun, outcome: RunOutcome) -> None:
        """Take the outcome of a run, and count it once those of the smaller seeds of its arm are known.

        Raises:
            ProgramFailed: E-PROGRAM-003, when it could not be loaded, nor any run before it.
            ConfigKeyUnused: E-CONFIG-003, when every arm has a run that completed, and none read some key.
            SampleMissing: E-CLASS-002, when it completed without the number that is to be reported.
        """
        arm = self.arms[run.arm]
        arm.waiting[run.index] = (run, outcome)
        while not arm.is_decided and (following := arm.waiting.pop(arm.runs, None)) is not None:
            self._count(arm, *following)

    def _count(self, arm: ArmTally, run: SweptRun, outcome: RunOutcome) -> None:
        if outcome.unloaded and not self.is_loaded:
            raise ProgramFailed(
                f"{self.sweep.setup.program} cannot be loaded: {outcome.unloaded}",
                "Expected a program that begins to run.",
                f"Try one run first: twice record {self.sweep.setup.program} --seed {run.seed.value}",
            )
        self.is_loaded = True
        arm.runs += 1
        arm.endings[outcome.how] += 1
        if outcome.result:
            self.results[outcome.result] += 1
        if outcome.how == "completed":
            self._check_keys(outcome)
        if outcome.cause is not None and outcome.how != LOST:
            arm.failed += 1
            record = "" if outcome.how == "refused" else str(self.folder / run.file)
            self.causes.add(outcome.cause, run.number, record, self.sweep.arms[run.arm].label)
        if self.summary.name:
            self._take_value(arm, run, outcome)

    def _check_keys(self, outcome: RunOutcome) -> None:
        """Refuse keys that no completed run of any arm has read, once there is one of each arm."""
        self._unread &= {*outcome.unread}
        if self._unread and all(each.endings["completed"] for each in self.arms):
            keys = ", ".join(sorted(self._unread))
            raise ConfigKeyUnused(
                f"The program never read the configuration key {keys}.",
                "Expected every key that is given to be one that the program knows.",
                "Check the spelling after --set.",
                keys=keys,
            )

    def _take_value(self, arm: ArmTally, run: SweptRun, outcome: RunOutcome) -> None:
        value = outcome.summaries.get(self.summary.name)
        if value is None and outcome.how == "completed":
            raise SampleMissing(
                f"The run with seed {run.seed.value} reported no summary {self.summary.name!r}.",
                f"Expected every run of the program to call run.summary({self.summary.name!r}, value).",
                f"It reports {', '.join(outcome.summaries) or 'none'}: name one of those, or leave out --summary.",
                summary=self.summary.name,
            )
        if value is None or not abs(value) <= VALUE_MAX:  # a NaN, too
            return
        arm.values.append(value)
        arm.sequence.add(value)
        if self.summary.until is not None:
            arm.is_decided = 2 * arm.sequence.half_width(self.summary.alpha) <= self.summary.until

    @property
    def runs(self) -> int:
        """How many runs count."""
        return sum(arm.runs for arm in self.arms)

    @property
    def failures(self) -> int:
        """How many of them failed."""
        return sum(arm.failed for arm in self.arms)

    @property
    def endings(self) -> Counter[str]:
        """How many runs ended how."""
        return sum((arm.endings for arm in self.arms), Counter[str]())

    @property
    def exit_code(self) -> int:
        """0 where all runs ended well and verify, 1 where any failed, 2 where that, or a width, could not be told."""
        if self.failures:
            return 1
        is_open = self.summary.until is not None and not self.is_decided
        return (
            2 if is_open or self.endings[LOST] or len(self.results - Counter(PASS=self.runs)) else 0
        )

    def list_next_steps(self) -> list[NextStep]:
        """List the steps that follow: for each cause the command that looks at its first record."""
        return [
            NextStep("look at the first run that failed so", _look_at(group))
            for group in self.causes
            if group.record
        ] or [NextStep("list the records", f"twice ls {shlex.quote(str(self.folder))}")]

    def to_json(self) -> dict[str, Any]:
        """Return the document that ``twice sweep --json`` prints, ``twice.sweep-report/1``."""
        return {
            "format": FORMAT,
            "folder": str(self.folder),
            "seed": str(self.sweep.setup.seed.value),
            "seeds": self.sweep.seeds,
            "runs": self.runs,
            "made": self.made,
            "failed": self.failures,
            "counts": dict(sorted(self.endings.items())),
            "results": dict(sorted(self.results.items())),
            "arms": [
                {
                    "label": arm.label,
                    "values": dict(arm.values),
                    "runs": tally.runs,
                    "failed": tally.failed,
                    "counts": dict(sorted(tally.endings.items())),
                    "summary": tally.describe(self.summary) if self.summary.name else None,
                }
                for arm, tally in zip(self.sweep.arms, self.arms, strict=True)
            ],
            "causes": [
                {
                    **group.cause.to_json(),
                    "runs": group.runs,
                    "arms": dict(group.arms),
                    "record": group.record or None,
                    "command": _look_at(group) or None,
                }
                for group in self.causes
            ],
            "next": [step.to_json() for step in self.list_next_steps()],
        }

    def to_lines(self) -> Iterator[str]:
        """Yield the report for people; the first line answers."""
        several = len(self.arms) > 1
        counted = [f"{number:,} {how}" for how, number in sorted(self.endings.items())]
        failed = f"{self.failures:,} failed, {pluralize(len(self.causes), 'cause')}" if self.failures else "none failed"  # fmt: skip
        yield f"{pluralize(self.runs, 'run')}: {', '.join(counted)}; {failed}"
        if self.results:
            yield f"verified: {', '.join(f'{number:,} {result}' for result, number in sorted(self.results.items()))}"
        for arm, tally in zip(self.sweep.arms, self.arms, strict=True):
            name = f"{arm.label}: " if several else ""
            if self.summary.name:
                yield f"  {name}{self._say_summary(tally)}"
            elif several:
                yield f"  {name}{pluralize(tally.runs, 'run')}, {tally.failed:,} failed"
        for group in self.causes:
            split = ", ".join(f"{label} {number:,}" for label, number in sorted(group.arms.items()))
            yield f"  {group.runs:,}: {group.cause}{f' ({split})' if several else ''}"
            if group.record:
                yield f"      {_look_at(group)}"
        yield f"next: {self.list_next_steps()[0].command}"

    def _say_summary(self, tally: ArmTally) -> str:
        told = tally.describe(self.summary)
        if told["low"] is None:
            return f"{told['name']}: {pluralize(told['n'], 'value')}, too few for an interval"
        iqm = "" if told["iqm"] is None else f", interquartile mean {told['iqm']:.6g}"
        missing = f", {told['missing']:,} without one" if told["missing"] else ""
        stopped = ""
        if self.summary.until is not None:
            stopped = ", decided" if tally.is_decided else f", wider than {self.summary.until:g}"
        return (
            f"{told['name']} {told['mean']:.6g} [{told['low']:.6g}, {told['high']:.6g}] at {told['level']:.0%}{stopped}, "
            f"deviation {told['deviation']:.3g}{iqm}, {pluralize(told['n'], 'value')}{missing}"
        )


def _look_at(group: CauseGroup) -> str:
    if not group.record:
        return ""
    record = shlex.quote(group.record)
    is_difference = group.cause.kind == "differs"
    return f"twice verify {record} --diagnose" if is_difference else f"twice show {record}"
