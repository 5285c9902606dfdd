"""Arguments that fit a schema, made without chance: what is tried where nobody said what to try.

The least that fits: defaults where there are some, the first of several choices, small numbers within
their limits. A tool that acts on things by name will mostly find nothing under such a name; that it
could not be tried is then what is said.

Invariant: equal schemas give equal arguments.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from twice.tooling.seeding import RESERVED

_DEPTH_MAX: Final = 12
_WANTED: Final = 3


class NoExample(ValueError):
    """Nothing that fits could be made."""


def arguments_for(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for a tool's input schema, required ones alone.

    Raises:
        NoExample: when none could be made.
    """
    return _object(schema, schema.get("$defs", {}), 0, left_out=RESERVED)


def _value(schema: Mapping[str, Any], known: Mapping[str, Any], depth: int) -> Any:
    if depth > _DEPTH_MAX:
        raise NoExample("the schema refers to itself without an end")
    if "$ref" in schema:
        return _value(known[str(schema["$ref"]).rpartition("/")[2]], known, depth + 1)
    if "default" in schema:
        return schema["default"]
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return _value(schema[several][0], known, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else "null")
    if kind == "object":
        return _object(schema, known, depth)
    if kind == "array":
        return _array(schema, known, depth)
    return _scalar(kind, schema)


def _scalar(kind: str, schema: Mapping[str, Any]) -> Any:
    if kind == "string":
        if "pattern" in schema or "format" in schema:
            raise NoExample("no text is made for a pattern")
        return "a" * max(1, schema.get("minLength", 1))
    if kind in ("integer", "number"):
        return _number(schema, whole=kind == "integer")
    return True if kind == "boolean" else None


def _number(schema: Mapping[str, Any], *, whole: bool) -> Any:
    step = schema.get("multipleOf", 1 if whole else None)
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if "exclusiveMinimum" in schema:
        low = max(low, schema["exclusiveMinimum"] + (step or 0.5))
    if "exclusiveMaximum" in schema:
        high = min(high, schema["exclusiveMaximum"] - (step or 0.5))
    found = min(max(_WANTED if whole else 0.5, low), high)
    if step:
        found = math.ceil(found / step) * step
    if not low <= found <= high:
        raise NoExample("no number lies within the limits")
    return int(found) if whole else float(found)


def _object(
    schema: Mapping[str, Any],
    known: Mapping[str, Any],
    depth: int,
    left_out: tuple[str, ...] = (),
) -> dict[str, Any]:
    properties = schema.get("properties", {})
    return {
        name: _value(properties.get(name, {}), known, depth + 1)
        for name in schema.get("required", ())
        if name not in left_out
    }


def _array(schema: Mapping[str, Any], known: Mapping[str, Any], depth: int) -> list[Any]:
    if "prefixItems" in schema:
        return [_value(each, known, depth + 1) for each in schema["prefixItems"]]
    count = min(max(2, schema.get("minItems", 0)), schema.get("maxItems", math.inf))
    return [_value(schema.get("items", {}), known, depth + 1) for _ in range(int(count))]
