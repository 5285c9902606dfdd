"""What a rule says of a place, and what the policy makes of it: values, without behaviour.

A rule gives a ``Violation``: the place, why it breaks a promise, and how far the value was seen to
travel. It does not know what was promised. The policy turns it into a ``Finding`` with a severity.

Invariant: both are plain data that JSON carries both ways, because findings are cached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

from twice.foundation.severity import Severity


class Reach(StrEnum):
    """How far the value in question was seen to travel."""

    LOUD = "loud"
    """It reaches state, a returned value, a file, a digest, a seed or a branch."""
    UNSEEN = "unseen"
    """It is handed to code that was not followed."""
    QUIET = "quiet"
    """It ends in telemetry, in a label, in a time limit, or nowhere."""


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
    """Replace what stands at a place by a text; an empty stretch inserts."""

    place: SourceSpan
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits of one file that belong together.

    Args:
        title: what it does, in the imperative.
        safe: whether the program's meaning stays what it was, but for the order that was unspecified.
        edits: disjoint.
    """

    title: str
    safe: bool
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Violation:
    """What a rule says of a place, before it is known what was promised.

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
        fix: what would mend it, when that is known.
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

    def to_json(self) -> dict[str, Any]:
        """Give plain values for the cache."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read back what ``to_json`` gave."""
        fix = data["fix"]
        return cls(
            **{
                **data,
                "place": SourceSpan(**data["place"]),
                "reach": Reach(data["reach"]),
                "steps": tuple(
                    Step(SourceSpan(**each["place"]), each["text"]) for each in data["steps"]
                ),
                "fix": None
                if fix is None
                else Fix(
                    fix["title"],
                    fix["safe"],
                    tuple(Edit(SourceSpan(**each["place"]), each["text"]) for each in fix["edits"]),
                ),
            }
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found, judged by what was promised.

    Args:
        found: what the rule said.
        path: the file, as a POSIX path relative to where the check was asked for.
        channel: one of the ten, as text.
        artifact: number of the specification sheet that settles it, two digits.
        severity: how badly the declared class is broken.
        zone: what part of the project the file is.
        remedy: what to do.
        fingerprint: names the finding over edits elsewhere in the file.
    """

    found: Violation
    path: str
    channel: str
    artifact: str
    severity: Severity
    zone: str
    remedy: str
    fingerprint: str = ""
