"""Every field of a log by its JSON pointer, as the models declare it; ``*`` stands for an item's number or name.

Drafts, messages and the scan for a project's own values use this table instead of walking the models.

Invariant: a pointer of the table is reached by a document that the models accept, and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from annotated_types import MinLen

from twice.assets.log.block import EXCUSE, LogBlock, Need, NotApplicable, need_of
from twice.assets.log.kinds import ValueKind
from twice.assets.log.models import DeterminismLog


@dataclass(frozen=True, slots=True)
class LogField:
    """What is declared of a field, or of the items of a list or a table.

    Args:
        words: what it says, as a noun phrase.
        need: when it has to be there.
        shape: the kind of a single value; else "block", "list", "table" or "choice".
        wanted: what it takes, as a noun phrase.
    """

    words: str
    need: Need
    shape: ValueKind | Literal["block", "list", "table", "choice"]
    wanted: str


def _list_fields(block: type[LogBlock], at: str) -> Iterator[tuple[str, LogField]]:
    for name, field in block.model_fields.items():
        yield from _describe(
            field.annotation, f"{at}/{name}", field.description or "", need_of(field)
        )


def _describe(annotation: Any, at: str, words: str, need: Need) -> Iterator[tuple[str, LogField]]:
    """Describe a field with everything below it."""
    excuse = f', or {{"{EXCUSE}": reason}}' if NotApplicable in get_args(annotation) else ""
    marks: list[Any] = []
    parts = [each for each in get_args(annotation) if each not in {NotApplicable, type(None)}]
    if type(None) in get_args(annotation):
        (annotation,) = parts
    if get_origin(annotation) is Annotated:
        annotation, *marks = get_args(annotation)
    kind = next((each for each in marks if isinstance(each, ValueKind)), None)
    inner = get_args(annotation)
    if kind is not None:
        yield at, LogField(words, need, kind, kind.expected + excuse)
    elif get_origin(annotation) is tuple:
        least = " of at least 1" if any(isinstance(each, MinLen) for each in marks) else ""
        yield at, LogField(words, need, "list", f"a list{least}{excuse}")
        yield from _describe(inner[0], f"{at}/*", words, need)
    elif get_origin(annotation) is dict:
        yield at, LogField(words, need, "table", f"an object of values by name{excuse}")
        yield from _describe(inner[1], f"{at}/*", words, need)
    elif get_origin(annotation) is Literal or issubclass(annotation, StrEnum):
        choices = ", ".join(inner or annotation)
        yield at, LogField(words, need, "choice", f"one of {choices}{excuse}")
    elif annotation is bool:
        yield at, LogField(words, need, "choice", "true or false")
    else:
        needed = [
            name
            for name, field in annotation.model_fields.items()
            if need_of(field) is not Need.OPTIONAL
        ]
        which = f" with {', '.join(needed)}" if needed else ""
        yield at, LogField(words, need, "block", f"an object{which}{excuse}")
        yield from _list_fields(annotation, at)


FIELDS: Final[Mapping[str, LogField]] = dict(_list_fields(DeterminismLog, ""))


def find_pointer(steps: Sequence[str | int]) -> str:
    """Find the pointer of the table for a place in a document; the nearest above it, where it has none of its own."""
    at = ""
    for step in steps:
        below = next((each for each in (f"{at}/{step}", f"{at}/*") if each in FIELDS), None)
        if below is None:
            return at
        at = below
    return at


def list_children(at: str) -> dict[str, LogField]:
    """Give the fields right below a pointer of the table, by name; "" for those of a log."""
    return {
        pointer.rpartition("/")[2]: field
        for pointer, field in FIELDS.items()
        if pointer.rpartition("/")[0] == at
    }
