"""Where a value can end, from harmless to grave.

Invariant: the order of the members is the order of gravity; a value's outcome is its gravest one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from twice.checker.findings import OpenEnd, Reach


class Use(IntEnum):
    """Where a value ends."""

    ERASED = 0
    """Sorted, counted, looked up: the order is gone."""
    DROPPED = 1
    """Nobody reads it."""
    TIMING = 2
    """A time limit, a delay, a measured duration of work that is repeated."""
    LABEL = 3
    """A name of a run, a folder, a temporary file, a message."""
    TELEMETRY = 4
    """A log, a metric, a progress bar."""
    UNSEEN = 5
    """Code that was not followed."""
    ADDED = 6
    """Added up: sums of floats round, in each order otherwise."""
    RETURNED = 7
    """Handed to whoever calls."""
    BRANCH = 8
    """Decides what the program does."""
    STATE = 9
    """Kept in an object or a container that outlives the function."""
    STORED = 10
    """Written to a file or sent."""
    KEY = 11
    """A key under which something is found again."""
    DIGEST = 12
    """Hashed."""
    SEED = 13
    """Seeds a generator."""

    @property
    def reach(self) -> Reach:
        """How loud it is."""
        if self <= Use.TELEMETRY:
            return Reach.QUIET
        return Reach.UNSEEN if self is Use.UNSEEN else Reach.LOUD

    @property
    def words(self) -> str:
        """What becomes of the value, as a part of a sentence."""
        return _WORDS[self]


_WORDS: dict[Use, str] = {
    Use.ERASED: "its order is lost on the way",
    Use.DROPPED: "nobody reads it",
    Use.TIMING: "it limits or measures time",
    Use.LABEL: "it ends in a name or a message",
    Use.TELEMETRY: "it ends in telemetry",
    Use.UNSEEN: "it is handed on",
    Use.ADDED: "what comes is added up, and sums of floats round",
    Use.RETURNED: "it is returned",
    Use.BRANCH: "it decides a branch",
    Use.STATE: "it becomes state",
    Use.STORED: "it is written out",
    Use.KEY: "it becomes a key",
    Use.DIGEST: "it is hashed",
    Use.SEED: "it seeds a generator",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way of a value and its end.

    Args:
        use: where it ends.
        node: the syntax where it ends.
        way: the syntax that it passed, the source first.
        open: where the value leaves the file.
    """

    use: Use
    node: ast.AST
    way: tuple[ast.AST, ...] = ()
    open: tuple[OpenEnd, ...] = ()

    def words(self, line: int) -> str:
        """Say what becomes of the value, as the end of a sentence; its node stands in that line."""
        return f"{self.use.words} in line {line}"


_LEAVING: Final = {Use.UNSEEN: OpenEnd("unseen"), Use.RETURNED: OpenEnd("returned")}


def gravest(outcomes: Iterable[Outcome], otherwise: Outcome) -> Outcome:
    """Give the gravest outcome, the first of several, or another when there is none.

    If it leaves the file there, all ends that leave it are the outcome's.
    """
    every = list(outcomes)
    best = max(every, key=lambda each: each.use, default=otherwise)
    if best.use not in _LEAVING:
        return replace(best, open=()) if best.open else best
    ends = [end for each in every for end in each.open or filter(None, [_LEAVING.get(each.use)])]
    is_open = any(each.function for each in ends)
    return replace(best, open=tuple(dict.fromkeys(ends)) if is_open else ())
