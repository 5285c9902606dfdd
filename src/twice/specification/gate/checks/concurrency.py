"""Check 11: what runs at once, and which schedules the result hangs on.

It is about every system, whatever its tier, but one of which sheet 00 says with a reason that nothing runs at once,
and whose trial shows none. Below the tier that asks for the sheet, what the run shows is judged.

Invariant: no schedule passes that was not tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.diagnosis.vary.report import FactorResult
from twice.foundation.printable import pluralize
from twice.specification.gate.model import (
    GateFacts,
    Observed,
    Undecided,
    check,
    is_complete,
    make_absence,
    optional,
    require,
)
from twice.specification.gate.plan import ASYNCIO, RECORDED_SCHEDULE, SCHEDULES
from twice.specification.record_traits import count_concurrent
from twice.specification.tiers import Trait

_VAGUE: Final = ("mostly", "usually", "should", "on n cores", "practically")
_UNSEEN: Final = {
    "processes": "what other processes do at the same time stands in no record",
    "actors": "actors of a framework stand in no record",
}
_SCHEDULE_OF: Final = {"threads": "switch interval", "tasks": "task order"}
assert set(_SCHEDULE_OF.values()) == set(SCHEDULES), "every schedule that is varied is judged"
_CONTROL: Final = {
    "lockstep": 3, RECORDED_SCHEDULE: 2, "recorded": 2, "schedule-independent": 1, "independent": 1, "uncontrolled": 0,
}  # fmt: skip
"""How strong a strategy is, by its name in sheet 07 and in a verification."""


def find_trait_gaps(facts: GateFacts, number: str, trait: Trait) -> list[str]:
    """Return what the sheet of a trait lacks; of a trait that is denied, whether its reason is missing."""
    if facts.denies(trait):
        return [*facts.find_unexplained(trait), *facts.find_present(trait)]
    return facts.find_gaps(number, conditional=True)


def judge_factor(factor: FactorResult, same: str, differs: str, other: str) -> Iterator[str]:
    """Yield what a varied factor shows: a text for each of its ends, to which what was seen is added."""
    first = factor.divergence and factor.divergence.to_text().partition("\n")[0]
    told = first or factor.reason or factor.value
    if factor.result == "same":
        yield Observed(same)
    elif factor.result in {"differs", "failed"}:
        yield f"{differs} the run {factor.result}: {told}"
    else:
        yield Undecided(f"{other}: {told or factor.result}")


@check(
    11, "Concurrency strategy named", "07", "00", needs=("trial", "sealed", "varied", "code"),
    # What no run shows, and no code that could be read, cannot be said to be absent.
    absent=make_absence(
        Trait.CONCURRENCY,
        lambda facts, trial: trial.lineages is None
        or count_concurrent(trial.lineages)
        or optional(facts.code) is None,
        "the trial started none",
    ),
)  # fmt: skip
def check_concurrency(facts: GateFacts) -> Iterator[str]:
    """Check that 07 names each subsystem's strategy and schedule dependence, and that they work."""
    spec, gaps = facts.workspace, find_trait_gaps(facts, "07", Trait.CONCURRENCY)
    yield from gaps
    denies = facts.denies(Trait.CONCURRENCY)
    strategies = spec.column("07", "subsystems", "strategy")
    if not denies and is_complete(gaps):
        if RECORDED_SCHEDULE in strategies and not spec.text("07", "trace_format"):
            unsaid = "a schedule is recorded, and nobody said in which form"
            yield facts.tell("07", "trace_format", unsaid)
        for row in spec.rows("07", "subsystems"):
            how = str(row.get("how", "")).lower()
            vague = next((each for each in _VAGUE if each in how), None)
            if vague is not None:
                kept = f"{row.get('name')} is kept {vague!r}, which is no strategy"
                yield facts.tell("07", "subsystems", kept)
    started, factors = require(facts.trial).lineages, require(facts.varied)
    if started is None:
        yield Undecided("the trial's record does not say what it started")
        return
    seen = count_concurrent(started)
    counts = {model: pluralize(count, model.removesuffix("s")) for model, count in seen.items()}
    counted = ", ".join(counts.values()) or "nothing"
    if denies:
        said = f"by sheet 00 nothing runs at once, and the trial started {counted}"
        none = Observed("the trial started nothing")
        yield facts.tell("00", "traits", said) if seen else none
        return
    if spec.get("07"):
        named = spec.strings("07", "model")
        for model in (each for each in seen if each not in named):
            foreign = f"the trial started {counts[model]}, which 07 does not name"
            yield facts.tell("07", "model", foreign)
        for model in (each for each in named if each not in seen):
            why = _UNSEEN.get(model, "the trial started none")
            yield Undecided(facts.tell("07", "model", f"{why}, so nothing is told of {model}"))
        yield from _judge_strategies(facts)
    elif not facts.is_unasked("07"):
        return
    yield Observed(f"the trial started {counted} beside what started it")
    names = ", ".join(spec.column("07", "subsystems", "name"))
    where = ("07", "subsystems") if names else ("00", "traits")
    said = f"{names} hang on no schedule" if names else "no sheet says what decides the order"
    for name in (_SCHEDULE_OF[model] for model in seen):
        for factor in (each for each in factors if each.factor == name):
            parts = facts.tell(*where, f"{said}, and by another {name}")
            yield from judge_factor(
                factor,
                f"the same by another {name}, which is not every schedule",
                parts,
                f"another {name}",
            )


def _judge_strategies(facts: GateFacts) -> Iterator[str]:
    """Compare the strategy that 07 declares for each subsystem with the one that the trial's record has."""
    sealed = require(facts.sealed)
    for row in facts.workspace.rows("07", "subsystems"):
        name, declared = str(row.get("name")), str(row.get("strategy"))
        held = sealed.concurrency.get(name)
        said = f"{name} is declared {declared}, and the trial's record"
        if held is None:
            # That no schedule decides is shown by varying it.
            if declared == RECORDED_SCHEDULE:
                missing = f"{said} has no order of it: twice keeps that of {ASYNCIO}, by this name"
                yield facts.tell("07", "subsystems", missing)
        elif sealed.is_torn or sealed.result == "PARTIAL":
            yield facts.tell("07", "subsystems", f"{said} has a part of its order alone")
        elif _CONTROL[held["strategy"]] < _CONTROL[declared]:
            weaker = f"{said} has {held['strategy']} (grade {held['grade']}), which is weaker"
            yield facts.tell("07", "subsystems", weaker)
        else:
            yield Observed(f"{name} is {held['strategy']} (grade {held['grade']}) in the trial")
