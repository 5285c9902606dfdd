"""Seeds of calls: how they are written, which one counts, and what is derived from it.

A seed is a parameter of the call, else the session's (inside a macro: the macro's), else the call is
refused. Nothing here makes a seed up. What a step draws depends on the seed, the caller's
``call_key``, the tool's name and the step's path alone, so equal calls give equal results and the
order of calls means nothing.

Invariant: the seed and call key that an envelope echoes, given as parameters, make the same draws.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from twice.foundation.seeds import SEED_LIMIT, Seed, derive_in
from twice.tools.canonical_json import INTEGER_MAX

Source = Literal["parameter", "session", "macro"]

CALL_KEY_BYTES_MAX: Final = 255
RESERVED: Final = ("seed", "call_key")
"""Parameters that every seeded tool has, and no other may declare as its own."""

_DIGITS = re.compile(r"0|[1-9][0-9]{0,77}")

SEED_SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": INTEGER_MAX},
        {"type": "string", "pattern": "^(0|[1-9][0-9]{0,77})$"},
        {"type": "null"},
    ],
    "default": None,
    "description": "Decides every random draw. From 0 to 2**256 - 1; above 2**53 - 1 as decimal"
    " text. Left out, the session's seed counts.",
}
CALL_KEY_SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [
        {"type": "string", "minLength": 1, "maxLength": CALL_KEY_BYTES_MAX},
        {"type": "null"},
    ],
    "default": None,
    "description": "Names one of several otherwise equal calls: another key is another draw.",
}


@dataclass(frozen=True)
class Seeded:
    """The seed of one call as its source gave it, and the call key that the caller gave besides."""

    seed: Seed
    source: Source
    call_key: str | None = None

    @property
    def working(self) -> Seed:
        """What steps and sub-operations derive from: the seed, or the seed under its call key."""
        if self.call_key is None:
            return self.seed
        return derive_in(self.seed, "call", self.call_key)


def read_seed(value: object) -> Seed | None:
    """Read a seed of arguments or a contract; a ``ValueError`` of one that is none is in words."""
    if value is None:
        return None
    if type(value) is int and 0 <= value < SEED_LIMIT:
        return Seed(value)
    if isinstance(value, str) and _DIGITS.fullmatch(value) and int(value) < SEED_LIMIT:
        return Seed(int(value))
    raise ValueError(f"a seed is an integer from 0 to 2**256 - 1, and not {value!r:.90}")


def read_call_key(value: object) -> str | None:
    """Read a call key of arguments, as ``read_seed`` does."""
    if value is None:
        return None
    if not isinstance(value, str) or not 1 <= len(value.encode()) <= CALL_KEY_BYTES_MAX:
        raise ValueError(
            f"a call key is text of 1 to {CALL_KEY_BYTES_MAX} bytes, not {value!r:.90}"
        )
    return value


def seed_to_json(seed: Seed) -> int | str:
    """Write a seed as JSON carries it unharmed: an integer, or decimal text where one would be rounded."""
    return seed.value if seed.value <= INTEGER_MAX else str(seed.value)
