"""Everything that the checks judge, as one value.

A kind of evidence is there, or it is ``Unavailable`` with the reason.

Invariant: facts hold no file handle, no process, nothing that changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Final, TypeVar

from twice.specifying.artifact import Artifact
from twice.specifying.gate import evidence as seen
from twice.specifying.gate.machine import Varied
from twice.specifying.lock import Lock
from twice.specifying.scaffold.lock import DriftStatus
from twice.specifying.tiers import Situation, Tier
from twice.specifying.workspace import Workspace

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Evidence that is not there.

    Args:
        reason: why, as a clause.
    """

    reason: str


NOT_GATHERED: Final = Unavailable("it was not gathered")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known.

    Args:
        workspace: the sheets.
        lock: what they said when their versions were last moved.
        today: the day by which waivers are judged.
        code: and all that follow: one kind of evidence each.
    """

    workspace: Workspace
    lock: Lock
    today: date
    code: seen.Code | Unavailable = NOT_GATHERED
    taken: seen.Taken | Unavailable = NOT_GATHERED
    trial: seen.Trial | Unavailable = NOT_GATHERED
    sealed: seen.Sealed | Unavailable = NOT_GATHERED
    reseeded: seen.Reseeded | Unavailable = NOT_GATHERED
    varied: Varied | Unavailable = NOT_GATHERED
    vector: seen.Vector | Unavailable = NOT_GATHERED
    restored: seen.Restored | Unavailable = NOT_GATHERED
    planted: seen.Planted | Unavailable = NOT_GATHERED
    operations: tuple[seen.Tried, ...] | Unavailable = NOT_GATHERED
    policies: seen.Policies | Unavailable = NOT_GATHERED
    encoded: seen.Encoded | Unavailable = NOT_GATHERED
    suite: seen.Suite | Unavailable = NOT_GATHERED
    costs: seen.Costs | Unavailable = NOT_GATHERED
    handoff: seen.Handoff | Unavailable = NOT_GATHERED
    laid: tuple[DriftStatus, ...] | Unavailable = NOT_GATHERED
    situation: Situation = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "situation", self.workspace.situation())

    @property
    def tier(self) -> Tier:
        """The declared tier."""
        return self.situation.tier

    def sheet(self, number: str) -> Artifact | None:
        """Give a sheet, when it is there."""
        return self.workspace.get(number)


def there(value: T | Unavailable) -> T:
    """Give evidence that a check named among its needs."""
    assert not isinstance(value, Unavailable), (
        "a check is shown only what it needs and what is there"
    )
    return value
