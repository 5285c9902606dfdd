"""What a user decides about redaction: further variables, patterns, and rules that do not hold.

Plain data, part of a run's setup: a replay blanks as its recording did. A pattern stands in the
record as it is written, so it may not be a secret itself.

Invariant: a policy that was checked works: its patterns compile and spare innocent text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from twice.errors import RedactionRefused
from twice.foundation.dataclass import dataclass
from twice.recorder.redaction import shapes
from twice.recorder.redaction.fields import ARGUMENTS, PLACED

VARIABLES, PATTERN, TERMINAL, SHAPES = "variables", "pattern", "terminal", "shapes"
RULES = (VARIABLES, ARGUMENTS, TERMINAL, SHAPES, *PLACED)
"""Rules that hold unless a user switches them off, by name."""

_WIDTH_MIN = 4
_INNOCENT = (
    b"The quick brown fox jumps over the lazy dog while 12 others look on.\n",
    b'{"name": "value", "items": [1, 2, 3], "total": 1234.56}\n',
)


@dataclass(frozen=True)
class Policy:
    """What is blanked besides the defaults, and what is not.

    Attributes:
        names: environment variables whose values are secret, whatever their names say.
        patterns: regular expressions over bytes; what they match is secret, or what their groups match.
        off: rules that do not hold.
        shapes: which table of shapes holds; 0 for a record from before there was one.
    """

    names: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    shapes: int = shapes.VERSION

    def check(self) -> None:
        """Refuse a policy that cannot work, before anything is recorded.

        Raises:
            RedactionRefused: E-REDACT-001, for a name, a pattern or a rule that cannot be.
        """
        for name in self.names:
            if not name or "=" in name or "\0" in name:
                raise RedactionRefused(
                    # What was given may be the secret itself: it is not repeated.
                    "What was given to --redact is no name of a variable.",
                    "Expected the name of an environment variable whose value is secret.",
                    "For example: --redact SHOP_LOGIN; never the value itself.",
                )
        for rule in self.off:
            if rule not in RULES:
                raise RedactionRefused(
                    f"There is no redaction rule {rule!r}.",
                    f"Rules: {', '.join(RULES)}.",
                    "For example: --no-redact cookies",
                    rule=rule,
                )
        for pattern, (_, compiled) in zip(self.patterns, self.compile(), strict=True):
            _require_sparing(pattern, compiled)

    def compile(self) -> list[tuple[str, re.Pattern[bytes]]]:
        """Compile the patterns by rule name: ``pattern 1`` and so on, in the order given.

        Raises:
            RedactionRefused: E-REDACT-001, for one that does not compile.
        """
        compiled = []
        for number, pattern in enumerate(self.patterns, 1):
            try:
                compiled.append((f"{PATTERN} {number}", re.compile(pattern.encode("utf-8"))))
            except (re.error, UnicodeEncodeError, OverflowError, RecursionError) as error:
                raise _refuse(pattern, f"does not compile: {error}") from error
        return compiled

    def holds(self, rule: str) -> bool:
        """Return whether a rule applies."""
        return rule not in self.off

    def to_json(self) -> dict[str, object]:
        """Return plain values, as in the record's setup."""
        parts = {"names": self.names, "patterns": self.patterns, "off": self.off}
        told: dict[str, object] = {name: list(part) for name, part in parts.items() if part}
        return {**told, "shapes": self.shapes} if self.shapes else told

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Policy:
        """Build it from the JSON of ``to_json``; a stranger's patterns are not tried here."""
        parts = ("names", "patterns", "off")
        names, patterns, off = (tuple(map(str, data.get(part, ()))) for part in parts)
        version = data.get("shapes", 0)
        return cls(names, patterns, off, version if isinstance(version, int) else 0)


def _require_sparing(pattern: str, compiled: re.Pattern[bytes]) -> None:
    """Refuse a pattern that is itself a text, or that would blank innocent text."""
    if not set(pattern) & set(r".^$*+?{}[]\|()"):
        raise _refuse(
            pattern,
            "is a plain text, and would stand in the record as it is written",
            "Name the variable that holds the secret: --redact NAME.",
        )
    widths = [[len(match[0]) for match in compiled.finditer(text)] for text in _INNOCENT]
    narrowest = min((width for found in widths for width in found), default=_WIDTH_MIN)
    if narrowest == 0 or compiled.match(b""):
        raise _refuse(pattern, "matches the empty text")
    if narrowest < _WIDTH_MIN:
        raise _refuse(pattern, f"matches fewer than {_WIDTH_MIN} bytes of innocent text")
    if any(2 * sum(found) > len(text) for found, text in zip(widths, _INNOCENT, strict=True)):
        raise _refuse(pattern, "matches nearly everything")


def _refuse(pattern: str, why: str, remedy: str = "") -> RedactionRefused:
    # The text of a plain pattern may be the secret itself: it is not repeated.
    named = "A redaction pattern" if remedy else f"The redaction pattern {pattern!r}"
    return RedactionRefused(
        f"{named} {why}.",
        "Expected a regular expression that matches secrets and little else.",
        remedy or "For example: --redact-pattern 'sk-[A-Za-z0-9]{20,}'",
    )
