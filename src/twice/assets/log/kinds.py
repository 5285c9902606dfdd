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
    "-1", "-1.0", "as above", "as before", "change me", "changeme", "ditto", "don't know", "dunno",
    "fixme", "idk", "inf", "latest", "lorem ipsum", "missing", "n / a", "n/a", "na", "nan", "nil",
    "no idea", "no value", "no version", "none", "not applicable", "not available", "not known",
    "not recorded", "not set", "not specified", "not sure", "not yet known", "null", "pending",
    "placeholder", "same as above", "same as before", "see above", "see below", "see notes",
    "t.b.d", "tba", "tbc", "tbd", "to be announced", "to be confirmed", "to be decided",
    "to be determined", "to do", "todo", "unavailable", "unclear", "undefined", "undetermined",
    "unk", "unknown", "unset", "unspecified", "unversioned", "varies", "various", "whatever",
    "xxx", "xxxx",
)  # fmt: skip
"""Texts that stand for a value that nobody knows.

They are taken for that in any case, dressed in blanks and marks, or in letters that look alike.
"""

_END: Final = "(?![\\s\\S])"
"""The end of a text, in the regular expressions of Python and of JSON Schema alike."""

_UNSEEN: Final = (
    "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180e\\u200b-\\u200f\\u202a-\\u202e"
    "\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0"
)
_MARKS: Final = "!-/:-@\\[-`{-~\\u00a1-\\u00a9\\u00ab-\\u00b1\\u00b4-\\u00b8\\u00bb\\u00bf\\u2000-\\u206f\\u2212\\u3000-\\u3003"
_DRESS: Final = f"[\\s\\u0000-\\u001f\\u007f-\\u00a0{_MARKS}{_UNSEEN}]*"
_ALIKE: Final = {
    "a": "\\u0430\\u0410\\u0391\\u03b1", "c": "\\u0441\\u0421", "e": "\\u0435\\u0415\\u0395",
    "i": "\\u0456\\u0406\\u0399", "k": "\\u043a\\u041a\\u039a", "m": "\\u043c\\u041c\\u039c",
    "n": "\\u039d", "o": "\\u043e\\u041e\\u03bf\\u039f0", "p": "\\u0440\\u0420\\u03a1",
    "s": "\\u0455\\u0405", "t": "\\u0442\\u0422\\u03a4", "x": "\\u0445\\u0425\\u03a7",
}  # fmt: skip
"""Letters of Cyrillic and Greek, and a digit, that look like one."""
_TEMPLATE: Final = "<[A-Za-z_ -]+>|[$][{]?[A-Za-z_]+[}]?|[{][{][^{}]*[}][}]"
"""A text that was to be filled in: <version>, ${VERSION}, {{version}}."""


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
        """Return the JSON Schema that accepts the same values."""


def _word_pattern(word: str) -> str:
    between = f"[{_UNSEEN}]*"
    return between.join(f"[{_letters(each)}]" for each in word)


def _letters(each: str) -> str:
    """Give a letter in each of its forms; marks may stand in the place of a blank or a mark."""
    if each.isalpha():
        at = ord(each)
        wide = f"\\u{at - 32 + 0xFEE0:04x}\\u{at + 0xFEE0:04x}"
        return f"{each.upper()}{each}{wide}{_ALIKE.get(each, '')}"
    if each == "/":
        return "/.\\\\\\u2044\\u2215"
    if each == "-":
        return "\\u2010-\\u2015\\u2212\\ufe63\\uff0d-"
    return " _\\u00a0-" if each == " " else each


KNOWN: Final = (
    f"^(?!{_DRESS}$)(?!{_DRESS}(?:{'|'.join(map(_word_pattern, UNKNOWN_WORDS))}){_DRESS}$)"
    f"(?!(?:{_TEMPLATE}){_END})"
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
        """Return the JSON Schema that accepts the same values."""
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
        """Return the JSON Schema that accepts the same values."""
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
        """Return the JSON Schema that accepts the same values."""
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
        """Return the JSON Schema that accepts the same values."""
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
        """Return the JSON Schema that accepts the same values."""
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
        """Return the JSON Schema that accepts the same values."""
        return {"anyOf": [_TEXT.schema(), _NUMBER.schema(), {"type": "boolean"}]}


_TEXT: Final = Text()
_NUMBER: Final = Number("a number", -WHOLE_MAX, WHOLE_MAX)

SHA256: Final = Text("a sha256 in 64 lower-case hex digits", "^(?!0{64})[0-9a-f]{64}" + _END, 64)
DIGEST: Final = Text("a labelled digest, sha256:…", "^sha256:(?!0{64})[0-9a-f]{64}" + _END, 71)
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
