"""What every part of a log is: a pydantic model whose fields say when they have to be there, and which a reason may excuse.

Reading a document, a field that is missing, null or not allowed is put in as ``Instead``, which no kind takes: so one
validation names every fault at its place.

Invariant: what means "unknown" is never a value; ``{"not_applicable": reason}`` is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Final, TypeAlias, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationInfo,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from twice.assets.log.kinds import Fault, TextKind

EXCUSE: Final = "not_applicable"
EXCUSE_MARK: Final = "x-excusable"
"""Marks a JSON Schema of a field that a reason may excuse; the schema's writer puts the choice there."""
Value = TypeVar("Value")


class Mode(StrEnum):
    """Which of the two promises."""

    DETERMINISTIC = "deterministic"
    NON_DETERMINISTIC = "non-deterministic"


class Need(StrEnum):
    """When a field has to be there."""

    ALWAYS = "always"
    PROMISED = "promised"
    """When the asset is promised to be deterministic."""
    MARKED = "marked"
    """When it is marked as non-deterministic."""
    OPTIONAL = "optional"

    def holds(self, mode: str | None) -> bool:
        """Whether a field of this need has to be there under a promise, or under none that is known."""
        needs = {Mode.DETERMINISTIC: Need.PROMISED, Mode.NON_DETERMINISTIC: Need.MARKED}
        return self is Need.ALWAYS or (mode in set(Mode) and needs[Mode(mode)] is self)


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A field that has no value for this asset, with the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Instead:
    """What stands in a document in the place of a value that no kind takes, so that its field is named as faulty."""

    fault: Fault
    found: Any = None


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

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, object]:
        return {EXCUSE_MARK: True, **handler(schema)}


Known: TypeAlias = Annotated[Value | NotApplicable | None, Excusable()]
"""A value, the reason why there is none, or None where nobody said anything yet."""


def value_of(found: Any) -> Any:
    """Give a value; None for a reason, or where nobody said anything."""
    return None if isinstance(found, NotApplicable) else found


class Excuse(BaseModel):
    """The reason that stands in the place of a value."""

    model_config = ConfigDict(extra="forbid")

    not_applicable: Annotated[str, TextKind("a reason")]


def always(words: str) -> Any:
    """Declare a field that every log needs, with what it says as a noun phrase."""
    return _field(words, Need.ALWAYS)


def promised(words: str) -> Any:
    """Declare a field that a deterministic promise needs."""
    return _field(words, Need.PROMISED)


def marked(words: str) -> Any:
    """Declare a field that an asset without a promise needs."""
    return _field(words, Need.MARKED)


def optional(words: str) -> Any:
    """Declare a field that no log needs."""
    return _field(words, Need.OPTIONAL)


def _field(words: str, need: Need) -> Any:
    return Field(default=None, description=words, json_schema_extra={"need": need.value})


class LogBlock(BaseModel):
    """A part of a log. Reading a document, the context is the mode of its promise, or "" where it is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def find_needed(cls, said: Mapping[str, Any], mode: str) -> tuple[str, ...]:  # noqa: ARG003  (see Promise)
        """Name the fields that have to be there."""
        return _list_needed(cls, mode)

    @classmethod
    def find_barred(cls, said: Mapping[str, Any]) -> Sequence[str]:  # noqa: ARG003  (see DeterminismLog)
        """Name the fields that must not be there."""
        return ()

    @model_validator(mode="before")
    @classmethod
    def _mark_faults(cls, said: Any, info: ValidationInfo) -> Any:
        """Put what no kind takes where a document lacks a field, has null, or has what it may not have.

        A field that nobody spoke of is None in Python; in a document null is a value that nobody knows.
        """
        if info.context is None or not isinstance(said, Mapping):
            return said
        missing = {
            name: Instead(Fault.MISSING) for name in cls.find_needed(said, info.context["mode"])
        }
        barred = {
            name: Instead(Fault.UNEXPECTED, said[name])
            for name in cls.find_barred(said)
            if name in said
        }
        nulls = {name: Instead(Fault.UNKNOWN) for name, value in said.items() if value is None}
        return {**missing, **said, **nulls, **barred}


@cache
def _list_needed(block: type[LogBlock], mode: str) -> tuple[str, ...]:
    fields = block.model_fields.items()
    return tuple(name for name, field in fields if need_of(field).holds(mode))


def need_of(field: Any) -> Need:
    """Tell when a field of a block has to be there."""
    return Need(field.json_schema_extra["need"])
