"""One session's redaction: what is known to be secret, and what goes into the record in its place.

Values are known up front (variables with secret names, arguments of the program) or learned from what
passes connections. Everything that is written into a record goes through here, in both modes alike, so
that a replay that is given the secret and one that is not write and compare the same.

Not blanked: states of components, snapshots, inputs, digests.

Invariant: without anything to look for, every value passes as the object it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_
from threading import Lock
from typing import Any, NamedTuple

from twice.errors import RedactionRefused
from twice.foundation.encoding import encode
from twice.recorder.redaction.fields import (
    ARGUMENTS,
    PLACED,
    URLS,
    PlacedSecret,
    find_fields,
    find_in_line,
    find_in_words,
    is_secret,
)
from twice.recorder.redaction.mask import STAR, Mask, Span, StreamRedactor, blank_spans
from twice.recorder.redaction.policy import SHAPES, TERMINAL, VARIABLES, Policy

REDACTION = "redaction"
"""Kind of the journal's frames that count what was blanked."""

ASKED, SENT = "asked", "sent"
"""Where the program asks something of the world, and what it sends."""

_PLAIN = (int, float, bool, type(None), complex)
_LONGEST = 1 << 16


class ConnectionRedactor(NamedTuple):
    """Both directions of one connection: bytes that pass, as they may be written down and compared."""

    sent: Callable[[bytes], bytes]
    received: Callable[[bytes], bytes]


class Redaction:
    """What one session blanks: by the user's policy, and with the environment's secrets known from the start.

    Attributes:
        learned: how many values were learned; what was plain before may hold one now.
        absent: variables that the program got stars for, because their recorded value is not there.
    """

    def __init__(
        self, policy: Policy | None = None, variables: Mapping[str, str] | None = None
    ) -> None:
        self.policy = policy or Policy()
        has_shapes = self.policy.shapes > 0 and self.policy.holds(SHAPES)
        self.mask = Mask(self.policy.compile(), has_shapes=has_shapes)
        self.active = self.mask.active
        self.learned = 0
        self.absent: dict[str, None] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._lock = Lock()
        self.learn_variables(variables or {})

    def learn_variables(self, variables: Mapping[str, str]) -> None:
        """Blank the values of variables from now on, where they are or contain secrets."""
        for name, value in variables.items():
            raw = value.encode("utf-8", "surrogateescape")
            if self.is_secret(name):
                self.learn(raw, f"variable {name}")
            else:
                for found in self._find_in_urls(raw):
                    self.learn(raw[found.begin : found.end], f"variable {name}")

    def variable(self, name: str, value: str | bytes) -> str | bytes:
        """Return a variable's value with stars over its secrets; unchanged if it has none."""
        raw = value if isinstance(value, bytes) else _encode(value)
        if self.is_secret(name):
            raw = STAR * len(raw)
        else:
            raw, _ = blank_spans(raw, [found[:3] for found in self._find_in_urls(raw)])
            raw, _ = self.mask.data(raw, is_text=isinstance(value, str))
        return raw if isinstance(value, bytes) else _decode(raw)

    def _find_in_urls(self, raw: bytes) -> list[PlacedSecret]:
        if b"://" not in raw or not self.policy.holds(URLS):
            return []
        return [found for found in find_fields(raw, given=True) if found.rule == URLS]

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

    def hide_typed(self, text: str, where: str) -> str:
        """Learn a text that somebody typed unseen, and return the stars to write down for it."""
        if not self.policy.holds(TERMINAL):
            return text
        raw = _encode(text)
        self.learn(raw, TERMINAL)
        self._count([(0, 0, TERMINAL)], where)
        return "*" * len(raw)

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

        A secret inside of an object that cannot be changed (an array of text, an instance of a class) is refused:
        E-REDACT-001.
        """
        if not self.active or type(value) in _PLAIN:
            return value
        try:
            return self._walk(value, where)
        except RecursionError:  # deeper than Python calls: nothing inside can be changed
            return self._require_clean(value, where)

    def arguments(self, words: Sequence[str], where: str) -> list[str]:
        """Return the program's own arguments with their secrets blanked, and learn those secrets.

        A replay gives the program these words, so a name with innocent meanings is not enough.
        """
        raw = [_encode(word) for word in words]
        if self.policy.holds(ARGUMENTS):
            raw = self._blank_words(raw, find_in_words(raw, given=True), where)
        return list(self.value([_decode(word) for word in raw], where))

    def command(self, command: Any) -> Any:
        """Blank the secrets of a process's command: text, bytes or a tuple of them."""
        words = command if isinstance(command, tuple) else (command,)
        is_command = words and all(isinstance(word, str | bytes) for word in words)
        if not is_command or not self.policy.holds(ARGUMENTS):
            return command
        raw = [word if isinstance(word, bytes) else _encode(word) for word in words]
        is_line = not isinstance(command, tuple)
        found = [[*find_in_line(raw[0])]] if is_line else find_in_words(raw, given=False)
        changed = self._blank_words(raw, found, ASKED)
        plain = [
            new if isinstance(old, bytes) else _decode(new)
            for new, old in zip(changed, words, strict=True)
        ]
        return plain[0] if is_line else tuple(plain)

    def _blank_words(
        self, words: list[bytes], found: Iterable[list[PlacedSecret]], where: str
    ) -> list[bytes]:
        """Blank and learn the secrets that were found in each word; as many words come back."""
        changed = []
        for word, secrets in zip(words, found, strict=True):
            blanked, spans = blank_spans(word, [one[:3] for one in secrets])
            changed.append(blanked)
            if spans:
                for one in secrets:
                    for value in one.values(word):
                        self.learn(value, one.rule)
                self._count([(0, 0, ARGUMENTS)], where)
        return changed

    def digestible(self, value: Any) -> Any:
        """Return a value for a digest that does not change where secrets are blanked."""
        if not self.active:
            return value
        try:
            return self.value(value, ASKED)
        except RedactionRefused:
            return self.mask.data(encode(value))[0]

    def stream(self) -> ConnectionRedactor:
        """Make the two directions of a new connection."""
        rules = frozenset(filter(self.policy.holds, PLACED))
        count = self._count_learned
        sent = StreamRedactor(self.mask, count, SENT, rules=rules)
        received = StreamRedactor(self.mask, count, "received", rules=rules, given=True)
        return ConnectionRedactor(sent.next, received.next)

    def file(self, where: str) -> StreamRedactor:
        """Make the redactor of a growing file, which is searched for known values alone."""
        return StreamRedactor(self.mask, self._count, where)

    def take(self) -> list[tuple[str, str, int]]:
        """Take the counts of blanked secrets since the last call, sorted: rule, where, how many."""
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
            if 4 * len(value) < self.mask.shortest:  # UTF-8 takes at most four bytes a letter
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
            return value if all(map(is_, parts, value)) else kind(parts)
        if kind is dict:
            return {self._walk(k, where): self._walk(v, where) for k, v in value.items()}
        return self._require_clean(value, where)

    def _require_clean(self, value: Any, where: str) -> Any:
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

    def _count_learned(self, spans: list[Span], where: str) -> None:
        self.active = self.mask.active
        self._count(spans, where)

    def _count(self, spans: list[Span], where: str) -> None:
        with self._lock:
            for _, _, rule in spans:
                self._counts[rule, where] = self._counts.get((rule, where), 0) + 1


def redact_identity(
    identity: Mapping[str, Any],
    redaction: Redaction,
    environ: Mapping[str, str],
    *,
    parent: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Blank the secrets of the document that opens a record, and count them in it, for a replay to know.

    A replay is made from it, so it gives the program blanked arguments and values of the configuration.

    Args:
        identity: as it was built.
        redaction: learns the secrets among the arguments.
        environ: the variables that the program runs with.
        parent: identity of the record that a branch leaves, whose setup holds stars already.
    """
    inherited = ((parent or {}).get("redaction") or {}).get("blanked", ())
    setup, environment = dict(identity["setup"]), dict(identity["environment"])
    words = redaction.arguments(setup["program"]["arguments"], "arguments")
    setup["program"] = {**setup["program"], "arguments": words}
    setup["config"] = redaction.value(dict(setup["config"]), "config")
    surroundings = redaction.value(dict(identity["surroundings"]), "surroundings")
    variables = dict(environment.get("variables", {}))
    environment["variables"] = redaction.value(variables, "surroundings")
    return {
        **identity,
        "setup": setup,
        "surroundings": surroundings,
        "environment": environment,
        "redaction": {
            "variables": {
                name: len(value.encode("utf-8", "surrogateescape"))
                for name, value in sorted(environ.items())
                if value and redaction.is_secret(name)
            },
            "blanked": [*inherited, *map(list, redaction.take())],
        },
    }


def read_placeholders(identity: Mapping[str, Any]) -> dict[str, str]:
    """Return stars for every secret variable that a run had, by name."""
    redaction = identity.get("redaction")
    named = redaction.get("variables") if isinstance(redaction, Mapping) else None
    if not isinstance(named, Mapping):
        return {}
    return {
        str(name): "*" * size
        for name, size in named.items()
        if isinstance(size, int) and 0 < size <= _LONGEST
    }


def _encode(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")


def _decode(word: bytes) -> str:
    return word.decode("utf-8", "surrogatepass")
