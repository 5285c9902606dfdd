"""Kinds of single values in a log: what each takes, in Python and in JSON Schema.

A kind is an annotation of pydantic (``Annotated[str, TextKind(...)]``). It looks at one JSON value and at nothing around
it, and it refuses whatever means "unknown".

Invariant: a kind and its JSON Schema accept the same values; both use the same patterns and bounds.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final, TypeAlias

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

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
"""Texts that stand for a value that nobody knows, in any case and dressed in blanks and marks."""

END: Final = "(?![\\s\\S])"
"""The end of a text, in the regular expressions of Python and of JSON Schema alike."""

_DRESS: Final = (
    "[\\s\\u0000-/:-@\\[-`{-\\u00a9\\u00ab-\\u00b1\\u00b4-\\u00b8\\u00bb\\u00bf\\u2000-\\u206f"
    "\\u2212\\u2800\\u3000-\\u3003\\u3164\\ufe00-\\ufe0f\\ufeff]*"
)
"""Blanks, marks and what is not seen; letters and digits of any script are left out."""

_TEMPLATE: Final = "<[A-Za-z_ -]+>|[$][{]?[A-Za-z_]+[}]?|[{][{][^{}]*[}][}]"
"""A text that was to be filled in: <version>, ${VERSION}, {{version}}."""


def _word_pattern(word: str) -> str:
    """Write a word in either case; a slash or a blank may be another mark of its sort."""
    other = {"/": "[/.\\\\]", " ": "[ _\\u00a0-]", "-": "[\\u2010-\\u2015\\u2212-]", ".": "[.]"}
    return "".join(
        f"[{each.upper()}{each}]" if each.isalpha() else other.get(each, each) for each in word
    )


KNOWN: Final = (
    f"^(?!{_DRESS}$)(?!{_DRESS}(?:{'|'.join(map(_word_pattern, UNKNOWN_WORDS))}){_DRESS}$)"
    f"(?!(?:{_TEMPLATE}){END})"
)
"""The pattern of a text that says something; it takes time in proportion to the text."""
_KNOWN: Final = re.compile(KNOWN)


class Fault(StrEnum):
    """What is wrong with a value."""

    MISSING = "missing"
    UNKNOWN = "unknown"
    TYPE = "type"
    IMPOSSIBLE = "impossible"
    UNEXPECTED = "unexpected"


def says_nothing(value: object) -> bool:
    """Whether a JSON value stands for one that nobody knows."""
    if isinstance(value, str):
        return _KNOWN.search(value) is None
    return value is None or (isinstance(value, float) and not math.isfinite(value))


class ValueKind(ABC):
    """One kind of value, as an annotation of pydantic."""

    @property
    @abstractmethod
    def expected(self) -> str:
        """What is expected, as a noun phrase."""

    @abstractmethod
    def _find_fault(self, value: Any) -> Fault | None:
        """Say what is wrong with a value, or None."""

    @abstractmethod
    def to_schema(self) -> dict[str, object]:
        """Return the JSON Schema that accepts the same values."""

    def take(self, value: Any) -> Any:
        """Return a value of this kind as it is kept; PydanticCustomError with the fault otherwise."""
        fault = self._find_fault(value)
        if fault is not None:
            raise PydanticCustomError(fault.value, "{expected}", {"expected": self.expected})
        return int(value) if isinstance(self, NumberKind) and self.whole else value

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.take)


@dataclass(frozen=True, slots=True)
class TextKind(ValueKind):
    """A text that says something.

    Args:
        expected: what is expected, as a noun phrase.
        pattern: what the whole of it has to match, beginning with ^; "" takes any text.
        longest: most characters, where there is such a limit; a log as a whole has one.
        verbatim: whether any text is a value, as a program takes it: "", "-" and "-1" are arguments like others.
    """

    expected: str = "a text that is known"
    pattern: str = ""
    longest: int | None = None
    verbatim: bool = False

    def _find_fault(self, value: Any) -> Fault | None:
        if not isinstance(value, str):
            return Fault.UNKNOWN if says_nothing(value) else Fault.TYPE
        if self.verbatim:
            return None
        if self.longest is not None and len(value) > self.longest:
            return Fault.IMPOSSIBLE
        if says_nothing(value):
            return Fault.UNKNOWN
        return None if re.search(self.pattern, value) else Fault.IMPOSSIBLE

    def to_schema(self) -> dict[str, object]:
        """Return the JSON Schema that accepts the same values."""
        if self.verbatim:
            return {"type": "string"}
        limits = {"maxLength": self.longest, "pattern": self.pattern}
        return {"$ref": "#/$defs/known"} | {name: each for name, each in limits.items() if each}


@dataclass(frozen=True, slots=True)
class NumberKind(ValueKind):
    """A finite number within bounds, both of them included; ``whole`` for whole numbers alone."""

    least: float
    most: float = WHOLE_MAX
    whole: bool = False

    @property
    def expected(self) -> str:
        """What is expected, as a noun phrase."""
        upper = f" to {self.most:.16g}" if self.most < WHOLE_MAX else " or more"
        bounds = f" of {self.least:.16g}{upper}" if self.least > -WHOLE_MAX else ""
        return f"a whole number{bounds}" if self.whole else f"a number{bounds}"

    def _find_fault(self, value: Any) -> Fault | None:
        if says_nothing(value):
            return Fault.UNKNOWN
        if isinstance(value, bool) or not isinstance(value, int | float):
            return Fault.TYPE
        if self.whole and value != int(value):
            return Fault.TYPE
        if not self.least <= value <= self.most:
            return Fault.UNKNOWN if value == -1 else Fault.IMPOSSIBLE
        return None

    def to_schema(self) -> dict[str, object]:
        """Return the JSON Schema that accepts the same values."""
        kind = "integer" if self.whole else "number"
        return {"type": kind, "minimum": self.least, "maximum": self.most}


TEXT: Final = TextKind()
_NUMBER: Final = NumberKind(-WHOLE_MAX)


@dataclass(frozen=True, slots=True)
class SettingKind(ValueKind):
    """A text that says something, a finite number of either sign, or true or false."""

    expected: str = "a text that is known, a number, or true or false"

    def _find_fault(self, value: Any) -> Fault | None:
        if isinstance(value, bool):
            return None
        return (_NUMBER if isinstance(value, int | float) else TEXT)._find_fault(value)

    def to_schema(self) -> dict[str, object]:
        """Return the JSON Schema that accepts the same values."""
        return {"anyOf": [TEXT.to_schema(), _NUMBER.to_schema(), {"type": "boolean"}]}


SHA256: Final = TextKind("a sha256 in 64 lower-case hex digits", f"^(?!0{{64}})[0-9a-f]{{64}}{END}")
DIGEST: Final = TextKind("a labelled digest, sha256:…", f"^sha256:(?!0{{64}})[0-9a-f]{{64}}{END}")
SEED: Final = TextKind(
    "a seed of at least 0, as decimal digits in a text", f"^(?:0|[1-9][0-9]*){END}", 80
)
_INSTANT: Final = TextKind(
    "an instant in UTC such as 2026-01-31T09:30:00Z",
    "^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    f"(?:\\.[0-9]{{1,9}})?Z{END}",
)
_PATH: Final = TextKind(
    "a relative path that stays inside its folder",
    f"^(?!/)(?![\\s\\S]*(?:^|/)[.][.](?:/|$))[^\\u0000-\\u001f\\\\]+{END}",
    4096,
)

Text: TypeAlias = Annotated[str, TEXT]
Verbatim: TypeAlias = Annotated[str, TextKind("a text", verbatim=True)]
Version: TypeAlias = Annotated[str, TextKind("a version that is pinned")]
Sha256: TypeAlias = Annotated[str, SHA256]
Digest: TypeAlias = Annotated[str, DIGEST]
SeedText: TypeAlias = Annotated[str, SEED]
Instant: TypeAlias = Annotated[str, _INSTANT]
InsidePath: TypeAlias = Annotated[str, _PATH]
Count: TypeAlias = Annotated[int, NumberKind(1, 10**9, whole=True)]
Bits: TypeAlias = Annotated[int, NumberKind(1, 64, whole=True)]
Position: TypeAlias = Annotated[int, NumberKind(0, whole=True)]
Strength: TypeAlias = Annotated[float, NumberKind(0, 10**6)]
Figure: TypeAlias = Annotated[float, _NUMBER]
Scalar: TypeAlias = Annotated[str | float | bool, SettingKind()]
"""A setting of a program."""
