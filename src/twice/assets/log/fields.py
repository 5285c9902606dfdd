"""Every field of a log by its JSON pointer, as the models declare it; ``*`` stands for an item's number or name.

The schema, drafts, messages and the scan for a project's own values use this table instead of walking the models.

Invariant: a pointer of the table is reached by a document that the models accept, and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from annotated_types import MinLen

from twice.assets.log.block import EXCUSE, LogBlock, NotApplicable, list_modes
from twice.assets.log.kinds import ValueKind
from twice.assets.log.models import DeterminismLog


@dataclass(frozen=True, slots=True)
class LogField:
    """What is declared of a field, or of the items of a list or a table.

    Args:
        words: what it says, as a noun phrase.
        modes: the promises under which it has to be there.
        shape: the kind of a single value, the class of a block, or one of the three others.
        wanted: what it takes, as a noun phrase.
        schema: the JSON Schema of a single value; of a list, how long it is at least.
        is_excusable: whether a reason may stand in its place.
    """

    words: str
    modes: Sequence[str]
    shape: ValueKind | type[LogBlock] | Literal["list", "table", "choice"]
    wanted: str
    schema: Mapping[str, object]
    is_excusable: bool


def _list_fields(block: type[LogBlock], at: str) -> Iterator[tuple[str, LogField]]:
    for name, field in block.model_fields.items():
        words, modes = field.description or "", list_modes(field)
        yield from _describe(field.annotation, f"{at}/{name}", words, modes)


def _describe(
    annotation: Any, at: str, words: str, modes: Sequence[str]
) -> Iterator[tuple[str, LogField]]:
    """Describe a field with everything below it."""
    marks: list[Any] = []
    below: Iterator[tuple[str, LogField]] = iter(())
    shape: Any
    schema: Mapping[str, object] = {}
    is_excusable = NotApplicable in get_args(annotation)
    parts = [each for each in get_args(annotation) if each not in {NotApplicable, type(None)}]
    if type(None) in get_args(annotation):
        (annotation,) = parts
    if get_origin(annotation) is Annotated:
        annotation, *marks = get_args(annotation)
    inner = get_args(annotation)
    kind = next((each for each in marks if isinstance(each, ValueKind)), None)
    if kind is not None:
        shape, wanted, schema = kind, kind.expected, kind.to_schema()
    elif get_origin(annotation) is tuple:
        least = any(isinstance(each, MinLen) for each in marks)
        shape, wanted = "list", "a list of at least 1" if least else "a list"
        schema, below = {"minItems": int(least)}, _describe(inner[0], f"{at}/*", words, modes)
    elif get_origin(annotation) is dict:
        shape, wanted = "table", "an object of values by name"
        below = _describe(inner[1], f"{at}/*", words, modes)
    elif annotation is bool:
        shape, wanted, schema = "choice", "true or false", {"type": "boolean"}
    elif get_origin(annotation) is Literal or issubclass(annotation, StrEnum):
        choices = [str(each) for each in inner or annotation]
        shape, wanted, schema = "choice", f"one of {', '.join(choices)}", {"enum": choices}
    else:
        fields = annotation.model_fields.items()
        needed = ", ".join(name for name, field in fields if list_modes(field))
        shape, wanted = annotation, f"an object with {needed}" if needed else "an object"
        below = _list_fields(annotation, at)
    wanted += f', or {{"{EXCUSE}": reason}}' if is_excusable else ""
    yield at, LogField(words, modes, shape, wanted, schema, is_excusable)
    yield from below


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
