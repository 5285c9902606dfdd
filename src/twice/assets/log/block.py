"""What every part of a log is: a pydantic model whose fields say when they have to be there, and which a reason may excuse.

Reading a document, a field that is missing, null or not allowed is put in as ``Instead``, which no kind takes: so one
validation names every fault at its place.

Invariant: what means "unknown" is never a value; ``{"not_applicable": reason}`` is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Final, TypeAlias, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationInfo,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from twice.assets.log.kinds import Fault, TextKind

EXCUSE: Final = "not_applicable"
Value = TypeVar("Value")


class Mode(StrEnum):
    """Which of the two promises."""

    DETERMINISTIC = "deterministic"
    NON_DETERMINISTIC = "non-deterministic"


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A field that has no value for this asset, with the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Instead:
    """What stands in a document in the place of a value that no kind takes, so that its field is named as faulty."""

    fault: Fault
    found: Any = None


class Excuse(BaseModel):
    """The reason that stands in the place of a value."""

    model_config = ConfigDict(extra="forbid")

    not_applicable: Annotated[str, TextKind("a reason")]


@dataclass(frozen=True, slots=True)
class Excusable:
    """Lets ``{"not_applicable": reason}`` stand in the place of a value."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def validate(value: Any, take: core_schema.ValidatorFunctionWrapHandler) -> Any:
            if isinstance(value, Mapping) and EXCUSE in value:
                return NotApplicable(Excuse.model_validate(value).not_applicable)
            return value if isinstance(value, NotApplicable) else take(value)

        (inner,) = (each for each in get_args(source) if each not in {NotApplicable, type(None)})
        schema = core_schema.nullable_schema(handler.generate_schema(inner))
        return core_schema.no_info_wrap_validator_function(validate, schema)


Known: TypeAlias = Annotated[Value | NotApplicable | None, Excusable()]
"""A value, the reason why there is none, or None where nobody said anything yet."""


def value_of(found: Any) -> Any:
    """Give a value; None for a reason, or where nobody said anything."""
    return None if isinstance(found, NotApplicable) else found


def always(words: str) -> Any:
    """Declare a field that every log needs, with what it says as a noun phrase."""
    return _field(words, "", *Mode)


def promised(words: str) -> Any:
    """Declare a field that a deterministic promise needs."""
    return _field(words, Mode.DETERMINISTIC)


def marked(words: str) -> Any:
    """Declare a field that an asset without a promise needs."""
    return _field(words, Mode.NON_DETERMINISTIC)


def optional(words: str) -> Any:
    """Declare a field that no log needs."""
    return _field(words)


def _field(words: str, *modes: str) -> Any:
    return Field(default=None, description=words, json_schema_extra={"modes": list(modes)})


def list_modes(field: Any) -> list[str]:
    """List the promises under which a field of a block has to be there; "" is one that is not known."""
    modes: list[str] = field.json_schema_extra["modes"]
    return modes


class LogBlock(BaseModel):
    """A part of a log. Reading a document, the context is the mode of its promise, or "" where it is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def find_faults(cls, said: Mapping[str, Any], mode: str) -> dict[str, Fault]:
        """Name the fields of a document that are missing or null, whatever the others hold."""
        nulls = {name: Fault.UNKNOWN for name, value in said.items() if value is None}
        return nulls | {name: Fault.MISSING for name in _list_needed(cls, mode) if name not in said}

    @model_validator(mode="before")
    @classmethod
    def _mark_faults(cls, said: Any, info: ValidationInfo) -> Any:
        # A field that nobody spoke of is None in Python; in a document null is a value that nobody knows.
        if info.context is None or not isinstance(said, Mapping):
            return said
        faults = cls.find_faults(said, info.context)
        return {**said, **{name: Instead(each, said.get(name)) for name, each in faults.items()}}


@cache
def _list_needed(block: type[LogBlock], mode: str) -> list[str]:
    return [name for name, field in block.model_fields.items() if mode in list_modes(field)]
