"""Check 11: a strategy for everything that runs at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, absent, gaps, place, unexplained
from twice.specifying.gate.facts import Facts, Unavailable, there
from twice.specifying.gate.outcome import Found
from twice.specifying.tiers import Tier, Trait

_VAGUE: Final = ("mostly", "usually", "should", "on n cores", "practically")
_OPEN: Final = (
    "no run shows yet that a schedule is kept: lockstep, recorded schedules and schedules that are tried at "
    "random are not there yet"
)


def _precondition(facts: Facts) -> str:
    if facts.tier < Tier.M:
        return f"sheet 07 is asked for from tier M on; the tier is {facts.tier}"
    trial = facts.trial
    if not isinstance(trial, Unavailable) and trial.beside:
        return ""
    return absent(facts, Trait.CONCURRENCY)


def _said(facts: Facts) -> Found:
    if facts.situation.traits.get(Trait.CONCURRENCY) is False:
        return unexplained(facts, Trait.CONCURRENCY)
    found, sheet = gaps(facts, "07"), facts.sheet("07")
    if sheet is None or found.faults:
        return found
    return found + Found(tuple(_wrong(facts, sheet)))


def _wrong(facts: Facts, sheet: Artifact) -> Iterator[str]:
    strategies = {str(row.get("strategy")) for row in sheet.rows("subsystems")}
    if "recorded-schedule" in strategies and not sheet.said("trace_format"):
        where = place(facts, "07", "trace_format")
        yield f"{where}: a schedule is recorded, and nobody said in which form"
    for row in sheet.rows("subsystems"):
        how = str(row.get("how", "")).lower()
        vague = next((each for each in _VAGUE if each in how), None)
        if vague is not None:
            where = place(facts, "07", "subsystems")
            yield f"{where}: {row.get('name')} is kept {vague!r}, which is no strategy"


def _shown(facts: Facts) -> Found:
    beside = there(facts.trial).beside
    if facts.situation.traits.get(Trait.CONCURRENCY) is False:
        if not beside:
            return Found((), ("nothing ran beside the main program in the trial",))
        said = (
            f"by sheet 00 nothing runs at once, and beside the main program the trial had {beside}"
        )
        return Found((f"{place(facts, '00', 'traits')}: {said}",))
    return Found((), (f"beside the main program in the trial: {beside or 'nothing'}",), (_OPEN,))


CHECK: Final = Check(
    11,
    "Concurrency strategy named",
    "Does 07 name a strategy for each subsystem, and what depends on the schedule?",
    ("07", "00"),
    ("trial",),
    _said,
    _shown,
    _precondition,
)
