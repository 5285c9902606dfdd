"""The values of a check, from the violation of a rule to the finding that is printed, and their one codec.

A rule gives a ``Violation``: the place, why it breaks a promise, and how far the value was seen to travel. It does
not know the promise. The policy turns it into a ``Finding`` with a severity and a certainty.

Invariant: ``from_json(to_json(one)) == one``; both give plain lists, because reading a few thousand of them from the
cache has to take milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Self

from twice.foundation.severity import Severity


class Reach(StrEnum):
    """How far the value in question was seen to travel."""

    LOUD = "loud"
    """It reaches state, a returned value, a file, a digest, a seed or a branch."""
    UNSEEN = "unseen"
    """It is handed to code that was not followed."""
    QUIET = "quiet"
    """It ends in telemetry, in a label, in a time limit, or nowhere."""


class Certainty(StrEnum):
    """What kind of statement a finding is; how bad it would be is its severity."""

    WRONG = "wrong"
    """Two runs differ by it, and no declaration makes that right."""
    CHOICE = "choice"
    """The program may do it: it is right once it is recorded, pinned or declared."""
    UNKNOWN = "unknown"
    """No effect on the result was seen, or the value could not be followed to its end."""


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """A stretch of a file.

    Args:
        line: first line, from 1.
        column: first column in characters, from 1.
        end_line: last line, from 1.
        end_column: the column after the last character, from 1.
    """

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Step:
    """One station on the way of a value: where, and what happens to it there."""

    place: SourceSpan
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text at a place; an empty stretch inserts."""

    place: SourceSpan
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits of one file that belong together.

    Args:
        title: what it does, in the imperative.
        safe: whether the program's meaning stays the same, except for the order that was unspecified.
        edits: disjoint.
    """

    title: str
    safe: bool
    edits: tuple[Edit, ...]


class OpenEnd(NamedTuple):
    """Where a value leaves its file before it was seen to end; ``analysis.links`` follows it on.

    Args:
        way: ``into`` a parameter of a function of another file, ``out`` of a function of this one to its callers;
            ``unseen`` or ``returned`` for one that cannot be followed.
        function: the qualified name of the function; "" when it cannot be followed.
        parameter: its position in the call, or its keyword.
        is_order: whether the order of a collection is followed, and not a value.
        back: where what the function returns ends in this file, as the number of its ``Use``.
    """

    way: str
    function: str = ""
    parameter: str = ""
    is_order: bool = False
    back: int = 0


@dataclass(frozen=True, slots=True)
class Violation:
    """What a rule says of a place, before the promise is known.

    Args:
        rule: the rule's name.
        place: where.
        message: one sentence with the names in it.
        why: one sentence: how this makes two runs differ, and what it flows into.
        reach: how far the value was seen to travel.
        confidence: 0 to 1: how sure the reading is, not how bad it would be.
        symbol: qualified name of the enclosing function or class; "" at the top of a module.
        statement: the statement's text, white space normalised: what a fingerprint is made of.
        steps: the way of the value, from the source to where it ends.
        fix: what would correct it, when that is known.
        severity: how badly it weighs, where the project says so and not the rule.
        open: where the value leaves the file, if that decides how far it travels.
    """

    rule: str
    place: SourceSpan
    message: str
    why: str
    reach: Reach = Reach.LOUD
    confidence: float = 0.9
    symbol: str = ""
    statement: str = ""
    steps: tuple[Step, ...] = ()
    fix: Fix | None = None
    severity: Severity | None = None
    open: tuple[OpenEnd, ...] = ()

    def to_json(self) -> list[Any]:
        """Give plain values for the cache and for the facts of a file."""
        fix = self.fix
        return [
            self.rule,
            _span(self.place),
            self.message,
            self.why,
            self.reach.value,
            self.confidence,
            self.symbol,
            self.statement,
            [[_span(each.place), each.text] for each in self.steps],
            fix and [fix.title, fix.safe, [[_span(each.place), each.text] for each in fix.edits]],
            self.severity,
            self.open,
        ]

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> Self:
        """Read back the result of ``to_json``."""
        (
            rule,
            place,
            message,
            why,
            reach,
            confidence,
            symbol,
            statement,
            steps,
            fix,
            severity,
            ends,
        ) = data
        return cls(
            rule,
            SourceSpan(*place),
            message,
            why,
            _REACHES[reach],
            confidence,
            symbol,
            statement,
            tuple([Step(SourceSpan(*at), text) for at, text in steps]),
            fix
            and Fix(fix[0], fix[1], tuple([Edit(SourceSpan(*at), text) for at, text in fix[2]])),
            None if severity is None else Severity(severity),
            tuple([OpenEnd(*each) for each in ends]),
        )


_REACHES = {each.value: each for each in Reach}


def _span(place: SourceSpan) -> list[int]:
    return [place.line, place.column, place.end_line, place.end_column]


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation, judged by the promise.

    Args:
        found: what the rule said.
        path: the file, as a POSIX path relative to where the check was asked for.
        channel: one of the ten, as text.
        artifact: number of the specification sheet that settles it, two digits.
        severity: how badly the declared class is broken.
        zone: what part of the project the file is.
        remedy: what to do.
        certainty: whether it is wrong, a choice to declare, or could not be told.
        fingerprint: names the finding over edits elsewhere in the file.
    """

    found: Violation
    path: str
    channel: str
    artifact: str
    severity: Severity
    zone: str
    remedy: str
    certainty: Certainty = Certainty.WRONG
    fingerprint: str = ""

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """What findings are sorted by."""
        place = self.found.place
        return self.path, place.line, place.column, self.found.rule, self.found.message


@dataclass(frozen=True, slots=True)
class Comment:
    """One ``# twice: ignore[...]``, or one that could not be understood.

    Args:
        line: where it is, from 1.
        column: in characters, from 1.
        first: the first line that it holds for.
        last: the last one.
        rules: the rules that it takes away.
        reason: why, in its writer's words.
        until: the last day (``2027-01-31``) or month (``2027-01``) on which it holds; "" for ever.
        fault: what is wrong with it; "" when nothing is.
    """

    line: int
    column: int
    first: int
    last: int
    rules: tuple[str, ...] = ()
    reason: str = ""
    until: str = ""
    fault: str = ""

    def has_expired(self, today: str) -> bool:
        """Say whether its last day is over; ``today`` as 2027-01-31."""
        return bool(self.until) and today[: len(self.until)] > self.until


@dataclass(frozen=True, slots=True)
class Remarks:
    """What all the comments of a file say.

    Args:
        ignores: what is taken away, and comments with faults.
        boundaries: lines, first and last, that are declared a boundary.
    """

    ignores: tuple[Comment, ...] = ()
    boundaries: tuple[tuple[int, int], ...] = ()


NO_REMARKS = Remarks()


@dataclass(frozen=True, slots=True)
class FileResult:
    """What one file gave; neither the rules nor the file are needed to judge it.

    Args:
        found: what the rules found, in source order.
        facts: for each name of facts, what was gathered here.
        lines: how many lines the file has.
        remarks: what its comments say to the checker.
    """

    found: tuple[Violation, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    lines: int = 0
    remarks: Remarks = NO_REMARKS

    def to_json(self) -> list[Any]:
        """Give plain values for the cache, without the facts: they are kept apart."""
        said = self.remarks
        ignores = [
            [each.line, each.column, each.first, each.last, each.rules, each.reason, each.until, each.fault]
            for each in said.ignores
        ]  # fmt: skip
        remarks = [ignores, said.boundaries] if ignores or said.boundaries else None
        return [self.lines, remarks, [each.to_json() for each in self.found]]

    @classmethod
    def from_json(cls, data: Sequence[Any], facts: dict[str, Any] | None = None) -> Self:
        """Read back the result of ``to_json``."""
        lines, said, rows = data
        remarks = NO_REMARKS
        if said is not None:
            ignores = [
                Comment(line, column, first, last, tuple(rules), reason, until, fault)
                for line, column, first, last, rules, reason, until, fault in said[0]
            ]
            remarks = Remarks(tuple(ignores), tuple([(first, last) for first, last in said[1]]))
        return cls(tuple([Violation.from_json(each) for each in rows]), facts or {}, lines, remarks)
