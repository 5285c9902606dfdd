"""Whether a recorded run stays within its budget, and which rule and sheet answer when it does not.

Invariant: a budget that lies within the spread of the rounds is never judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from twice.specifying.costing.figures import Spread

By = Literal["wall", "cpu"]
Result = Literal["inside", "breach", "unknown", "no-budget"]


@dataclass(frozen=True, slots=True)
class Culprit:
    """The rule that costs most.

    Args:
        rule: its name.
        artifact: the number of the sheet that answers for it.
        percent: what it adds.
    """

    rule: str
    artifact: str
    percent: Spread


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a budget and the figures come to.

    Args:
        result: ``inside``, ``breach``, ``unknown`` where it cannot be told, ``no-budget`` where none is declared.
        why: one sentence.
        culprit: on a breach the rule that costs most; None where no rule was measured.
    """

    result: Result
    why: str
    culprit: Culprit | None = None

    @property
    def exit_code(self) -> int:
        """0 inside or without a budget, 1 on a breach, 2 when it could not be told."""
        return {"inside": 0, "no-budget": 0, "breach": 1, "unknown": 2}[self.result]


def judge(
    budget_percent: int | None,
    measured: Spread,
    culprits: list[Culprit],
    *,
    too_short: bool = False,
) -> Judgement:
    """Hold what recording adds against a budget.

    Args:
        budget_percent: how much slower a recorded run may be; None for no budget.
        measured: how much slower it is, in percent of the bare run.
        culprits: every rule that was measured.
        too_short: whether the bare run is so short that its percentages say nothing.
    """
    said = measured.to_cost(1, "%")
    if not measured.is_measurable:
        said = f"what recording adds is {said}"
    if budget_percent is None:
        said = f"recorded, it takes {said}" if measured.is_measurable else said
        return Judgement("no-budget", f"{said}; no budget is declared")
    if too_short:
        return Judgement("unknown", "the program is too short for its percentages to say anything")
    if measured.highest <= budget_percent:
        of = " of" if measured.is_measurable else ", below"
        return Judgement("inside", f"{said}{of} a budget of {budget_percent} %")
    if measured.lowest <= budget_percent:
        wide = measured.highest - measured.lowest
        off = abs(measured.median - budget_percent)
        return Judgement(
            "unknown",
            f"{said}, and the budget of {budget_percent} % lies within: the spread of {wide:.1f} "
            f"points is too wide for a difference of {off:.1f}",
        )
    # A cost that the rounds tell from none goes before one that they do not.
    told = [each for each in culprits if each.percent.lowest > 0] or culprits
    worst = max(told, key=lambda each: each.percent.median, default=None)
    why = f"{said} of a budget of {budget_percent} %"
    if worst is None:
        return Judgement("breach", f"{why}; no rule was measured by itself")
    why += f"; {worst.rule} costs most, {worst.percent.to_cost(1, '%')}, and sheet {worst.artifact} answers"
    return Judgement("breach", why, worst)
