"""What changed in a sheet, looked up in the tables: what is written anew, whether the class breaks, why.

Invariant: a change that no row lists breaks the class, unless 01 tolerates it by name or the sheet
itself says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from twice.specifying.graph.edges import dependents, downstream
from twice.specifying.graph.rows import Row, row_of, rows_for
from twice.specifying.graph.workflows import checks_for, sheets_for
from twice.specifying.versions import Step

UNLISTED: Final = "unlisted"


@dataclass(frozen=True, slots=True)
class Owed:
    """A sheet that has to be written anew.

    Args:
        sheet: its number.
        because: the number of the sheet that changed.
        row: the row that says so, or ``unlisted``.
        what: what of it.
        asks: the question on which it depends; "" when it always is.
        breaks: whether the change breaks the class.
    """

    sheet: str
    because: str
    row: str
    what: str
    asks: str
    breaks: bool

    @property
    def question(self) -> str:
        """What an answer refers to: ``ROW.SHEET``."""
        return f"{self.row}.{self.sheet}"


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
        asks: the question on which that depends; "" where nothing is open.
        owed: what has to be written anew.
    """

    sheet: str
    key: str
    before: object
    after: object
    row: str
    breaks: bool
    why: str
    asks: str
    owed: tuple[Owed, ...]


@dataclass(frozen=True, slots=True)
class Ground:
    """What changes are judged by.

    Args:
        tolerated: what 01 tolerates: ``KEY`` in every sheet, ``NN.KEY`` in one.
        own: for each key or row of the sheet, whether it says itself that it breaks the class.
        answers: for each question, whether it was answered with yes.
        present: the numbers of the sheets that are there.
        cause: the sheet that an event is attributed to; "" where nobody said.
    """

    tolerated: frozenset[str] = frozenset()
    own: Mapping[str, bool] | None = None
    answers: Mapping[str, bool] | None = None
    present: tuple[str, ...] = ()
    cause: str = ""

    def answer(self, question: str) -> bool:
        """Give an answer; yes where none was given."""
        return (self.answers or {}).get(question, True)


def changes(
    sheet: str, before: Mapping[str, object], after: Mapping[str, object], ground: Ground
) -> tuple[Change, ...]:
    """Give every deciding key that moved, in order, once for each row that lists it."""
    found: list[Change] = []
    for key in sorted(before.keys() | after.keys()):
        was, now = before.get(key), after.get(key)
        if was == now:
            continue
        listed = rows_for(sheet, key, was, now)
        found += [_listed(sheet, key, was, now, row, ground) for row in listed]
        if not listed:
            found.append(_unlisted(sheet, key, was, now, ground))
    return tuple(found)


def event(identifier: str, ground: Ground) -> Change:
    """Give what follows from an event that no sheet shows, named by its row."""
    row = row_of(identifier)
    assert row is not None, "the caller knows the rows"
    return _listed(row.sheet, "", None, None, row, ground)


def _listed(sheet: str, key: str, was: object, now: object, row: Row, ground: Ground) -> Change:
    breaks, asks, why = row.breaks, "", f"the table lists it: {row.change}"
    if row.asks:
        breaks = row.breaks and ground.answer(row.id)
        asks = "" if row.id in (ground.answers or {}) else row.asks
        why = f"{why}; it depends: {row.asks} {'yes' if breaks else 'no'}"
    breaks, why = _own(sheet, key, row.id, ground, (breaks, why))
    owed = tuple(_owed(row, breaks, ground))
    return Change(sheet, key, was, now, row.id, breaks, why, asks, owed)


def _unlisted(sheet: str, key: str, was: object, now: object, ground: Ground) -> Change:
    named = {key, f"{sheet}.{key}"} & ground.tolerated
    breaks = sheet == "01" or not named
    why = (
        f"01 tolerates {min(named)!r}"
        if not breaks
        else "no table lists it, and 01 does not tolerate it"
    )
    breaks, why = _own(sheet, key, UNLISTED, ground, (breaks, why))
    # What is tolerated by name concerns nobody else; anything else concerns what rests on the sheet.
    above = dependents(sheet) if breaks else ()
    owed = tuple(
        Owed(each, sheet, UNLISTED, f"what it says of {key}", "", breaks)
        for each in above
        if each in ground.present and each != "99"
    )
    return Change(sheet, key, was, now, UNLISTED, breaks, why, "", owed)


def _own(
    sheet: str, key: str, row: str, ground: Ground, otherwise: tuple[bool, str]
) -> tuple[bool, str]:
    """Let a sheet's own class-breaking events go before the table; 01 always breaks."""
    own = ground.own or {}
    said = own.get(key, own.get(row))
    if sheet == "01":
        return True, "any change of 01 breaks the class"
    if said is None:
        return otherwise
    return said, f"the sheet's own class_breaking says so: {key or row}"


def _owed(row: Row, breaks: bool, ground: Ground) -> Iterator[Owed]:
    told: set[str] = set()
    for emission in row.emits:
        for sheet in _meant(emission.sheet, row.sheet, ground):
            one = Owed(sheet, row.sheet, row.id, emission.what, emission.asks, breaks)
            if ground.answer(one.question) or not emission.asks:
                told.add(sheet)
                yield one
    for sheet in sheets_for(row.id):
        for each in _meant(sheet, row.sheet, ground):
            if each not in told and each != row.sheet and not _answered_no(row, each, ground):
                told.add(each)
                yield Owed(each, row.sheet, row.id, "the update workflow runs it again", "", breaks)


def _answered_no(row: Row, sheet: str, ground: Ground) -> bool:
    return any(
        each.sheet == sheet and each.asks and not ground.answer(f"{row.id}.{sheet}")
        for each in row.emits
    )


def _meant(sheet: str, changed: str, ground: Ground) -> tuple[str, ...]:
    """Give the sheets that a row's word stands for; only those that are there."""
    if sheet == "*":
        meant: tuple[str, ...] = tuple(each for each in downstream(changed) if each != "99")
    elif sheet == "cause":
        meant = (ground.cause,) if ground.cause else ()
    elif sheet == "*tier":
        meant = ("07", "08", "09", "10", "11", "12")
    else:
        meant = (sheet,)
    return tuple(each for each in meant if each in ground.present)


def step_needed(found: tuple[Change, ...]) -> Step:
    """Give the step that a version has to take at least."""
    if any(each.breaks for each in found):
        return Step.MAJOR
    if any(each.row != UNLISTED for each in found):
        return Step.MINOR
    return Step.PATCH if found else Step.NONE


def checks_after(sheet: str, found: tuple[Change, ...]) -> tuple[int, ...]:
    """Give the checks of the gate to run again, those of the sheets that are owed included."""
    checks = set(checks_for(sheet, (each.row for each in found)))
    for change in found:
        for owed in change.owed:
            checks |= set(checks_for(owed.sheet, ()))
    return tuple(sorted(checks))
