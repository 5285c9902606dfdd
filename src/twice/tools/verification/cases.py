"""Which cases a tool is tried with: those of a file, else those of its declaration, else made ones.

Made are two examples that fit the schema, without chance: the least, and a full one with lists of several different
elements and texts of several words, because the order of a set shows with several elements only. Defaults where
there are some, the first of several choices, small numbers within their limits. A tool that acts on things by name
will mostly find nothing under such a name; that it could not be tried is then what is said.

Invariant: what is chosen depends on the file, the declaration and the schema alone.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from twice.errors import UsageError
from twice.tools.cases import Case
from twice.tools.declaration import Tool
from twice.tools.seeds import RESERVED
from twice.tools.verification.report import read_document

FORMAT: Final = "twice.tools-cases/1"
_DEPTH_MAX: Final = 12
_NUMBER: Final = 3
_WORDS: Final = ("ash", "birch", "cedar", "elm", "fir", "hazel", "maple", "oak")
_FEW: Final = 2
"""Elements of a list in the least example."""


class NoExample(ValueError):
    """Nothing that fits could be made."""


def choose_cases(tool: Tool, given: Sequence[Case]) -> dict[str, Any]:
    """Choose the cases of a tool: ``cases`` as plain data, their ``origin``, and ``why`` there are none.

    Args:
        tool: that is tried.
        given: the cases of a file.
    """
    cases, origin, why = given or tool.cases, "file" if given else "declared", ""
    if not cases:
        origin = "generated"
        try:
            cases = [Case(each) for each in list_arguments(tool.parameters.schema)]
        except (NoExample, KeyError, TypeError) as error:
            why = f"no arguments could be made: {error}"
    return {"cases": [each.to_json() for each in cases], "origin": origin, "why": why}


def read_cases(path: Path, names: Collection[str]) -> dict[str, list[Case]]:
    """Read the cases of a file, by tool.

    Args:
        path: ``{"format": "twice.tools-cases/1", "cases": [{"tool", "arguments", "start"}]}``.
        names: the tools that there are.

    Raises:
        UsageError: E-USE-001, when it is no such file, or names a tool that there is not.
    """
    found: dict[str, list[Case]] = {}
    try:
        rows = read_document(path, FORMAT).get("cases")
        for at, row in enumerate(rows if isinstance(rows, list) else [None]):
            name = row.get("tool") if isinstance(row, Mapping) else None
            if not isinstance(name, str) or name not in names:
                raise _refuse(path, f"cases[{at}] is of no tool of this registry: {name!r:.80}")
            try:
                found.setdefault(name, []).append(Case.from_json(row))
            except ValueError as error:
                raise _refuse(path, f"cases[{at}] {error}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise _refuse(path, str(error)) from error
    return found


def _refuse(path: Path, why: str) -> UsageError:
    return UsageError(
        f"The cases in {path} cannot be used: {why}.",
        f'Expected {{"format": "{FORMAT}", "cases": [{{"tool": …, "arguments": {{…}}}}]}}.',
        "Correct the file, or leave --cases out.",
    )


def list_arguments(schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Make required arguments for a tool's input schema: the least, then a full example if it differs.

    Raises:
        NoExample: when not even the least could be made.
    """
    known = schema.get("$defs", {})
    own = [name for name in schema.get("required", ()) if name not in RESERVED]
    schema = {**schema, "required": own}
    least = _Example(known, is_full=False).make_object(schema, 0, None)
    yield least
    with suppress(NoExample):
        full = _Example(known, is_full=True).make_object(schema, 0, None)
        if full != least:
            yield full


@dataclass(frozen=True)
class _Example:
    """One way to fill schemas; ``at`` is the position in a list, None outside of lists."""

    known: Mapping[str, Any]
    is_full: bool

    def make_object(self, schema: Mapping[str, Any], depth: int, at: int | None) -> dict[str, Any]:
        properties, free = schema.get("properties", {}), schema.get("additionalProperties")
        if not properties and isinstance(free, Mapping):
            count = self._count(schema, "Properties", 0)
            return {_word(n): self._make(free, depth + 1, n) for n in range(count)}
        return {
            name: self._make(properties.get(name, {}), depth + 1, at)
            for name in schema.get("required", ())
        }

    def _make(self, schema: Mapping[str, Any], depth: int, at: int | None) -> Any:
        if depth > _DEPTH_MAX:
            raise NoExample("the schema refers to itself without an end")
        if "$ref" in schema:
            return self._make(self.known[str(schema["$ref"]).rpartition("/")[2]], depth + 1, at)
        for fixed in ("default", "const"):
            if fixed in schema:
                return schema[fixed]
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
        count = self._count(schema, "Items", _FEW)
        made = [self._make(schema.get("items", {}), depth + 1, n) for n in range(count)]
        if schema.get("uniqueItems"):
            made = [each for n, each in enumerate(made) if each not in made[:n]]
        if len(made) < schema.get("minItems", 0):
            raise NoExample("too few different elements could be made")
        return made

    def _count(self, schema: Mapping[str, Any], what: str, least: int) -> int:
        wanted = max(len(_WORDS) if self.is_full else least, schema.get(f"min{what}", 0))
        return int(min(wanted, schema.get(f"max{what}", wanted)))

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
    found = min(max(_NUMBER if whole else 0.5, low), high)
    if step:
        found = math.ceil(found / step) * step
    if not low <= found <= high:
        raise NoExample("no number lies within the limits")
    others = (found + at * (step or 0.5), found - at * (step or 0.5))
    found = next((each for each in others if low <= each <= high), found)
    return int(found) if whole else float(found)
