"""Check 14: every question to the world goes through one layer, or is said to lie outside of the promise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, absent, gaps, outside, place, unexplained, within
from twice.specifying.gate.facts import Facts, Unavailable, there
from twice.specifying.gate.outcome import Found
from twice.specifying.tiers import Tier, Trait, required

_SOURCE_OF: Final = {
    "clock": "clock", "entropy": "entropy", "env": "environment", "environ": "environment",
    "environment": "environment", "fs": "filesystem", "file": "filesystem", "files": "filesystem",
    "net": "network", "network": "network", "process": "process", "stdin": "stdin", "call": "call",
}  # fmt: skip
"""Families of recorded reads, and what sheet 10 calls them."""


_OPERATION: Final = re.compile(r"\w+(?:\.\w+)*")


def _precondition(facts: Facts) -> str:
    if _asked(facts) or facts.sheet("10") is not None:
        return ""
    return absent(facts, Trait.EXTERNAL_EFFECTS)


def _asked(facts: Facts) -> tuple[str, ...]:
    return () if isinstance(facts.trial, Unavailable) else tuple(facts.trial.asked)


def _said(facts: Facts) -> Found:
    sheet = facts.sheet("10")
    found = Found(tuple(_cap(facts)), firm=True)
    if sheet is not None and facts.situation.traits.get(Trait.EXTERNAL_EFFECTS) is False:
        what = ", ".join(str(row.get("what")) for row in sheet.rows("inventory")) or "nothing"
        where = place(facts, "00", "traits")
        said = f"{where}: the system is said to ask nothing, and {sheet.path} lists {what}"
        return found + Found((said,))
    found += unexplained(facts, Trait.EXTERNAL_EFFECTS)
    if sheet is None:
        if "10" in required(facts.situation):
            return found + gaps(facts, "10")
        return found + Found(evidence=(f"sheet 10 is not asked for at tier {facts.tier}",))
    return found + gaps(facts, "10")


def _cap(facts: Facts) -> Iterator[str]:
    """Hold 01 and 13 to what cannot be substituted."""
    sheet, promise, cost = facts.sheet("10"), facts.sheet("01"), facts.sheet("13")
    rows = sheet.rows("inventory") if sheet else []
    outside = [str(row.get("what")) for row in rows if row.get("substitutable") is False]
    closed = promise.get("closed_world") if promise else None
    if promise is not None and closed is None:
        yield f"{place(facts, '01', 'closed_world')}: nobody said whether every effect can be recorded"
    if outside and closed is True:
        where = place(facts, "01", "closed_world")
        yield f"{where}: it is true, and by sheet 10 {outside[0]} cannot be substituted"
    if (outside or closed is False) and facts.tier > Tier.S:
        what = f"{outside[0]} cannot be substituted" if outside else "the world is not closed"
        where = place(facts, "01", "tier")
        yield f"{where}: {what}, so the tier is S at most; declared is {facts.tier}"
    boundary = {str(row.get("what")) for row in (cost.rows("boundary") if cost else [])}
    for what in outside:
        if cost is not None and what not in boundary:
            where = place(facts, "13", "boundary")
            yield f"{where}: {what} cannot be substituted, and does not stand at the boundary of the promise"


def _shown(facts: Facts) -> Found:
    trial, sealed, code = there(facts.trial), there(facts.sealed), there(facts.code)
    sheet, scope = facts.sheet("10"), facts.sheet("00")
    faults = list(_sealed(facts))
    if facts.situation.traits.get(Trait.EXTERNAL_EFFECTS) is False and trial.asked:
        where = place(facts, "00", "traits")
        faults.append(
            f"{where}: the system is said to ask nothing, and the trial asked {', '.join(trial.asked)}"
        )
    audited = (sheet.listed("audit") if sheet else []) or (scope.listed("sources") if scope else [])
    accepted = {str(row.get("place")) for row in (sheet.rows("accepted") if sheet else [])}
    raw = [each for each in code.raw if within(each.path, audited)]
    faults += [
        f"{each} goes beside the effects layer"
        for each in raw
        if not {each.path, f"{each.path}:{each.function}"} & accepted
    ]
    faults += [f"{each}: a mock is for tests" for each in code.mocks if within(each.path, audited)]
    if sheet is not None:
        faults += _inventory(facts, sheet)
        faults += outside(facts, "10", "audit", trial.files)
    asked = ", ".join(f"{name} {count} times" for name, count in trial.asked.items())
    evidence = (
        (
            f"{sum(within(each.path, audited) for each in code.asked)} questions to the world in "
            f"{', '.join(audited)}, {len(raw)} beside the layer, {len(accepted)} places are accepted"
        ),
        (
            f"asked in the trial: {asked or 'nothing'}; by libraries for themselves: "
            f"{', '.join(trial.asked_by_libraries) or 'nothing'}"
        ),
        f"its replay, cut off from the world: {sealed.result}",
    )
    return Found(tuple(faults), evidence)


def _sealed(facts: Facts) -> Iterator[str]:
    sealed = there(facts.sealed)
    for each in sealed.beside:
        yield f"the trial reached the world beside the layer: {each}"
    # A replay that parts in its state is check 10's, whatever the world has to do with it.
    if sealed.result != "PASS" and not sealed.beside and sealed.of_effects:
        at = f" at {sealed.first}" if sealed.first else ""
        yield f"the sealed replay of the trial gives {sealed.result}{at}"


def _inventory(facts: Facts, sheet: Artifact) -> Iterator[str]:
    where = place(facts, "10", "inventory")
    listed: dict[str, set[str]] = {}
    for row in sheet.rows("inventory"):
        named = _OPERATION.findall(str(row.get("what", "")))
        listed.setdefault(str(row.get("source")), set()).update(named)
    for name in there(facts.trial).asked:
        source = _SOURCE_OF.get(name.partition(".")[0], "call")
        if source not in listed:
            yield f"{where}: the trial asked {name}, and no {source} is listed"
        elif name not in listed[source]:
            yield f"{where}: the trial asked {name}, and no row of {source} names it in what"
    forbidden = set(sheet.listed("forbidden"))
    for each in there(facts.code).asked:
        name = each.what.partition("(")[0]
        if name in forbidden and within(each.path, sheet.listed("audit")):
            yield f"{each}: sheet 10 forbids {name}"


CHECK: Final = Check(
    14,
    "External-effects substitution",
    "Does every question to the world go through one layer, and is what cannot be replayed said?",
    ("10", "01", "13", "00"),
    ("trial", "sealed", "code"),
    _said,
    _shown,
    _precondition,
)
