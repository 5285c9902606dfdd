"""How a block of a log declares its fields: the kind of each, and when it has to be there.

Invariant: every field of a block is declared by one of the functions here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeAlias, TypeVar

from twice.assets.log.kinds import Kind

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A field that has no value for this asset, with the reason."""

    reason: str


Known: TypeAlias = Value | NotApplicable | None
"""A value, the reason why there is none, or None where nobody said anything yet."""


class Need(StrEnum):
    """When a field has to be there."""

    ALWAYS = "always"
    PROMISED = "promised"
    """When the asset is promised to be deterministic."""
    MARKED = "marked"
    """When it is marked as non-deterministic."""
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True)
class One:
    """A single value of a kind."""

    kind: Kind


@dataclass(frozen=True, slots=True)
class Inside:
    """Another block."""

    block: type[Any]


@dataclass(frozen=True, slots=True)
class Many:
    """A list of values or of blocks; ``least`` is how many it has to hold, or 0."""

    of: One | Inside
    least: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Values or blocks by name."""

    of: One | Inside


Shape: TypeAlias = One | Inside | Many | Table


@dataclass(frozen=True, slots=True)
class Declared:
    """What is declared of a field.

    Args:
        shape: what its value looks like.
        need: when it has to be there.
        words: what it says, as a noun phrase.
        excusable: whether ``{"not_applicable": reason}`` may stand in its place.
    """

    shape: Shape
    need: Need
    words: str
    excusable: bool


KEY: Final = "twice.declared"
"""Where a dataclass field keeps what is declared of it."""


def declare(
    shape: Kind | type[Any] | Many | Table,
    need: Need,
    words: str,
    *,
    excusable: bool | None = None,
) -> Any:
    """Declare a field of a block; absent unless it is given.

    Args:
        shape: a kind, a block, a list or a table.
        need: when it has to be there.
        words: what it says, as a noun phrase.
        excusable: whether a reason may stand in its place; by default, where it is needed by a
            promise.
    """
    excused = need is Need.PROMISED if excusable is None else excusable
    declared = Declared(_shape(shape), need, words, excused)
    return field(default=None, metadata={KEY: declared})


def many(of: Kind | type[Any], least: int = 0) -> Many:
    """Declare a list."""
    return Many(_single(of), least)


def table(of: Kind | type[Any]) -> Table:
    """Declare values by name."""
    return Table(_single(of))


def _shape(shape: Kind | type[Any] | Many | Table) -> Shape:
    return shape if isinstance(shape, Many | Table) else _single(shape)


def _single(of: Kind | type[Any]) -> One | Inside:
    return Inside(of) if isinstance(of, type) else One(of)
