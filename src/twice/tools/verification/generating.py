"""Arguments that fit a schema, made without chance: what is tried where nobody said what to try.

Two examples: the least that fits, and a full one, with lists of several different elements and texts of
several words, because the order of a set shows with several elements only. Defaults where there are
some, the first of several choices, small numbers within their limits. A tool that acts on things by name
will mostly find nothing under such a name; that it could not be tried is then what is said.

Invariant: equal schemas give equal arguments.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from twice.tools.seeding import RESERVED

_DEPTH_MAX: Final = 12
_WANTED: Final = 3
_WORDS: Final = ("ash", "birch", "cedar", "elm", "fir", "hazel", "maple", "oak")
_LEAST: Final = 2
"""Elements of a list in the least example."""


class NoExample(ValueError):
    """Nothing that fits could be made."""


def list_arguments(schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Make arguments for a tool's input schema, required ones alone: the least, then a full example if it differs.

    Raises:
        NoExample: when not even the least could be made.
    """
    known = schema.get("$defs", {})
    least = _Example(known, is_full=False).make_object(schema, 0, None, left_out=RESERVED)
    yield least
    with suppress(NoExample):
        full = _Example(known, is_full=True).make_object(schema, 0, None, left_out=RESERVED)
        if full != least:
            yield full


@dataclass(frozen=True)
class _Example:
    """One way to fill schemas; ``at`` is the position in a list, None outside of lists."""

    known: Mapping[str, Any]
    is_full: bool

    def make_object(
        self,
        schema: Mapping[str, Any],
        depth: int,
        at: int | None,
        left_out: tuple[str, ...] = (),
    ) -> dict[str, Any]:
        properties, free = schema.get("properties", {}), schema.get("additionalProperties")
        if not properties and isinstance(free, Mapping):
            count = min(
                max(len(_WORDS) if self.is_full else 0, schema.get("minProperties", 0)),
                schema.get("maxProperties", math.inf),
            )
            return {_word(n): self._make(free, depth + 1, n) for n in range(int(count))}
        return {
            name: self._make(properties.get(name, {}), depth + 1, at)
            for name in schema.get("required", ())
            if name not in left_out
        }

    def _make(self, schema: Mapping[str, Any], depth: int, at: int | None) -> Any:
        if depth > _DEPTH_MAX:
            raise NoExample("the schema refers to itself without an end")
        if "$ref" in schema:
            return self._make(self.known[str(schema["$ref"]).rpartition("/")[2]], depth + 1, at)
        if "default" in schema:
            return schema["default"]
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][(at or 0) % len(schema["enum"])]
        for several in ("anyOf", "oneOf", "allOf"):
            if several in schema:
                return self._make(schema[several][0], depth + 1, at)
        kind = schema.get("type", "object" if "properties" in schema else "null")
        if kind == "object":
            return self.make_object(schema, depth, at)
        if kind == "array":
            return self._make_array(schema, depth)
        if kind == "string":
            return self._make_text(schema, at)
        if kind in ("integer", "number"):
            return _make_number(schema, at or 0, whole=kind == "integer")
        return (at or 0) % 2 == 0 if kind == "boolean" else None

    def _make_array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        if "prefixItems" in schema:
            return [self._make(each, depth + 1, n) for n, each in enumerate(schema["prefixItems"])]
        least = schema.get("minItems", 0)
        count = min(
            max(len(_WORDS) if self.is_full else _LEAST, least), schema.get("maxItems", math.inf)
        )
        made = [self._make(schema.get("items", {}), depth + 1, n) for n in range(int(count))]
        if schema.get("uniqueItems"):
            made = [each for n, each in enumerate(made) if each not in made[:n]]
        if len(made) < least:
            raise NoExample("too few different elements could be made")
        return made

    def _make_text(self, schema: Mapping[str, Any], at: int | None) -> str:
        if "pattern" in schema or "format" in schema:
            raise NoExample("no text is made for a pattern")
        plain = " ".join(_WORDS) if self.is_full else "a"
        made = plain if at is None else _word(at)
        return made[: schema.get("maxLength", len(made))].ljust(schema.get("minLength", 0), "a")


def _word(at: int) -> str:
    return _WORDS[at % len(_WORDS)] + str(at // len(_WORDS) or "")


def _make_number(schema: Mapping[str, Any], at: int, *, whole: bool) -> Any:
    """Make a number within the limits, another one at each position as long as the limits allow it."""
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
    for other in (found + at * (step or 0.5), found - at * (step or 0.5)):
        if low <= other <= high:
            found = other
            break
    return int(found) if whole else float(found)
