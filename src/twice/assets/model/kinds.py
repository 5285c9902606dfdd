"""Kinds of values in a log: what each takes, and how JSON Schema says the same.

A kind looks at one JSON value and at nothing around it.

Invariant: a kind's check and its schema accept the same values; both read the same patterns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final, Protocol, TypeAlias

Json: TypeAlias = "Mapping[str, Json] | list[Json] | str | int | float | bool | None"

WHOLE_MAX: Final = 2**53 - 1
"""The largest whole number that every reader of JSON keeps exactly."""

UNKNOWN_WORDS: Final = (
    "-", "-1", "?", "inf", "latest", "n/a", "na", "nan", "nil", "none", "null", "tba", "tbd", "todo",
    "undefined", "unknown", "unspecified",
)  # fmt: skip
"""Texts that stand for a value that nobody knows, in any case and with space around them."""

_END: Final = "(?![\\s\\S])"
"""The end of a text, in the regular expressions of Python and of JSON Schema alike."""

_SPACE: Final = "[\\s\\u0000-\\u001f\\u00a0\\u200b\\u2060\\ufeff]*"


class Fault(StrEnum):
    """What is wrong with a value."""

    MISSING = "missing"
    UNKNOWN = "unknown"
    TYPE = "type"
    IMPOSSIBLE = "impossible"
    UNEXPECTED = "unexpected"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a value is not taken, and what would have been: ``expected`` is a noun phrase."""

    fault: Fault
    expected: str


class Kind(Protocol):
    """One kind of value."""

    @property
    def words(self) -> str:
        """Names what is expected, as a noun phrase."""

    def refuse(self, value: object) -> Refusal | None:
        """Says what is wrong with a value, or None."""

    def schema(self) -> dict[str, object]:
        """Gives the JSON Schema that takes the same values."""


def _word_pattern(word: str) -> str:
    return "".join(
        f"[{each.upper()}{each.lower()}]" if each.isalpha() else f"[{each}]" for each in word
    )


KNOWN: Final = (
    f"^(?!{_SPACE}$)(?!{_SPACE}(?:{'|'.join(map(_word_pattern, UNKNOWN_WORDS))}){_SPACE}$)"
)
"""The pattern of a text that says something; it takes time in proportion to the text."""

TEXT_REFERENCE: Final = "#/$defs/text"
"""Where a schema keeps what every text has to be: ``TEXT_SCHEMA``."""

TEXT_SCHEMA: Final = {"type": "string", "pattern": KNOWN}


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def says_nothing(text: str) -> bool:
    """Whether a text stands for a value that nobody knows."""
    return _compiled(KNOWN).search(text) is None


@dataclass(frozen=True, slots=True)
class Text:
    """A text that says something.

    Args:
        pattern: what the whole of it has to match, beginning with ^; "" takes any text.
        words: what is expected, as a noun phrase.
        longest: most characters.
    """

    words: str = "a text that is known"
    pattern: str = ""
    longest: int = 1_000_000

    def refuse(self, value: object) -> Refusal | None:
        """Says what is wrong with a value, or None."""
        if value is None:
            return Refusal(Fault.UNKNOWN, self.words)
        if not isinstance(value, str):
            return Refusal(Fault.TYPE, self.words)
        if len(value) > self.longest:
            return Refusal(Fault.IMPOSSIBLE, f"{self.words}, of at most {self.longest} characters")
        if says_nothing(value):
            return Refusal(Fault.UNKNOWN, self.words)
        if self.pattern and _compiled(self.pattern).search(value) is None:
            return Refusal(Fault.IMPOSSIBLE, self.words)
        return None

    def schema(self) -> dict[str, object]:
        """Gives the JSON Schema that takes the same values."""
        said: dict[str, object] = {
            "$ref": TEXT_REFERENCE,
            "description": self.words,
            "maxLength": self.longest,
        }
        return said | {"pattern": self.pattern} if self.pattern else said


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Any text, as a program takes it: "", "-" and "-1" are arguments like others."""

    words: str = "a text"

    def refuse(self, value: object) -> Refusal | None:
        """Says what is wrong with a value, or None."""
        if isinstance(value, str):
            return None
        return Refusal(Fault.UNKNOWN if value is None else Fault.TYPE, self.words)

    def schema(self) -> dict[str, object]:
        """Gives the JSON Schema that takes the same values."""
        return {"type": "string", "description": self.words}


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number within bounds, both of them included; ``whole`` for whole numbers alone."""

    words: str
    least: float
    most: float = WHOLE_MAX
    whole: bool = False

    def refuse(self, value: object) -> Refusal | None:
        """Says what is wrong with a value, or None."""
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            return Refusal(Fault.UNKNOWN, self.words)
        if isinstance(value, str) and says_nothing(value):
            return Refusal(Fault.UNKNOWN, self.words)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return Refusal(Fault.TYPE, self.words)
        if self.whole and value != int(value):
            return Refusal(Fault.TYPE, self.words)
        if not self.least <= value <= self.most:
            fault = Fault.UNKNOWN if value == -1 else Fault.IMPOSSIBLE
            return Refusal(fault, self.words)
        return None

    def schema(self) -> dict[str, object]:
        """Gives the JSON Schema that takes the same values."""
        return {
            "type": "integer" if self.whole else "number",
            "description": self.words,
            "minimum": self.least,
            "maximum": self.most,
        }


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a closed list of words."""

    options: tuple[str, ...]

    @property
    def words(self) -> str:
        """Names what is expected, as a noun phrase."""
        return f"one of {', '.join(self.options)}"

    def refuse(self, value: object) -> Refusal | None:
        """Says what is wrong with a value, or None."""
        if isinstance(value, str) and value in self.options:
            return None
        if value is None or (isinstance(value, str) and says_nothing(value)):
            return Refusal(Fault.UNKNOWN, self.words)
        fault = Fault.IMPOSSIBLE if isinstance(value, str) else Fault.TYPE
        return Refusal(fault, self.words)

    def schema(self) -> dict[str, object]:
        """Gives the JSON Schema that takes the same values."""
        return {"enum": list(self.options)}


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    words: str = "true or false"

    def refuse(self, value: object) -> Refusal | None:
        """Says what is wrong with a value, or None."""
        if isinstance(value, bool):
            return None
        return Refusal(Fault.UNKNOWN if value is None else Fault.TYPE, self.words)

    def schema(self) -> dict[str, object]:
        """Gives the JSON Schema that takes the same values."""
        return {"type": "boolean", "description": self.words}


@dataclass(frozen=True, slots=True)
class Setting:
    """A text that says something, a finite number of either sign, or true or false."""

    words: str = "a text that is known, a number, or true or false"

    def refuse(self, value: object) -> Refusal | None:
        """Says what is wrong with a value, or None."""
        if isinstance(value, bool):
            return None
        kind: Kind = _NUMBER if isinstance(value, int | float) else _TEXT
        found = kind.refuse(value)
        return None if found is None else Refusal(found.fault, self.words)

    def schema(self) -> dict[str, object]:
        """Gives the JSON Schema that takes the same values."""
        return {"anyOf": [_TEXT.schema(), _NUMBER.schema(), {"type": "boolean"}]}


_TEXT: Final = Text()
_NUMBER: Final = Number("a number", -WHOLE_MAX, WHOLE_MAX)

SHA256: Final = Text("a sha256 in 64 lower-case hex digits", "^[0-9a-f]{64}" + _END, 64)
DIGEST: Final = Text("a labelled digest, sha256:…", "^sha256:[0-9a-f]{64}" + _END, 71)
SEED: Final = Text(
    "a seed of at least 0, as decimal digits in a text", "^(?:0|[1-9][0-9]*)" + _END, 80
)
INSTANT: Final = Text(
    "an instant in UTC such as 2026-01-31T09:30:00Z",
    "^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?Z"
    + _END,
    32,
)
NAME: Final = Text(
    "a name of letters, digits, - and _", "^[A-Za-z0-9][A-Za-z0-9_-]{2,99}" + _END, 100
)
