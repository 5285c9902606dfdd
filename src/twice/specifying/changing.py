"""From sheets and lock to what changed, and back: moving versions, acknowledging, locking.

Nothing here asks: answers to the tables' questions come in, and what has no answer counts as yes.

Invariant: the lock never says of a sheet what the sheet does not say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from twice.errors import BumpRefused
from twice.specifying.artifact import Artifact
from twice.specifying.graph.changes import Change, Ground, Owed, changes, checks_after, step_needed
from twice.specifying.lock import Lock, Locked
from twice.specifying.tiers import Tier
from twice.specifying.versions import Step, Version
from twice.specifying.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of one sheet since its version was last moved.

    Args:
        number: the sheet.
        state: ``new``, ``gone``, ``changed``, ``bumped`` (changed, and its version moved in the file) or ``same``.
        found: every deciding key that moved.
        locked: the version in the lock; "" for a new sheet.
        version: the version in the file; "" for one that is gone.
        needed: the step that the changes need at least.
        checks: the checks of the gate to run again.
    """

    number: str
    state: str
    found: tuple[Change, ...]
    locked: str
    version: str
    needed: Step
    checks: tuple[int, ...]

    @property
    def breaks(self) -> bool:
        """Whether the class breaks."""
        return any(each.breaks for each in self.found)

    @property
    def step(self) -> Step:
        """The step that the file's version has taken."""
        if not (self.locked and self.version):
            return Step.NONE
        return Version.parse(self.version).step_from(Version.parse(self.locked))

    @property
    def is_honest(self) -> bool:
        """Whether the version moved at least as far as the changes need."""
        return self.state in {"new", "same"} or self.step >= self.needed


def ground_of(
    workspace: Workspace, number: str, answers: Mapping[str, bool], cause: str = ""
) -> Ground:
    """Give what the changes of a sheet are judged by."""
    promise, sheet = workspace.get("01"), workspace.get(number)
    own = {
        str(row["change"]): row["breaks"] is True
        for row in (sheet.rows("class_breaking") if sheet else [])
        if "change" in row and "breaks" in row
    }
    tolerated = frozenset(promise.listed("tolerates") if promise else ())
    return Ground(tolerated, own, answers, tuple(workspace.artifacts), cause)


def changed(
    workspace: Workspace, lock: Lock, number: str, answers: Mapping[str, bool] | None = None
) -> Changed:
    """Say what became of a sheet since its version was last moved."""
    now, then = workspace.get(number), lock.sheets.get(number)
    version, locked = (now.version if now else ""), (then.version if then else "")
    if then is None or now is None:
        state = "new" if now else "gone"
        return Changed(number, state, (), locked, version, Step.NONE if now else Step.MAJOR, ())
    before = _tolerance_of_then(lock, number)
    ground = ground_of(workspace, number, answers or {})
    if before is not None:
        ground = replace(ground, tolerated=before)
    found = changes(number, then.values, now.deciding(), ground)
    state = "same" if not found else "changed"
    if found and version != locked:
        state = "bumped"
    return Changed(
        number,
        state,
        found,
        locked,
        version,
        step_needed(found),
        checks_after(number, found) if found else (),
    )


def _tolerance_of_then(lock: Lock, number: str) -> frozenset[str] | None:
    """Give what 01 tolerated when it was locked: a change does not permit itself."""
    promise = lock.sheets.get("01")
    said = promise.values.get("tolerates") if promise else None
    if promise is None or number == "01":
        return None
    return frozenset(each for each in said or [] if isinstance(each, str))


def locked_as(artifact: Artifact) -> Locked:
    """Give what the lock says of a sheet as it is."""
    return Locked(artifact.version, str(artifact.digest()), artifact.deciding())


def bumped(
    workspace: Workspace, lock: Lock, number: str, step: Step, answers: Mapping[str, bool]
) -> tuple[Artifact, Lock, Changed]:
    """Move a sheet's version, and write down what is owed for it.

    Args:
        workspace: the sheets.
        lock: the lock.
        number: the sheet.
        step: how far; NONE for as far as the changes need.
        answers: to the questions of the tables.

    Returns:
        The sheet with its new version, the lock, and what had changed.

    Raises:
        BumpRefused: E-SPEC-004: the step is smaller than the changes need, or nothing is there to be moved for.
    """
    sheet = workspace.need(number, "its version is to be moved")
    told = changed(workspace, lock, number, answers)
    if told.state == "new":
        return sheet, lock.with_sheet(number, locked_as(sheet)), told
    owes = [each for each in lock.owed if each.sheet == number]
    if told.state == "same" and not owes and step is Step.NONE:
        raise BumpRefused(
            f"Sheet {number} says what it said at {told.locked}, and nothing is owed by it.",
            "Expected a change that a new version stands for.",
            "Change the sheet first, or name the step: --patch",
            sheet=number,
        )
    least = max(told.needed, Step.PATCH)
    wanted = step if step is not Step.NONE else max(least, told.step)
    if wanted < told.needed:
        first = next(each for each in told.found if each.breaks or told.needed < Step.MAJOR)
        raise BumpRefused(
            f"A {wanted.word} step is too small for sheet {number}: {first.key} changed; {first.why}.",
            f"Expected a {told.needed.word} step.",
            f"Say so: twice spec bump {number} --{told.needed.word}",
            sheet=number,
        )
    version = Version.parse(told.locked).after(wanted)
    moved = sheet.with_value("version", str(version))
    owed = tuple(each for change in told.found for each in change.owed if each.sheet != number)
    return moved, lock.with_sheet(number, locked_as(moved)).owing(owed), told


def acknowledged(workspace: Workspace, lock: Lock, number: str, because: str, reason: str) -> Lock:
    """Leave a sheet as it is although another changed.

    Raises:
        BumpRefused: E-SPEC-004: nothing is owed, or the change breaks the class and the tier is M or above.
    """
    owed = [each for each in lock.owed if each.sheet == number and each.because == because]
    if not owed:
        raise BumpRefused(
            f"Sheet {number} owes nothing to sheet {because}.",
            "Expected one of: " + (_pairs(lock.owed) or "nothing is owed at all") + ".",
            "See: twice spec changed",
            sheet=number,
        )
    if any(each.breaks for each in owed) and workspace.situation().tier >= Tier.M:
        raise BumpRefused(
            f"The change of sheet {because} breaks the class, so sheet {number} cannot be left as it is.",
            f"Expected it to be written anew, from tier M on; the tier is {workspace.situation().tier}.",
            f"Read it again, mend it, and move its version: twice spec bump {number}",
            sheet=number,
        )
    left = tuple(each for each in lock.owed if each not in owed)
    said = {"sheet": number, "because": because, "reason": reason}
    return replace(lock, owed=left, acknowledged=(*lock.acknowledged, said))


def _pairs(owed: tuple[Owed, ...]) -> str:
    return ", ".join(sorted({f"{each.sheet} to {each.because}" for each in owed}))
