"""One session's redaction: what is known to be secret, and what goes into the record in its place.

Values are known up front (variables with secret names, arguments of the program) or learned from what
passes connections. Everything that is written into a record goes through here, in both modes alike, so
that a replay that is given the secret and one that is not write and compare the same.

Not blanked: states of components, snapshots, inputs, digests.

Invariant: without anything to look for, every value passes as the object it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from twice.errors import RedactionRefused
from twice.foundation.encoding import encode
from twice.recording.redaction.mask import Mask, Span
from twice.recording.redaction.policy import VARIABLES, WIRE_RULES, Policy
from twice.recording.redaction.wires import Flow, Stream
from twice.recording.variables import is_secret

REDACTION = "redaction"
"""Kind of the journal's frames that count what was blanked."""

_PLAIN = (int, float, bool, type(None), complex)
Counted = tuple[str, str, int]
"""Rule, where it was found, how many times."""


class Redaction:
    """What one session blanks.

    Args:
        policy: what the user decided.
        variables: the environment whose secrets are known from the start.
    """

    def __init__(
        self, policy: Policy | None = None, variables: Mapping[str, str] | None = None
    ) -> None:
        self.policy = policy or Policy()
        self.mask = Mask(self.policy.compiled())
        self.active = self.mask.active
        self._wire_rules = frozenset(rule for rule in WIRE_RULES if self.policy.holds(rule))
        self._counts: dict[tuple[str, str], int] = {}
        self._lock = Lock()
        for name, value in (variables or {}).items():
            if self.is_secret(name):
                self.learn(value.encode("utf-8", "surrogateescape"), f"variable {name}")

    def is_secret(self, name: str) -> bool:
        """Whether a variable's value is secret, by its name or because the user says so."""
        return name in self.policy.names or (self.policy.holds(VARIABLES) and is_secret(name))

    def learn(self, value: bytes, rule: str) -> None:
        """Blank a value from now on, wherever it stands."""
        self.mask.learn(value, rule)
        self.active = self.mask.active

    # -- what is written down -------------------------------------------------------------------

    def data(self, data: bytes, where: str) -> bytes:
        """Bytes as they may be written down."""
        if not self.active:
            return data
        changed, spans = self.mask.data(data)
        if spans:
            self._count(spans, where)
        return changed

    def value(self, value: Any, where: str) -> Any:
        """A plain value as it may be written down; itself when there is nothing to blank.

        Raises:
            RedactionRefused: E-REDACT-001, when a secret stands inside of an object that cannot be
                changed (an array of text, an instance of a class).
        """
        if not self.active or type(value) in _PLAIN:
            return value
        return self._walk(value, where)

    def digestible(self, value: Any) -> Any:
        """A value to take a digest of: one that is the same where secrets are blanked."""
        if not self.active:
            return value
        try:
            return self.value(value, "digest")
        except RedactionRefused:
            return self.mask.data(encode(value))[0]

    def stream(self) -> Stream:
        """A new connection's two directions."""
        count = self._count_learned
        return Stream(
            Flow(self.mask, count, "sent", rules=self._wire_rules),
            Flow(self.mask, count, "received", rules=self._wire_rules, given=True),
        )

    def file(self, where: str) -> Flow:
        """A file that grows, looked through for known values alone."""
        return Flow(self.mask, self._count, where)

    def take(self) -> list[Counted]:
        """What was blanked since the last call, in a fixed order."""
        with self._lock:
            counts, self._counts = self._counts, {}
        return [(rule, where, counts[rule, where]) for rule, where in sorted(counts)]

    def write(self, journal: Callable[[str, bytes, int], None]) -> None:
        """Write down how often each rule blanked something since the last call."""
        if self._counts:
            journal(REDACTION, encode(tuple(self.take())), 0)

    # -- inside ---------------------------------------------------------------------------------

    def _walk(self, value: Any, where: str) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is str:
            text, spans = self.mask.text(value)
            if spans:
                self._count(spans, where)
            return text
        if kind is bytes or kind is bytearray:
            changed = self.data(bytes(value), where)
            return value if changed == value else kind(changed)
        if kind is tuple or kind is list:
            parts = [self._walk(part, where) for part in value]
            same = all(new is old for new, old in zip(parts, value, strict=True))
            return value if same else kind(parts)
        if kind is dict:
            pairs = [(self._walk(k, where), self._walk(v, where)) for k, v in value.items()]
            return dict(pairs)
        return self._untouched(value, where)

    def _untouched(self, value: Any, where: str) -> Any:
        """Anything else passes as it is, when it holds no secret."""
        _, spans = self.mask.data(encode(value))
        if spans:
            raise RedactionRefused(
                f"A secret ({spans[0][2]}) stands inside of a {type(value).__qualname__} that {where}"
                " gave.",
                "Expected it in text, bytes, or tuples, lists and dicts of these, where it can be"
                " blanked.",
                "Give plain values, or leave the secret out of what is returned.",
                rule=spans[0][2],
                where=where,
            )
        return value

    def _count_learned(self, spans: list[Span], where: str) -> None:
        self.active = self.mask.active
        self._count(spans, where)

    def _count(self, spans: list[Span], where: str) -> None:
        with self._lock:
            for _, _, rule in spans:
                self._counts[rule, where] = self._counts.get((rule, where), 0) + 1
