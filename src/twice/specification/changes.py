"""What changed in the sheets since their versions were last moved, and moving them.

Each deciding key that moved is looked up in the table: what is written anew, whether the class breaks, why. A change
that no row lists breaks the class, unless 01 tolerates it by name or the sheet itself says otherwise.

Invariant: the lock never says of a sheet what the sheet does not say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from twice.errors import UsageError
from twice.specification.change_table import (
    CHECKS_OF_SHEET,
    ROWS,
    ChangeRow,
    list_dependents,
    list_downstream,
)
from twice.specification.errors import BumpRefused
from twice.specification.lock import Lock, Locked, Owed
from twice.specification.sheet import Sheet
from twice.specification.tiers import Tier
from twice.specification.workspace import Workspace

UNLISTED: Final = "unlisted"
_VERSIONING: Final = 9  # the check that is run again after every change


class Step(IntEnum):
    """How far a version moves; ordered."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3

    @property
    def word(self) -> str:
        """As the command line says it."""
        return self.name.lower()


def move_version(version: str, step: Step) -> str:
    """Give the version that a step leads to, as major.minor.patch."""
    major, minor, patch = map(int, version.split("."))
    if step is Step.MAJOR:
        return f"{major + 1}.0.0"
    if step is Step.MINOR:
        return f"{major}.{minor + 1}.0"
    return f"{major}.{minor}.{patch + 1}" if step is Step.PATCH else version


def find_step(before: str, after: str) -> Step:
    """Say which step leads from one version to a later one; NONE to the same or an earlier one."""
    then, now = (list(map(int, each.split("."))) for each in (before, after))
    if now <= then:
        return Step.NONE
    return Step.MAJOR if now[0] != then[0] else Step.MINOR if now[1] != then[1] else Step.PATCH


@dataclass(frozen=True, slots=True)
class Change:
    """One deciding key that moved.

    Args:
        sheet: number of the sheet.
        key: the key; ``text`` for what stands below the head.
        before: what it was; None where it was not there.
        after: what it is; None where it is gone.
        row: id of the row that lists it, or ``unlisted``.
        breaks: whether it breaks the class.
        why: why it is said to, or not to.
        owed: what has to be written anew.
        checks: checks of the gate that the row asks for.
    """

    sheet: str
    key: str
    before: object
    after: object
    row: str
    breaks: bool
    why: str
    owed: tuple[Owed, ...]
    checks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeContext:
    """What changes of one sheet are judged by.

    Args:
        tolerated: what 01 tolerates: ``KEY`` in every sheet, ``NN.KEY`` in one.
        own: for each key or row of the sheet, whether it says itself that it breaks the class.
        present: the numbers of the sheets that are there.
    """

    tolerated: frozenset[str] = frozenset()
    own: Mapping[str, bool] | None = None
    present: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SheetChange:
    """What became of one sheet since its version was last moved.

    Args:
        number: the sheet.
        state: ``new``, ``gone``, ``changed``, ``bumped`` (changed, and its version moved in the file) or ``same``.
        found: every deciding key that moved.
        locked: the version in the lock; "" for a new sheet.
        version: the version in the file; "" for one that is gone.
    """

    number: str
    state: str
    found: tuple[Change, ...]
    locked: str
    version: str

    @property
    def breaks(self) -> bool:
        """Whether the class breaks."""
        return any(each.breaks for each in self.found)

    @property
    def needed(self) -> Step:
        """The step that the changes need at least."""
        if self.breaks or self.state == "gone":
            return Step.MAJOR
        if any(each.row != UNLISTED for each in self.found):
            return Step.MINOR
        return Step.PATCH if self.found else Step.NONE

    @property
    def step(self) -> Step:
        """The step that the file's version has taken."""
        if not (self.locked and self.version):
            return Step.NONE
        return find_step(self.locked, self.version)

    @property
    def is_honest(self) -> bool:
        """Whether the version moved at least as far as the changes need."""
        return self.state in {"new", "same"} or self.step >= self.needed

    @property
    def checks(self) -> tuple[int, ...]:
        """The checks of the gate to run again, those of the sheets that are owed included."""
        if not self.found:
            return ()
        sheets = {self.number, *(owed.sheet for each in self.found for owed in each.owed)}
        checks = {check for sheet in sheets for check in CHECKS_OF_SHEET[sheet]}
        listed = {check for each in self.found for check in each.checks}
        return tuple(sorted({_VERSIONING} | checks | listed))


def compare_sheet(workspace: Workspace, lock: Lock, number: str) -> SheetChange:
    """Say what became of a sheet since its version was last moved."""
    now, then = workspace.get(number), lock.sheets.get(number)
    version, locked = (now.version if now else ""), (then.version if then else "")
    if then is None or now is None:
        return SheetChange(number, "new" if now else "gone", (), locked, version)
    locked_promise = lock.sheets.get("01")
    tolerated: object = workspace.strings("01", "tolerates")
    if locked_promise is not None and number != "01":
        # What 01 tolerated when it was locked: a change does not permit itself.
        tolerated = locked_promise.values.get("tolerates")
    context = ChangeContext(
        frozenset(each for each in tolerated if isinstance(each, str))
        if isinstance(tolerated, list)
        else frozenset(),
        {
            str(row["change"]): row["breaks"] is True
            for row in now.rows("class_breaking")
            if "change" in row and "breaks" in row
        },
        tuple(workspace.sheets),
    )
    found = tuple(list_changes(number, then.values, now.deciding(), context))
    state = "same" if not found else "changed" if version == locked else "bumped"
    return SheetChange(number, state, found, locked, version)


def list_changes(
    sheet: str, before: Mapping[str, object], after: Mapping[str, object], context: ChangeContext
) -> Iterator[Change]:
    """Give every deciding key that moved, in order, once for each row that lists it."""
    own = context.own or {}
    for key in sorted(before.keys() | after.keys()):
        was, now = before.get(key), after.get(key)
        if was == now:
            continue
        listed: list[ChangeRow | None] = [
            row for row in ROWS if row.sheet == sheet and key in row.keys and row.moved(was, now)
        ]
        for row in listed or [None]:
            identifier = row.id if row else UNLISTED
            named = {key, f"{sheet}.{key}"} & context.tolerated
            said = own.get(key, own.get(identifier))
            if sheet == "01":
                breaks, why = True, "any change of 01 breaks the class"
            elif said is not None:
                breaks, why = said, f"the sheet's own class_breaking says so: {key}"
            elif row:
                breaks, why = row.breaks, f"the table lists it: {row.change}"
            elif named:
                breaks, why = False, f"01 tolerates {min(named)!r}"
            else:
                breaks, why = True, "no table lists it, and 01 does not tolerate it"
            owed = tuple(
                Owed(each, sheet, identifier, what, breaks)
                for each, what in _list_emissions(sheet, key, row, breaks=breaks)
                if each in context.present and each not in {sheet, "99"}
            )
            checks = row.checks if row else ()
            yield Change(sheet, key, was, now, identifier, breaks, why, owed, checks)


def _list_emissions(
    sheet: str, key: str, row: ChangeRow | None, *, breaks: bool
) -> Iterator[tuple[str, str]]:
    if row is None:
        # What is tolerated by name concerns nobody else; anything else concerns what rests on the sheet.
        yield from ((each, f"what it says of {key}") for each in list_dependents(sheet) if breaks)
        return
    for each, what in row.emits.items():
        yield from (
            ((below, what) for below in list_downstream(sheet)) if each == "*" else [(each, what)]
        )


def to_lock_entry(artifact: Sheet) -> Locked:
    """Give what the lock says of a sheet as it is."""
    return Locked(artifact.version, str(artifact.digest()), artifact.deciding())


def bump_version(
    workspace: Workspace, lock: Lock, number: str, step: Step
) -> tuple[Sheet, Lock, SheetChange]:
    """Move a sheet's version, and write down what is owed for it.

    Args:
        workspace: the sheets.
        lock: the lock.
        number: the sheet.
        step: how far; NONE for as far as the changes need.

    Returns:
        The sheet with its new version, the lock, and what had changed.

    Raises:
        BumpRefused: E-SPEC-004: the step is smaller than the changes need, or nothing is there to be moved for.
    """
    sheet = workspace.require(number, "its version is to be moved")
    told = compare_sheet(workspace, lock, number)
    if told.state == "new":
        return sheet, lock.with_sheet(number, to_lock_entry(sheet)), told
    owes = any(each.sheet == number for each in lock.owed)
    if told.state == "same" and not owes and step is Step.NONE:
        raise BumpRefused(
            f"Sheet {number} says what it said at {told.locked}, and nothing is owed by it.",
            "Expected a change that a new version stands for.",
            "Change the sheet first, or name the step: --patch",
            sheet=number,
        )
    wanted = step if step is not Step.NONE else max(told.needed, Step.PATCH, told.step)
    if wanted < told.needed:
        first = next(each for each in told.found if each.breaks or told.needed < Step.MAJOR)
        raise BumpRefused(
            f"A {wanted.word} step is too small for sheet {number}: {first.key} changed; {first.why}.",
            f"Expected a {told.needed.word} step.",
            f"Say so: twice spec bump {number} --{told.needed.word}",
            sheet=number,
        )
    moved = sheet.with_value("version", move_version(told.locked, wanted))
    owed = tuple(each for change in told.found for each in change.owed)
    return moved, lock.with_sheet(number, to_lock_entry(moved)).owing(owed), told


def acknowledge(workspace: Workspace, lock: Lock, number: str, reason: str) -> Lock:
    """Leave a sheet as it is although others changed.

    Raises:
        UsageError: E-USE-001: the reason is empty.
        BumpRefused: E-SPEC-004: nothing is owed, or a change breaks the class and the tier is M or above.
    """
    if not reason.strip():
        raise UsageError("The reason is empty.", "Expected why nothing has to change.", "Say it.")
    owed = [each for each in lock.owed if each.sheet == number]
    if not owed:
        raise BumpRefused(
            f"Sheet {number} owes nothing.",
            f"Expected one of: {', '.join(sorted({each.sheet for each in lock.owed})) or 'none does'}.",
            "See: twice spec changed",
            sheet=number,
        )
    tier = workspace.situation().tier
    breaking = next((each.because for each in owed if each.breaks), None)
    if breaking is not None and tier >= Tier.M:
        raise BumpRefused(
            f"The change of sheet {breaking} breaks the class, so sheet {number} cannot be left as it is.",
            f"Expected it to be written anew, from tier M on; the tier is {tier}.",
            f"Read it again, mend it, and move its version: twice spec bump {number}",
            sheet=number,
        )
    causes = sorted({each.because for each in owed})
    said = ({"sheet": number, "because": because, "reason": reason} for because in causes)
    left = tuple(each for each in lock.owed if each.sheet != number)
    return replace(lock, owed=left, acknowledged=(*lock.acknowledged, *said))
