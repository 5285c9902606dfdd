"""What determinism costs a program, as a value: figures with their spread, the budget, JSON and text.

A figure is a median with the lowest and the highest round; differences are taken round by round. A percentage is
told only where its spread carries it.

Invariant: the same runs give the same bytes, and a budget that lies within the spread is never judged.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from twice.foundation.printable import pluralize
from twice.specification.cost.rules import CostRule, Unmeasured
from twice.specification.location import FOLDER
from twice.specification.workspace import open_workspace
from twice.writing import make_folder, write

FORMAT: Final = "twice.cost/1"
EVIDENCE: Final = "evidence/cost.json"
NUMBER: Final = "13"
ClockName = Literal["wall", "cpu"]
_SHORT_S: Final = 0.05
"""A bare run that takes less than this is shorter than what starting and stopping a process moves."""
_LEAST_S: Final = 1e-6  # what a clock tells apart: a program that takes no time has no percentages


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """What one run took, and what its process said of it.

    Seconds are of the program itself, its record closed, with all threads and waited-for children; ``start_cpu_s``
    before it was loaded. ``seen`` is what the process read back, by rule; ``outcome`` a digest of what the run came to,
    "" when it could not be told; ``files`` digests of the program's files.
    """

    wall_s: float
    cpu_s: float
    start_cpu_s: float
    ticks: int
    size_bytes: int
    seen: Mapping[str, str] = field(default_factory=dict)
    outcome: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MeasuredReplay:
    """How long a run took to record and to replay, in the same round, and its ticks."""

    recorded_s: float
    replayed_s: float
    ticks: int

    @property
    def ratio(self) -> float:
        """How many times as long as the recording it took."""
        return self.replayed_s / max(self.recorded_s, _LEAST_S)


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over the rounds: their median, the least and the greatest."""

    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Spread:
        """Take one sample per round, at least one."""
        assert samples, "a figure has at least one round"
        return cls(statistics.median(samples), min(samples), max(samples))

    @property
    def carries_figure(self) -> bool:
        """Whether every round lies on one side of zero, and they lie closer together than the median to zero."""
        # The side alone would not do: two rounds of pure noise agree on it every second time.
        is_one_sided = self.lowest > 0 or self.highest < 0
        return is_one_sided and self.highest - self.lowest < abs(self.median)

    def to_json(self, digits: int) -> dict[str, float]:
        """Plain values, rounded; whole numbers where ``digits`` is 0."""
        every = {"median": self.median, "lowest": self.lowest, "highest": self.highest}
        return {
            name: round(value, digits) + 0.0 if digits else round(value)
            for name, value in every.items()
        }

    def to_percent(self) -> str:
        """For people: ``+12 % (8 to 14)``, or that it is not measurable; a decimal where the spread carries one."""
        digits = 1 if self.highest - self.lowest < 1 else 0
        median, low, high = (
            f"{each:+,.{digits}f}" for each in (self.median, self.lowest, self.highest)
        )
        if self.carries_figure:
            return f"{median} % ({low} to {high})"
        return f"not measurable ({low} to {high} %)"

    def to_bytes(self) -> str:
        """For people: ``+1,000 bytes``, with its spread where there is one."""
        median, low, high = (f"{each:+,.0f}" for each in (self.median, self.lowest, self.highest))
        return f"{median} bytes" if low == high else f"{median} bytes ({low} to {high})"


Overhead = Mapping[str, Spread]
"""What something adds, round by round, by unit: the keys of ``_DIGITS``; percentages are of that round's bare run."""
_DIGITS: Final = {"wall_s": 6, "cpu_s": 6, "wall_percent": 2, "cpu_percent": 2, "bytes": 0}


def compute_overhead(
    on: Sequence[MeasuredRun], off: Sequence[MeasuredRun], bare: Sequence[MeasuredRun]
) -> Overhead:
    """Give what runs took more than others; all three hold the same rounds, in order."""
    rounds = list(zip(on, off, bare, strict=True))
    wall = [(a.wall_s - b.wall_s, c.wall_s) for a, b, c in rounds]
    cpu = [(a.cpu_s - b.cpu_s, c.cpu_s) for a, b, c in rounds]
    return {
        "wall_s": Spread.of([more for more, _ in wall]),
        "cpu_s": Spread.of([more for more, _ in cpu]),
        "wall_percent": Spread.of([100 * more / max(whole, _LEAST_S) for more, whole in wall]),
        "cpu_percent": Spread.of([100 * more / max(whole, _LEAST_S) for more, whole in cpu]),
        "bytes": Spread.of([a.size_bytes - b.size_bytes for a, b, _ in rounds]),
    }


def _to_json(overhead: Overhead) -> dict[str, object]:
    return {name: spread.to_json(_DIGITS[name]) for name, spread in overhead.items()}


@dataclass(frozen=True, slots=True)
class RuleCost:
    """What one rule adds to a run in which everything else holds, and whether the run without it came to the same."""

    rule: CostRule
    adds: Overhead
    same: bool | None

    @property
    def performance(self) -> str:
        """Its cost in time, for people."""
        wall, cpu = (self.adds[f"{clock}_percent"].to_percent() for clock in ("wall", "cpu"))
        return f"{wall} wall, {cpu} CPU"


@dataclass(frozen=True, slots=True)
class BudgetJudgement:
    """Whether the figures are within the budget, why, and on a breach the rule that costs most."""

    result: Literal["inside", "breach", "unknown", "no-budget"]
    why: str
    costliest: CostRule | None = None

    @property
    def exit_code(self) -> int:
        """0 inside or without a budget, 1 on a breach, 2 when it could not be told."""
        return {"inside": 0, "no-budget": 0, "breach": 1, "unknown": 2}[self.result]


def judge(
    budget_percent: int | None,
    adds: Spread,
    rules: Sequence[tuple[CostRule, Spread]],
    *,
    too_short: bool = False,
) -> BudgetJudgement:
    """Hold what recording adds, in percent of the bare run, against a budget; None for no budget.

    A bare run that is ``too_short`` has no percentages that say anything.
    """
    what = "recording adds" if adds.carries_figure else "what recording adds is"
    said = f"{what} {adds.to_percent()}"
    if budget_percent is None:
        return BudgetJudgement("no-budget", f"{said}; no budget is declared")
    if too_short:
        why = "the program is too short for its percentages to say anything"
        return BudgetJudgement("unknown", why)
    said += f", with a budget of {budget_percent} %"
    if adds.highest <= budget_percent:
        return BudgetJudgement("inside", said)
    if adds.lowest <= budget_percent:
        # The whole spread has to lie on one side: a median alone would turn with the weather of a shared machine.
        wide, off = adds.highest - adds.lowest, abs(adds.median - budget_percent)
        why = f"{said}: the spread of {wide:.0f} points is too wide for a difference of {off:.0f}"
        return BudgetJudgement("unknown", why)
    # A cost that the rounds tell from none goes before one that they do not.
    told = [each for each in rules if each[1].lowest > 0] or rules
    if not told:
        return BudgetJudgement("breach", f"{said}; no rule was measured by itself")
    rule, most = max(told, key=lambda each: each[1].median)
    why = f"{said}; {rule.name} costs most, {most.to_percent()}, and sheet {rule.artifact} answers"
    return BudgetJudgement("breach", why, rule)


@dataclass(frozen=True, slots=True)
class Cost:
    """What was measured on one program: the runs with every rule, the bare ones, and those without each rule.

    ``about`` has program, seed, configuration, code and machine; ``by`` is the clock that the budget is judged by;
    ``replays`` has one for each round, where they were asked for.
    """

    about: Mapping[str, Any]
    by: ClockName
    everything: Sequence[MeasuredRun]
    bare: Sequence[MeasuredRun]
    without: Sequence[tuple[CostRule, Sequence[MeasuredRun]]]
    unmeasured: Sequence[Unmeasured]
    budget_percent: int | None
    replays: Sequence[MeasuredReplay] = ()

    @property
    def overhead(self) -> Overhead:
        """What all rules add together."""
        return compute_overhead(self.everything, self.bare, self.bare)

    @property
    def rules(self) -> list[RuleCost]:
        """What each rule adds."""
        outcomes, costs = {each.outcome for each in self.everything}, []
        for rule, runs in self.without:
            found = {each.outcome for each in runs}
            # Where runs with everything are not alike, a difference says nothing about the rule.
            is_told = "" not in outcomes | found and len(outcomes) == 1
            adds = compute_overhead(self.everything, runs, self.bare)
            costs.append(RuleCost(rule, adds, found == outcomes if is_told else None))
        return costs

    @property
    def is_short(self) -> bool:
        """Whether the program is so short that its percentages say nothing."""
        return max(each.wall_s for each in self.bare) < _SHORT_S

    @property
    def judgement(self) -> BudgetJudgement:
        """Whether the figures are within the budget."""
        unit = f"{self.by}_percent"
        figures = [(each.rule, each.adds[unit]) for each in self.rules]
        adds = self.overhead[unit]
        return judge(self.budget_percent, adds, figures, too_short=self.is_short)

    @property
    def caveats(self) -> Iterator[str]:
        """Yield what the figures do not say."""
        outcomes = {each.outcome for each in self.everything}
        if self.is_short:
            start_s = max(each.start_cpu_s for each in self.everything)
            yield (
                f"the bare program runs for less than {_SHORT_S * 1e3:.0f} ms, and starting its process takes "
                f"{start_s * 1e3:.0f} ms of CPU: the start dominates, and percentages say little; give it more to "
                "do, with --set"
            )
        if "" in outcomes:
            yield "twice could not read the result of a run, and cannot say whether a rule changes it"
        elif len(outcomes) > 1:
            yield (
                "each run has another result, because of its reads from the world: twice cannot say "
                "whether a rule changes the result"
            )
        if not any(each.ticks for each in self.everything):
            yield "the run has no ticks: state between its start and its end is not compared"

    def to_json(self) -> dict[str, Any]:
        """As ``twice cost --json`` prints it and the specification keeps it."""
        judgement, overhead = self.judgement, self.overhead
        percent, costliest = overhead[f"{self.by}_percent"], judgement.costliest
        budget = {
            "percent": self.budget_percent,
            "by": self.by,
            "measured": percent.to_json(2),
            "costliest": costliest and {"rule": costliest.name, "artifact": costliest.artifact},
        }
        return {
            "format": FORMAT,
            "result": judgement.result,
            "why": judgement.why,
            **self.about,
            "rounds": len(self.everything),
            "budget": None if self.budget_percent is None else budget,
            "everything": _summarise(self.everything),
            "bare": _summarise(self.bare),
            "overhead": _to_json(overhead),
            "total_percent": round(percent.median, 2) + 0.0,
            "rules": [
                {
                    "rule": each.rule.name,
                    "artifact": each.rule.artifact,
                    "what": each.rule.what,
                    "performance": each.performance,
                    "storage": each.adds["bytes"].to_bytes(),
                    "adds": _to_json(each.adds),
                    "same_run": each.same,
                }
                for each in self.rules
            ],
            "unmeasured": [
                {"rule": each.name, "artifact": each.artifact, "reason": each.why}
                for each in self.unmeasured
            ],
            "caveats": list(self.caveats),
            **({"replay": _summarise_replays(self.replays)} if self.replays else {}),
        }

    def to_text(self) -> str:
        """For people; the first line answers."""
        judgement = self.judgement
        word = "measured" if judgement.result == "no-budget" else judgement.result
        lines = [f"{word.upper()}: {judgement.why}", ""]
        for name, runs in (("everything", self.everything), ("bare", self.bare)):
            took = _summarise(runs)
            wall, cpu, ticks = took["wall_s"], took["cpu_s"], took["ticks_per_s"]
            lines.append(
                f"  {name:<10}  {wall['median'] * 1e3:,.1f} ms ({wall['lowest'] * 1e3:,.1f} to "
                f"{wall['highest'] * 1e3:,.1f}), {cpu['median'] * 1e3:,.1f} ms CPU"
                + (f", {ticks['median']:,.0f} ticks/s" if ticks else "")
                + f", {pluralize(took['bytes']['median'], 'byte')}"
            )
        if self.replays:
            lines.append(_describe_replays(_summarise_replays(self.replays)))
        rows = [("rule", "sheet", "wall", "CPU", "record")]
        for each in sorted(self.rules, key=lambda each: -each.adds[f"{self.by}_percent"].median):
            name = each.rule.name + " (another run)" * (each.same is False)
            figures = (
                each.adds["wall_percent"].to_percent(),
                each.adds["cpu_percent"].to_percent(),
            )
            rows.append((name, each.rule.artifact, *figures, each.adds["bytes"].to_bytes()))
        widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        lines += [
            "",
            *("  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows),
        ]
        if self.unmeasured:
            lines += ["", "unmeasured"]
            lines += [f"  {each.name} ({each.artifact}): {each.why}" for each in self.unmeasured]
        return "\n".join([*lines, *(f"note: {each}" for each in self.caveats)])


def _summarise(runs: Sequence[MeasuredRun]) -> dict[str, Any]:
    """Give the figures of one kind of run; ticks in a second where every run has some."""
    ticks = [each.ticks / each.wall_s for each in runs if each.ticks and each.wall_s > 0]
    return {
        "wall_s": Spread.of([each.wall_s for each in runs]).to_json(6),
        "cpu_s": Spread.of([each.cpu_s for each in runs]).to_json(6),
        "start_cpu_s": Spread.of([each.start_cpu_s for each in runs]).to_json(6),
        "ticks_per_s": Spread.of(ticks).to_json(1) if len(ticks) == len(runs) else None,
        "bytes": Spread.of([each.size_bytes for each in runs]).to_json(0),
    }


def _summarise_replays(replays: Sequence[MeasuredReplay]) -> dict[str, Any]:
    """Give the figures of replays: their time, ticks in a second, and the ratio to the recording of the same round."""
    rates = [each.ticks / max(each.replayed_s, _LEAST_S) for each in replays if each.ticks]
    return {
        "wall_s": Spread.of([each.replayed_s for each in replays]).to_json(6),
        "ticks_per_s": Spread.of(rates).to_json(1) if len(rates) == len(replays) else None,
        "ratio": Spread.of([each.ratio for each in replays]).to_json(3),
    }


def _describe_replays(took: Mapping[str, Any]) -> str:
    wall, ratio, ticks = took["wall_s"], took["ratio"], took["ticks_per_s"]
    return (
        f"  replay      {wall['median'] * 1e3:,.1f} ms ({wall['lowest'] * 1e3:,.1f} to {wall['highest'] * 1e3:,.1f})"
        + (f", {ticks['median']:,.0f} ticks/s" if ticks else "")
        + f", {ratio['median']:.2f} times as long as the recording ({ratio['lowest']:.2f} to {ratio['highest']:.2f})"
    )


def write_evidence(project: Path, cost: Cost, *, base: str = FOLDER) -> None:
    """Keep the figures in a specification, whole or not at all; sheet 13 refers to the file.

    Raises:
        WorkspaceRefused: E-SPEC-002: there is no sheet 13, or no workspace. SheetRefused: E-SPEC-001.
        OutputUnwritable: E-OUTPUT-002: nothing was changed.
    """
    open_workspace(project, base).require(NUMBER, "it is what names the file of costs")
    evidence = project / base / EVIDENCE
    make_folder(evidence.parent)
    write(evidence, (json.dumps(cost.to_json(), indent=2, ensure_ascii=False) + "\n").encode())
