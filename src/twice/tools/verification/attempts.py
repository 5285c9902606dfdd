"""One trial as it is asked for, and what came of it: plain data between two processes.

Invariant: both forms hold what the wire's encoding takes, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from twice.tools.cases import Case
from twice.tools.plain import canonical

SEED: Final = 20_260_101
"""The session's seed in trials."""
TIME: Final = "2026-01-31T12:00:00Z"
"""Contract time in trials."""


@dataclass(frozen=True)
class Attempt:
    """One trial.

    Attributes:
        tool: its name.
        case: arguments and start.
        seed: of the session.
        watched: whether enforcement is on.
        inside: factors that the process applies to itself: see ``factors.INSIDE``.
        steps: calls that are made in place of the tool: its parts, one by one.
        others: further cases of the tool, for the past of a process.
    """

    tool: str
    case: Case
    seed: int = SEED
    watched: bool = False
    inside: tuple[str, ...] = ()
    steps: tuple[Mapping[str, Any], ...] = ()
    others: tuple[Case, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "tool": self.tool,
            "case": self.case.to_json(),
            "seed": self.seed,
            "watched": self.watched,
            "inside": list(self.inside),
            "steps": [dict(each) for each in self.steps],
            "others": [each.to_json() for each in self.others],
        }

    @classmethod
    def from_json(cls, job: Mapping[str, Any]) -> Self:
        """Read the plain form."""
        return cls(
            job["tool"],
            Case.from_json(job["case"]),
            job["seed"],
            job["watched"],
            tuple(job["inside"]),
            tuple(job["steps"]),
            tuple(Case.from_json(each) for each in job["others"]),
        )

    def with_seed(self, seed: int) -> Attempt:
        """Return the same attempt under another seed, also in the case's own arguments."""
        given = dict(self.case.arguments)
        if given.get("seed") is not None:
            given["seed"] = seed
        return replace(self, seed=seed, case=replace(self.case, arguments=given))


@dataclass(frozen=True)
class Part:
    """A part of a call, as the session told it.

    Attributes:
        path: steps that led to it.
        call: tool, arguments, and seed and call key where it has them.
        seeded: whether it drew from a seed.
        before: fingerprint of the state before it.
        after: the same after it.
        result: what it gave; None when it failed.
    """

    path: tuple[str, ...]
    call: Mapping[str, Any]
    seeded: bool
    before: str
    after: str
    result: Any


@dataclass(frozen=True)
class Outcome:
    """What came of a trial.

    Attributes:
        lost: how the process was lost, or why there is no outcome; empty when there is one.
        unready: the envelope of a call of the start that failed.
        unable: factors that could not be applied, and why.
        before: fingerprint of the state before the call.
        after: the same after it.
        state: the state after it, where it is small.
        envelope: of the call.
        again: fingerprint of the state after a second equal call; None when there was none.
        made_again: names that the second call made.
        parts: of the call.
        steps: envelopes, where parts were called one by one.
    """

    lost: str = ""
    unready: Mapping[str, Any] | None = None
    unable: Mapping[str, str] = field(default_factory=dict)
    before: str = ""
    after: str = ""
    state: Any = None
    envelope: Mapping[str, Any] = field(default_factory=dict)
    again: str | None = None
    made_again: Sequence[str] = ()
    parts: Sequence[Part] = ()
    steps: Sequence[Mapping[str, Any]] = ()

    @property
    def ok(self) -> bool:
        """Whether the tool gave a result."""
        return not self.lost and self.unready is None and bool(self.envelope.get("ok"))

    @property
    def failure(self) -> str:
        """Why it gave none, in one line."""
        if self.lost:
            return self.lost
        envelope = self.envelope if self.unready is None else self.unready
        error = envelope.get("error") or {}
        said = f"{error.get('code')}: {error.get('message')}"
        return said if self.unready is None else f"its start cannot be made: {said}"

    @property
    def refused_for(self) -> Mapping[str, Any]:
        """What enforcement refused it for: need, operation and place; empty when it did not."""
        error = self.envelope.get("error") or {}
        details = error.get("details") or {}
        found = error.get("code") == "nondeterministic_refused"
        return details if found and ("need" in details or "needs" in details) else {}

    def result_bytes(self) -> bytes:
        """Return the comparable part of the envelope: the result, or the code of the error."""
        error = self.envelope.get("error") or {}
        return canonical([self.envelope.get("ok"), self.envelope.get("result"), error.get("code")])


def outcome_of(message: Mapping[str, Any]) -> Outcome:
    """Read what a process answered."""
    fields = dict(message["outcome"])
    fields["parts"] = [Part(**{**each, "path": tuple(each["path"])}) for each in fields["parts"]]
    return Outcome(**fields)
