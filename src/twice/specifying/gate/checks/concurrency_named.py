"""Check 11: a strategy for everything that runs at once, held against what a run started and how it came out.

Strategies A and C say that no schedule decides, so the run is made again by other schedules. Strategy B
says that one decides and is recorded; twice records none, so that nothing can be told of it.

Invariant: no schedule passes that was not tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, absent, gaps, place, unexplained
from twice.specifying.gate.facts import Facts, Unavailable, there
from twice.specifying.gate.outcome import Found
from twice.specifying.gate.plan import SCHEDULES
from twice.specifying.shown import at_once
from twice.specifying.tiers import Tier, Trait

_VAGUE: Final = ("mostly", "usually", "should", "on n cores", "practically")
_UNSEEN: Final = {
    "processes": "what other processes do at the same time stands in no record",
    "actors": "actors of a framework stand in no record",
}
_BY: Final = {"threads": "switch interval", "tasks": "task order"}


def _precondition(facts: Facts) -> str:
    if facts.tier < Tier.M:
        return f"sheet 07 is asked for from tier M on; the tier is {facts.tier}"
    reason = absent(facts, Trait.CONCURRENCY)
    trial = facts.trial
    if not reason or isinstance(trial, Unavailable) or trial.lineages is None:
        return ""  # What no run shows cannot be said to be absent.
    return "" if at_once(trial.lineages) else f"{reason}; and the trial started none"


def _said(facts: Facts) -> Found:
    if facts.situation.traits.get(Trait.CONCURRENCY) is False:
        return unexplained(facts, Trait.CONCURRENCY)
    found, sheet = gaps(facts, "07"), facts.sheet("07")
    if sheet is None or found.faults:
        return found
    return found + Found(tuple(_wrong(facts, sheet)))


def _wrong(facts: Facts, sheet: Artifact) -> Iterator[str]:
    if "recorded-schedule" in _strategies(sheet) and not sheet.said("trace_format"):
        where = place(facts, "07", "trace_format")
        yield f"{where}: a schedule is recorded, and nobody said in which form"
    for row in sheet.rows("subsystems"):
        how = str(row.get("how", "")).lower()
        vague = next((each for each in _VAGUE if each in how), None)
        if vague is not None:
            where = place(facts, "07", "subsystems")
            yield f"{where}: {row.get('name')} is kept {vague!r}, which is no strategy"


def _strategies(sheet: Artifact) -> set[str]:
    return {str(row.get("strategy")) for row in sheet.rows("subsystems")}


def _shown(facts: Facts) -> Found:
    started = there(facts.trial).lineages
    if started is None:
        return Found(open=("the trial's record does not say what it started",))
    seen = at_once(started)
    counted = ", ".join(f"{count} {model}" for model, count in seen.items()) or "nothing"
    if facts.situation.traits.get(Trait.CONCURRENCY) is False:
        if not seen:
            return Found((), ("the trial started nothing that runs beside something else",))
        said = f"by sheet 00 nothing runs at once, and the trial started {counted}"
        return Found((f"{place(facts, '00', 'traits')}: {said}",))
    sheet = facts.sheet("07")
    if sheet is None:
        return Found()
    found = Found((), (f"the trial started {counted} beside what started it",))
    return found + _models(facts, sheet, seen) + _schedules(facts, sheet, seen)


def _models(facts: Facts, sheet: Artifact, seen: Mapping[str, int]) -> Found:
    """Hold the models that 07 names against those that ran."""
    where, named = place(facts, "07", "model"), sheet.listed("model")
    faults = [
        f"{where}: the trial started {count} {model}, which 07 does not name"
        for model, count in seen.items()
        if model not in named
    ]
    unseen = [
        f"{where}: {_UNSEEN.get(model, 'the trial started none')}, so nothing is told of {model}"
        for model in named
        if model not in seen
    ]
    return Found(tuple(faults), (), tuple(unseen))


def _schedules(facts: Facts, sheet: Artifact, seen: Mapping[str, int]) -> Found:
    """Hold the strategies against runs by other schedules."""
    faults, evidence, unknown = [], [], []
    if "recorded-schedule" in _strategies(sheet):
        unknown.append("twice records no schedule yet, so no run shows that one is kept")
    factors = there(facts.varied).factors
    where = place(facts, "07", "subsystems")
    held = ", ".join(str(row.get("name")) for row in sheet.rows("subsystems"))
    for factor in (_BY[model] for model in seen):
        if factor not in factors:
            continue
        result, told = factors[factor]
        if result == "same":
            evidence.append(f"the same by another {factor}")
        elif result in {"differs", "failed"}:
            faults.append(
                f"{where}: {held} hang on no schedule, and by another {factor} the run {result}: {told}"
            )
        else:
            unknown.append(f"another {factor}: {told or result}")
    return Found(tuple(faults), tuple(evidence), tuple(unknown))


assert set(_BY.values()) == set(SCHEDULES), "every schedule that is varied is judged"

CHECK: Final = Check(
    11,
    "Concurrency strategy named",
    "Does 07 name a strategy for each subsystem, and what depends on the schedule, and does it hold?",
    ("07", "00"),
    ("trial", "varied"),
    _said,
    _shown,
    _precondition,
)
