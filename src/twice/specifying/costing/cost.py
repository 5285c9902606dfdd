"""What determinism costs a program, as a value: JSON for scripts and evidence, text for people.

Invariant: the same figures give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from twice.specifying.costing.budget import By, Judgement
from twice.specifying.costing.figures import Added, Spread, Took
from twice.specifying.costing.rules import Rule, Unswitched

FORMAT: Final = "twice.cost/1"


@dataclass(frozen=True, slots=True)
class RuleCost:
    """What one rule costs.

    Args:
        rule: the rule.
        off: what it adds to a run in which everything else holds.
        alone: what it adds to a bare run; None where that was not measured.
        same: whether the run without it came to the same; None when it could not be told.
    """

    rule: Rule
    off: Added
    alone: Added | None
    same: bool | None

    @property
    def performance(self) -> str:
        """Its cost in time, as a cell of sheet 13."""
        wall = self.off.wall_percent.to_cost(1, "%")
        return f"{wall} wall, {self.off.cpu_percent.to_cost(1, '%')} CPU"

    @property
    def storage(self) -> str:
        """Its cost in bytes of the record, as a cell of sheet 13."""
        return self.off.size.to_cost(0, "bytes")


@dataclass(frozen=True, slots=True)
class OtherCost:
    """What another way to keep a rule takes more or less than the declared one.

    Args:
        rule: the rule.
        name: the other way.
        more: than everything as declared.
    """

    rule: Rule
    name: str
    more: Added


@dataclass(frozen=True, slots=True)
class Cost:
    """What was measured on one program.

    Args:
        about: program, seed, configuration, code, machine: plain values.
        rounds: how often every run was made.
        by: which clock the budget is judged by.
        everything: the runs in which every declared rule holds.
        bare: the runs in which none does.
        overhead: what all rules add together.
        rules: what each adds.
        others: other ways to keep them.
        unmeasured: rules without a figure.
        budget_percent: what is declared; None for nothing.
        judgement: what the budget comes to.
        caveats: what the figures do not say.
    """

    about: Mapping[str, Any]
    rounds: int
    by: By
    everything: Sequence[Took]
    bare: Sequence[Took]
    overhead: Added
    rules: Sequence[RuleCost]
    others: Sequence[OtherCost]
    unmeasured: Sequence[Unswitched]
    budget_percent: int | None
    judgement: Judgement
    caveats: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        """As ``twice cost --json`` prints it."""
        culprit = self.judgement.culprit
        return {
            "format": FORMAT,
            "result": self.judgement.result,
            "why": self.judgement.why,
            **self.about,
            "rounds": self.rounds,
            "budget": None
            if self.budget_percent is None
            else {
                "percent": self.budget_percent,
                "by": self.by,
                "measured": self.overhead.percent(self.by).to_json(2),
                "costliest": None
                if culprit is None
                else {"rule": culprit.rule, "artifact": culprit.artifact},
            },
            "everything": _figures(self.everything),
            "bare": _figures(self.bare),
            "overhead": self.overhead.to_json(),
            "total_percent": round(self.overhead.percent(self.by).median, 2) + 0.0,
            "rules": [
                {
                    "rule": each.rule.name,
                    "artifact": each.rule.artifact,
                    "what": each.rule.what,
                    "off": each.rule.off,
                    "performance": each.performance,
                    "storage": each.storage,
                    "adds": each.off.to_json(),
                    "adds_alone": None if each.alone is None else each.alone.to_json(),
                    "same_run": each.same,
                }
                for each in self.rules
            ],
            "others": [
                {
                    "rule": each.rule.name,
                    "artifact": each.rule.artifact,
                    "name": each.name,
                    "takes_more": each.more.to_json(),
                }
                for each in self.others
            ],
            "unmeasured": [
                {"rule": each.name, "artifact": each.artifact, "reason": each.why}
                for each in self.unmeasured
            ],
            "caveats": list(self.caveats),
        }

    def to_text(self) -> str:
        """For people; the first line answers."""
        words = {
            "inside": "INSIDE",
            "breach": "BREACH",
            "unknown": "UNKNOWN",
            "no-budget": "MEASURED",
        }
        lines = [f"{words[self.judgement.result]}: {self.judgement.why}", ""]
        lines += [self._line("everything", self.everything), self._line("bare", self.bare), ""]
        header = ["rule", "sheet", "wall", "CPU", "alone, wall", "record"]
        ordered = sorted(self.rules, key=lambda each: -each.off.percent(self.by).median)
        rows = [header, *([*_cells(each)] for each in ordered)]
        lines += _table(rows)
        if self.others:
            rows = [["instead", "rule", "wall", "CPU", "record"]]
            rows += [
                [
                    each.name,
                    each.rule.name,
                    each.more.wall_percent.to_text(1, "%"),
                    each.more.cpu_percent.to_text(1, "%"),
                    each.more.size.to_text(0, "bytes"),
                ]
                for each in self.others
            ]
            lines += ["", *_table(rows)]
        if self.unmeasured:
            lines += ["", "unmeasured"]
            lines += [f"  {each.name} ({each.artifact}): {each.why}" for each in self.unmeasured]
        lines += [f"note: {each}" for each in self.caveats]
        return "\n".join(lines)

    def _line(self, name: str, took: Sequence[Took]) -> str:
        figures = _figures(took)
        wall, cpu, size = figures["wall_s"], figures["cpu_s"], figures["bytes"]
        ticks = figures["ticks_per_s"]
        speed = "" if ticks is None else f", {ticks['median']:,.0f} ticks/s"
        return (
            f"  {name:<10}  {wall['median'] * 1e3:,.1f} ms ({wall['lowest'] * 1e3:,.1f} to "
            f"{wall['highest'] * 1e3:,.1f}), {cpu['median'] * 1e3:,.1f} ms CPU{speed}, "
            f"{size['median']:,} bytes"
        )


def _cells(cost: RuleCost) -> list[str]:
    same = " (another run)" if cost.same is False else ""
    return [
        f"{cost.rule.name}{same}",
        cost.rule.artifact,
        cost.off.wall_percent.to_cost(1, "%"),
        cost.off.cpu_percent.to_cost(1, "%"),
        "" if cost.alone is None else cost.alone.wall_percent.to_cost(1, "%"),
        cost.storage,
    ]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  "
        + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _figures(took: Sequence[Took]) -> dict[str, Any]:
    """Give the figures of one kind of run."""
    ticks = [each.ticks / each.wall_s for each in took if each.ticks and each.wall_s > 0]
    return {
        "wall_s": Spread.of([each.wall_s for each in took]).to_json(6),
        "cpu_s": Spread.of([each.cpu_s for each in took]).to_json(6),
        "start_cpu_s": Spread.of([each.start_cpu_s for each in took]).to_json(6),
        "ticks_per_s": Spread.of(ticks).to_json(1) if len(ticks) == len(took) else None,
        "bytes": Spread.of([each.size for each in took]).to_json(0),
    }
