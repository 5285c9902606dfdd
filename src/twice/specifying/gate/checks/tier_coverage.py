"""Check 1: every sheet that the tier needs is there, and says what every sheet says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.specifying.gate.check import Check, absent, place, shortened
from twice.specifying.gate.facts import Facts
from twice.specifying.gate.outcome import Found
from twice.specifying.promotion import forces
from twice.specifying.schema import COMMON
from twice.specifying.sheets import SHEETS
from twice.specifying.tiers import REQUIRED, Condition, Trait

_COMMON: Final = frozenset(item.key for item in COMMON)
_BY_OTHERS: Final = frozenset({"version"})  # check 9 asks for it
_LATER: Final = "99"  # written once the gate has passed


def _said(facts: Facts) -> Found:
    faults = (*_missing(facts), *_tiers(facts), *_traits(facts), *_common(facts))
    seen = [number for number in facts.workspace.artifacts if number != _LATER]
    absent = [
        f"{number} is not needed: {' and '.join(_unmet(facts, each) for each in conditions)}"
        for number, conditions in REQUIRED.items()
        if number not in {*facts.workspace.artifacts, *facts.workspace.missing(), _LATER}
    ]
    return Found(faults, (f"tier {facts.tier}; sheets {', '.join(seen)}", *absent), firm=True)


def _unmet(facts: Facts, condition: Condition) -> str:
    """Say why a condition does not hold."""
    if facts.tier < condition.tier:
        return f"it is asked for {condition.words}"
    assert condition.trait is not None, (
        "what holds at a tier whatever the system has is needed there"
    )
    return absent(facts, condition.trait) or f"by sheet 00 the system has no {condition.trait}"


def _missing(facts: Facts) -> Iterator[str]:
    for number in facts.workspace.missing():
        if number != _LATER:
            words = [each.words for each in REQUIRED[number] if each.holds(facts.situation)]
            why = (
                "every tier needs it" if "always" in words else f"it is needed {' or '.join(words)}"
            )
            yield f"sheet {number} ({SHEETS[number].title}) is not there, and {why}"


def _tiers(facts: Facts) -> Iterator[str]:
    scope, promise = facts.sheet("00"), facts.sheet("01")
    said = [each.said("tier") for each in (scope, promise) if each is not None]
    if not all(said):
        yield "the tier is not said in both 00 and 01"
    elif len(set(said)) > 1:
        yield f"{place(facts, '01', 'tier')}: the tier is {said[1]}, and 00 says {said[0]}"
    for force in forces(facts.workspace):
        # A sheet that is there beyond the tier is judged as it stands; only what it says can force more.
        if not force.caps and force.tier > facts.tier and force.key != "id":
            yield (
                f"{place(facts, force.sheet, force.key)}: {force.why}, which tier {force.tier} promises; "
                f"declared is {facts.tier}"
            )


def _traits(facts: Facts) -> Iterator[str]:
    scope = facts.sheet("00")
    if scope is None:
        return
    unknown = [each for each in Trait if each not in facts.situation.traits]
    if unknown:
        where = place(facts, "00", "traits")
        yield f"{where}: nobody said whether the system has {shortened(unknown)}"
    for row in scope.rows("traits"):
        if "why" not in row:
            yield f"{place(facts, '00', 'traits')}: no reason is given for {row.get('name')}"


def _common(facts: Facts) -> Iterator[str]:
    for number, sheet in facts.workspace.artifacts.items():
        for gap in () if number == _LATER else sheet.gaps(facts.situation):
            of_scope = number == "00" and gap.key not in {"tier", "traits"}
            if of_scope or gap.key in _COMMON - _BY_OTHERS:
                yield f"{sheet.path}:{gap.line}: {gap.key} is {gap.why}: {gap.says}"


CHECK: Final = Check(
    1,
    "Tier coverage",
    "Is every sheet there that the declared tier needs, and is each absence stated with its reason?",
    ("00", "01"),
    (),
    _said,
    is_waivable=False,
)
