"""Traits of 00 that something was seen of: in a record, or at a place in the code.

That nothing was seen of a trait leaves it open: somebody has to look.

Invariant: a trait that 00 says is absent stays so; what speaks against it is told instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from twice.specifying.filling.proposal import Proposal
from twice.specifying.frontmatter import Row
from twice.specifying.kinds import UNKNOWN
from twice.specifying.tiers import Trait
from twice.specifying.workspace import Workspace


def from_presence(
    workspace: Workspace, seen: Mapping[Trait, str], source: str
) -> Iterator[Proposal]:
    """Propose what was seen.

    Args:
        workspace: whose 00 is asked what is said already.
        seen: for each trait that is there, where and what.
        source: where all of it was read, in words.
    """
    denied = {trait for trait, _ in _denied(workspace, seen)}
    told = {trait: each for trait, each in seen.items() if trait not in denied}
    value: list[Row] = [
        {
            "name": trait.value,
            "here": True if trait in told else UNKNOWN,
            "why": told.get(trait, UNKNOWN),
        }
        for trait in Trait
    ]
    if told:
        yield Proposal("00", "traits", value, f"{source}: {', '.join(sorted(told))}")


def against(workspace: Workspace, seen: Mapping[Trait, str]) -> list[str]:
    """Tell of what was seen though 00 says that it is not there."""
    return [f"00 says that there is no {trait}: {each}" for trait, each in _denied(workspace, seen)]


def _denied(workspace: Workspace, seen: Mapping[Trait, str]) -> Iterator[tuple[Trait, str]]:
    traits = workspace.situation().traits
    for trait in Trait:
        if trait in seen and traits.get(trait) is False:
            yield trait, seen[trait]
