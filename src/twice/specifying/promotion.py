"""When a sheet says more than its tier holds: what forces a higher one, and what caps it.

Invariant: a forced tier is never waived; it is declared, or the sheet is taken back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from twice.specifying.tiers import Situation, Tier, required
from twice.specifying.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Force:
    """What a sheet says that belongs to another tier.

    Args:
        tier: the least tier that holds it, or for a cap the highest.
        sheet: which sheet says so.
        key: in which key.
        why: one sentence.
        caps: whether it is a cap.
    """

    tier: Tier
    sheet: str
    key: str
    why: str
    caps: bool = False


def forces(workspace: Workspace) -> Iterator[Force]:
    """Give everything that forces or caps the tier, in the order of the sheets."""
    promise = workspace.get("01")
    if promise is not None:
        if promise.said("scope") == "cross-host" or promise.said("axis") == "reproducibility":
            yield Force(Tier.L, "01", "scope", "the promise reaches other machines")
        if promise.get("closed_world") is False:
            yield Force(Tier.S, "01", "closed_world", "an effect cannot be substituted", caps=True)
    for number, key, why in _FROM_M:
        sheet = workspace.get(number)
        if sheet is not None and sheet.get(key) is not None and not sheet.is_memo:
            yield Force(Tier.M, number, key, why)
    concurrency = workspace.get("07")
    if concurrency is not None and "processes" in concurrency.listed("model"):
        yield Force(Tier.M, "07", "model", "several processes work together")
    effects = workspace.get("10")
    if effects is not None:
        for row in effects.rows("inventory"):
            if row.get("substitutable") is False:
                why = f"{row.get('what')} cannot be substituted"
                yield Force(Tier.S, "10", "inventory", why, caps=True)
    properties = workspace.get("12")
    if properties is not None and properties.get("stateful") is True:
        yield Force(Tier.XL, "12", "stateful", "sessions are tried in any order")


_FROM_M = (
    ("04", "ownership", "several processes keep state"),
    ("05", "cross_process", "compare-points of several processes are joined"),
)


def forced_tier(workspace: Workspace) -> Tier:
    """Give the least tier that holds what the sheets say; the declared one where nothing forces more."""
    declared = workspace.situation().tier
    return max([declared, *(each.tier for each in forces(workspace) if not each.caps)])


def cap(workspace: Workspace) -> Force | None:
    """Give what caps the tier; None where nothing does."""
    return next((each for each in forces(workspace) if each.caps), None)


def needed_at(workspace: Workspace, tier: Tier) -> tuple[str, ...]:
    """Give the sheets that a tier needs and that are not there."""
    now = workspace.situation()
    there = Situation(tier, now.determinism_class, now.traits)
    return tuple(each for each in required(there) if each not in workspace.artifacts)
