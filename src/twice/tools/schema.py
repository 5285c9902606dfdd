"""A function's signature as schemas: what may be given to it, and what it may give back.

Arguments are JSON and are read as JSON, strictly: no unknown parameter at any depth, no text for a
number, no NaN. Results are written as JSON and read back by the declared type, so that an envelope
never carries what its schema does not say.

Invariant: what ``read`` accepts, the input schema describes, and the other way round as far as JSON
Schema can say it (a validator of the tool's own may refuse more).
"""

from __future__ import annotations

import inspect
import json
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pydantic
from pydantic.json_schema import GenerateJsonSchema, WithJsonSchema

from twice.foundation.seeds import Seed
from twice.tools.canonical_json import NotPlain, plain
from twice.tools.errors import ToolRefused
from twice.tools.seeds import (
    CALL_KEY_SCHEMA,
    RESERVED,
    SEED_SCHEMA,
    read_call_key,
    read_seed,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SEED = Annotated[Any, pydantic.AfterValidator(read_seed), WithJsonSchema(SEED_SCHEMA)]
_KEY = Annotated[Any, pydantic.AfterValidator(read_call_key), WithJsonSchema(CALL_KEY_SCHEMA)]


class _Untitled(GenerateJsonSchema):
    """Schemas without the titles that pydantic makes of names: they say nothing more."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never."""
        del schema
        return False


@dataclass(frozen=True)
class Arguments:
    """Arguments that were read: in the types that the function declares, and as JSON with defaults filled in.

    Neither has seed and call key, which stand beside them.
    """

    values: Mapping[str, Any]
    plain: Mapping[str, Any]
    seed: Seed | None = None
    call_key: str | None = None


class Parameters:
    """What may be given to a tool.

    Args:
        declared: annotation and default by name, in order; ``...`` where there is no default.
        seeded: whether seed and call key are parameters besides.

    Raises:
        ToolRefused: E-TOOL-001, for a type that has no JSON form.
    """

    def __init__(self, declared: Mapping[str, tuple[Any, Any]], *, seeded: bool) -> None:
        self.names = tuple(declared)
        reserved = {"seed": (_SEED, None), "call_key": (_KEY, None)} if seeded else {}
        every = {**declared, **reserved}
        # Fields have names of their own, so that a parameter may be called ``copy`` or ``_x``.
        self._fields = {f"p{at}": name for at, name in enumerate(every)}
        fields: Any = {f"p{at}": pair for at, pair in enumerate(every.values())}
        config = pydantic.ConfigDict(
            extra="forbid",
            strict=True,
            allow_inf_nan=False,
            arbitrary_types_allowed=False,
            validate_default=True,
            alias_generator=self._fields.__getitem__,
        )
        self._model = _build(
            lambda: pydantic.create_model("Parameters", __config__=config, **fields)
        )
        for name, (annotation, default) in declared.items():
            if default is ... or isinstance(default, pydantic.fields.FieldInfo):
                continue
            try:
                pydantic.TypeAdapter(annotation).validate_python(default, strict=True)
            except pydantic.ValidationError as error:
                raise ToolRefused(
                    f"The default of {name}, {default!r:.80}, does not fit its own type.",
                    "Expected a default that a caller could give as well.",
                    "Change the default or the type.",
                ) from error
        schema = _build(lambda: self._model.model_json_schema(schema_generator=_Untitled))
        self.schema = {"$schema": DIALECT, **schema}

    def read(self, given: Mapping[str, Any]) -> Arguments:
        """Read arguments that are plain JSON; raise pydantic's error when they are not what the schema says."""
        text = json.dumps(given, ensure_ascii=False)
        found = self._model.model_validate_json(text, strict=True, extra="forbid")
        values = {name: getattr(found, field) for field, name in self._fields.items()}
        seed, key = (values.pop(each, None) for each in RESERVED)
        dumped = found.model_dump(mode="json", by_alias=True)
        return Arguments(values, plain({name: dumped[name] for name in self.names}), seed, key)


class Result:
    """What a tool may give back.

    Args:
        annotation: the declared type; ``inspect.Signature.empty`` for any JSON value.

    Raises:
        ToolRefused: E-TOOL-001, for a type that has no JSON form, or no order.
    """

    def __init__(self, annotation: Any) -> None:
        self._adapter: pydantic.TypeAdapter[Any] | None = None
        self.schema: dict[str, Any] = {"$schema": DIALECT}
        if annotation is inspect.Signature.empty or annotation is Any:
            return
        adapter: pydantic.TypeAdapter[Any] = _build(lambda: pydantic.TypeAdapter(annotation))
        self._adapter = adapter
        self.schema |= _build(
            lambda: adapter.json_schema(mode="serialization", schema_generator=_Untitled)
        )
        if _has_key(self.schema, "uniqueItems"):
            raise ToolRefused(
                f"The result type {annotation!r} holds a set.",
                "Expected types with an order that does not depend on hashes.",
                "Return a sorted list.",
            )

    def write(self, value: object) -> Any:
        """Give a result as plain JSON, held against the declared type.

        Raises:
            NotPlain: when it has no JSON form, or no order: a set in it, however wide its type.
            pydantic.ValidationError: when it is not what was declared.
            pydantic_core.PydanticSerializationError: the same.
        """
        if self._adapter is None:
            return plain(value)
        # As Python first: as JSON, a set below ``dict``, ``list`` or ``object`` becomes a list in hash order.
        dump = partial(self._adapter.dump_python, value, by_alias=True, warnings="error")
        _refuse_unordered(dump(mode="python"), "")
        dumped = plain(dump(mode="json"))
        self._adapter.validate_json(json.dumps(dumped), strict=True)
        return dumped


def _refuse_unordered(value: object, path: str) -> None:
    if isinstance(value, Mapping):
        for key, each in value.items():
            _refuse_unordered(each, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple | deque):
        for at, each in enumerate(value):
            _refuse_unordered(each, f"{path}[{at}]")
    elif isinstance(value, set | frozenset):
        kind = type(value).__name__
        raise NotPlain(path, f"is a {kind}, which has no order; return a sorted list")
    elif isinstance(value, Iterator):
        raise NotPlain(path, "is an iterator, whose order nobody can see; return a list")


def read_signature(
    function: Callable[..., Any], given: type, *, seeded: bool
) -> tuple[dict[str, tuple[Any, Any]], Any, str | None]:
    """Read a function's parameters, its result type, and the parameter that the runtime gives, by the type ``given``.

    In a seeded tool the parameter ``seed`` stands for the call's seed, and is left out here.
    """
    tool = getattr(function, "__name__", repr(function))
    hints = _read_hints(function, tool)
    declared: dict[str, tuple[Any, Any]] = {}
    runtime: str | None = None
    for each in inspect.signature(function).parameters.values():
        name = each.name
        if each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            raise ToolRefused(
                f"{tool} has the parameter {each}.",
                "Expected parameters that can be given by name.",
                "Write every parameter out.",
            )
        if name not in hints:
            raise ToolRefused(
                f"The parameter {name} of {tool} has no type.",
                "Expected a type for every parameter: it is what arguments are held against.",
                f"For example {name}: int; what gives seeds, names and time is {name}: twice.tools.Context",
            )
        if name in RESERVED and not seeded:
            raise ToolRefused(
                f"{tool} has a parameter {name} and is not declared seeded.",
                "A tool that takes a seed is seeded; no other tool has a parameter of that name.",
                'Declare it so: determinism="seeded", or give the parameter another name.',
            )
        if name == "call_key":
            raise ToolRefused(
                f"{tool} declares the parameter call_key.",
                "Every seeded tool has one; it is part of what the seed derives.",
                "Leave it out.",
            )
        hint = hints[name]
        if hint is given or (get_origin(hint) is Annotated and get_args(hint)[0] is given):
            runtime = name
        elif name != "seed":
            declared[name] = (hint, ... if each.default is each.empty else each.default)
    return declared, hints.get("return", inspect.Signature.empty), runtime


def _read_hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """Its annotations as types, those that name something local to the declaring function as well."""
    local: dict[str, Any] = {}
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__package__") == __package__:
        frame = frame.f_back
    if frame is not None and frame.f_code.co_name != "<module>":
        local = dict(frame.f_locals)
    try:
        return get_type_hints(function, localns=local, include_extras=True)
    except Exception as error:
        raise ToolRefused(
            f"The types of {name} cannot be read: {error}.",
            "Expected types that are defined where the function is.",
            "Import what they name, or define it before the function.",
        ) from error


def _build(build: Callable[[], Any]) -> Any:
    try:
        return build()
    except (
        pydantic.errors.PydanticUserError,
        pydantic.ValidationError,
        TypeError,
        ValueError,
        RecursionError,
    ) as error:
        raise ToolRefused(
            f"A type has no JSON Schema: {str(error).splitlines()[0]}",
            "Expected plain types, Literal, enums, dataclasses, TypedDicts and pydantic models.",
            "Use one of them; for arrays, lists of numbers.",
        ) from error


def _has_key(schema: object, key: str) -> bool:
    if isinstance(schema, dict):
        return key in schema or any(_has_key(each, key) for each in schema.values())
    return isinstance(schema, list) and any(_has_key(each, key) for each in schema)
