"""One session's redaction: what is known to be secret, and what goes into the record in its place.

Values are known up front (variables with secret names, arguments of the program) or learned from what
passes connections. Everything that is written into a record goes through here, in both modes alike, so
that a replay that is given the secret and one that is not write and compare the same.

Not blanked: states of components, snapshots, inputs, digests.

Invariant: without anything to look for, every value passes as the object it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from twice.errors import RedactionRefused
from twice.foundation.encoding import encode
from twice.recorder.environment.variables import is_secret
from twice.recorder.redaction.arguments import line_blanked, words_blanked
from twice.recorder.redaction.mask import Mask, Span, blanked
from twice.recorder.redaction.places import URLS, places
from twice.recorder.redaction.policy import ARGUMENTS, TERMINAL, VARIABLES, WIRE_RULES, Policy
from twice.recorder.redaction.wires import Flow, Stream

REDACTION = "redaction"
"""Kind of the journal's frames that count what was blanked."""

ASKED, SENT = "asked", "sent"
"""Where the program asks something of the world, and what it sends."""

_PLAIN = (int, float, bool, type(None), complex)
Counted = tuple[str, str, int]
"""Rule, where it was found, how many times."""


class Redaction:
    """What one session blanks.

    Args:
        policy: what the user decided.
        variables: the environment whose secrets are known from the start.

    Attributes:
        learned: how many values were learned; what was plain before may hold one now.
    """

    def __init__(
        self, policy: Policy | None = None, variables: Mapping[str, str] | None = None
    ) -> None:
        self.policy = policy or Policy()
        self.mask = Mask(self.policy.compiled(), has_shapes=self.policy.has_shapes)
        self.active = self.mask.active
        self.learned = 0
        self._wire_rules = frozenset(rule for rule in WIRE_RULES if self.policy.holds(rule))
        self._counts: dict[tuple[str, str], int] = {}
        self._lock = Lock()
        self.absent: dict[str, None] = {}
        self.learn_variables(variables or {})

    def learn_variables(self, variables: Mapping[str, str]) -> None:
        """Blank the values of variables from now on, where they are or contain secrets."""
        for name, value in variables.items():
            raw = value.encode("utf-8", "surrogateescape")
            if self.is_secret(name):
                self.learn(raw, f"variable {name}")
            elif "://" in value and self.policy.holds(URLS):
                for found in places(raw, given=True):
                    if found.rule == URLS:
                        self.learn(raw[found.begin : found.end], f"variable {name}")

    def variable(self, name: str, value: str | bytes) -> str | bytes:
        """Return a variable's value with stars over its secrets; unchanged if it has none."""
        if self.is_secret(name):
            size = len(value if isinstance(value, bytes) else _encoded(value))
            return "*" * size if isinstance(value, str) else b"*" * size
        raw = value if isinstance(value, bytes) else _encoded(value)
        if self.policy.holds(URLS):
            spans = [
                (found.begin, found.end, URLS)
                for found in places(raw, given=True)
                if found.rule == URLS
            ]
            raw, _ = blanked(raw, spans)
        shown = raw if isinstance(value, bytes) else raw.decode("utf-8", "surrogatepass")
        if isinstance(shown, bytes):
            return self.mask.data(shown)[0]
        return self.mask.text(shown)[0]

    def stands_in(self, name: str) -> None:
        """Note that the program got stars for a variable whose recorded value is not there."""
        self.absent[name] = None

    def is_secret(self, name: str) -> bool:
        """Return whether a variable's value is secret, by its name or because the user says so."""
        return name in self.policy.names or (self.policy.holds(VARIABLES) and is_secret(name))

    def learn(self, value: bytes, rule: str) -> None:
        """Blank a value from now on, wherever it occurs."""
        self.mask.learn(value, rule)
        self.learned += 1
        self.active = self.mask.active

    def typed(self, text: str, where: str) -> str:
        """Learn a text that somebody typed unseen, and return the stars to write down for it."""
        if not self.policy.holds(TERMINAL):
            return text
        self.learn(_encoded(text), TERMINAL)
        self._count([(0, 0, TERMINAL)], where)
        return "*" * len(_encoded(text))

    # -- what is written down -------------------------------------------------------------------

    def data(self, data: bytes, where: str) -> bytes:
        """Return bytes as they may be written down."""
        if not self.active:
            return data
        changed, spans = self.mask.data(data)
        if spans:
            self._count(spans, where)
        return changed

    def value(self, value: Any, where: str) -> Any:
        """Return a plain value with its secrets blanked, or the value itself if it has none.

        Raises:
            RedactionRefused: E-REDACT-001, when a secret stands inside of an object that cannot be
                changed (an array of text, an instance of a class).
        """
        if not self.active or type(value) in _PLAIN:
            return value
        try:
            return self._walk(value, where)
        except RecursionError:  # deeper than Python calls: nothing inside can be changed
            return self._untouched(value, where)

    def arguments(self, words: Sequence[str], where: str) -> list[str]:
        """Return the program's own arguments with their secrets blanked, and learn those secrets."""
        raw = [word.encode("utf-8", "surrogatepass") for word in words]
        if self.policy.holds(ARGUMENTS):
            changed, values = words_blanked(raw, ARGUMENTS, given=True)
            self._learn_all(values)
            raw = self._counting(raw, changed, ARGUMENTS, where)
        told = [word.decode("utf-8", "surrogatepass") for word in raw]
        return list(self.value(told, where))

    def command(self, command: Any) -> Any:
        """Blank the secrets of a process's command: text, bytes or a tuple of them."""
        if not self.policy.holds(ARGUMENTS):
            return command
        words = command if isinstance(command, tuple) else (command,)
        if not words or not all(isinstance(word, str | bytes) for word in words):
            return command
        raw = [word if isinstance(word, bytes) else _encoded(word) for word in words]
        if isinstance(command, tuple):
            changed, values = words_blanked(raw, ARGUMENTS, given=False)
        else:
            line, values = line_blanked(raw[0], ARGUMENTS)
            changed = [line]
        self._learn_all(values)
        changed = self._counting(raw, changed, ARGUMENTS, ASKED)
        told = tuple(
            new if isinstance(old, bytes) else new.decode("utf-8", "surrogatepass")
            for new, old in zip(changed, words, strict=True)
        )
        return told if isinstance(command, tuple) else told[0]

    def digestible(self, value: Any) -> Any:
        """Return a value for a digest that does not change where secrets are blanked."""
        if not self.active:
            return value
        try:
            return self.value(value, ASKED)
        except RedactionRefused:
            return self.mask.data(encode(value))[0]

    def stream(self) -> Stream:
        """Make the two directions of a new connection."""
        count = self._count_learned
        return Stream(
            Flow(self.mask, count, SENT, rules=self._wire_rules),
            Flow(self.mask, count, "received", rules=self._wire_rules, given=True),
        )

    def file(self, where: str) -> Flow:
        """Make the flow of a growing file, which is searched for known values alone."""
        return Flow(self.mask, self._count, where)

    def take(self) -> list[Counted]:
        """Take the counts of blanked secrets since the last call, in a fixed order."""
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
            if 4 * len(value) < self.mask.shortest:
                return value
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
        """Return the value as it is if it has no known secret: a shape may occur in it by chance."""
        spans = self.mask.known_spans(encode(value))
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

    def _learn_all(self, values: Sequence[tuple[bytes, str]]) -> None:
        for value, rule in values:
            self.learn(value, rule)

    def _counting(self, old: list[bytes], new: list[bytes], rule: str, where: str) -> list[bytes]:
        changes = sum(one != other for one, other in zip(old, new, strict=True))
        if changes:
            self._count([(0, 0, rule)] * changes, where)
        return new

    def _count_learned(self, spans: list[Span], where: str) -> None:
        self.active = self.mask.active
        self._count(spans, where)

    def _count(self, spans: list[Span], where: str) -> None:
        with self._lock:
            for _, _, rule in spans:
                self._counts[rule, where] = self._counts.get((rule, where), 0) + 1


def _encoded(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")
