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
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from twice.errors import UsageError
from twice.tools.cases import Case
from twice.tools.declaration import Tool
from twice.tools.errors import ToolRefused
from twice.tools.seeds import RESERVED
from twice.tools.verification.report import parse, read_document

FORMAT: Final = "twice.tools-cases/1"
_NUMBER: Final = 3
_WORDS: Final = ("ash", "birch", "cedar", "elm", "fir", "hazel", "maple", "oak")
_FEW: Final = 2
"""Elements of a list in the least example."""
_KEYS: Final = {"tool", *(each.name for each in fields(Case))}


class NoExample(ValueError):
    """Nothing that fits could be made."""


def choose_cases(tool: Tool, given: Sequence[Case]) -> tuple[tuple[Case, ...], str, str]:
    """Choose the cases of a tool: those of a file, its own, or made ones; where they are from, and why there are none."""
    if cases := given or tool.cases:
        return tuple(cases), "file" if given else "declared", ""
    try:
        return tuple(map(Case, list_arguments(tool.parameters.schema))), "generated", ""
    except (NoExample, KeyError, TypeError) as error:
        return (), "generated", f"no arguments could be made: {error}"


def read_cases(path: Path, names: Collection[str]) -> dict[str, list[Case]]:
    """Read the cases of a file, by tool.

    Args:
        path: ``{"format": "twice.tools-cases/1", "cases": [{"tool", "arguments", "start"}]}``.
        names: the tools that there are.

    Raises:
        UsageError: E-USE-001, when it is no such file, or names a tool that there is not.
    """
    found: dict[str, list[Case]] = {}
    at: int | None = None
    try:
        rows = read_document(path, FORMAT).get("cases")
        for at, row in enumerate(rows if isinstance(rows, list) else [None]):  # noqa: B007  (for the message)
            name = row.get("tool") if isinstance(row, Mapping) else None
            if not isinstance(name, str) or name not in names:
                raise ValueError(f"it is of no tool of this registry: {name!r:.80}")  # noqa: TRY301
            if unknown := [key for key in row if key not in _KEYS]:
                raise ValueError(f"it has {unknown[0]!r}, and there are only {sorted(_KEYS)}")  # noqa: TRY301
            found.setdefault(name, []).append(parse(Case, row))
    except (OSError, ValueError, RecursionError, ToolRefused) as error:
        where = "" if at is None else f"in cases[{at}], "
        raise UsageError(
            f"The cases in {path} cannot be used: {where}{getattr(error, 'happened', error)}.",
            f'Expected {{"format": "{FORMAT}", "cases": [{{"tool": …, "arguments": {{…}}}}]}}.',
            "Correct the file, or leave --cases out.",
        ) from error
    return found


def list_arguments(schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Make required arguments for a tool's input schema: the least, then a full example if it differs.

    Raises:
        NoExample: when not even the least could be made.
    """
    known = schema.get("$defs", {})
    own = [name for name in schema.get("required", ()) if name not in RESERVED]
    schema = {**schema, "required": own}
    least = _Example(known, is_full=False).make_object(schema, None)
    yield least
    with suppress(NoExample):
        full = _Example(known, is_full=True).make_object(schema, None)
        if full != least:
            yield full


@dataclass(frozen=True)
class _Example:
    """One way to fill schemas; ``at`` is the position in a list, None outside of lists."""

    known: Mapping[str, Any]
    is_full: bool

    def make_object(self, schema: Mapping[str, Any], at: int | None) -> dict[str, Any]:
        properties, free = schema.get("properties", {}), schema.get("additionalProperties")
        if not properties and isinstance(free, Mapping):
            count = self._count(schema, "Properties", 0)
            return {_make_word(n): self._make(free, n) for n in range(count)}
        required = schema.get("required", ())
        try:
            return {name: self._make(properties.get(name, {}), at) for name in required}
        except RecursionError:
            raise NoExample("the schema refers to itself without an end") from None

    def _make(self, schema: Mapping[str, Any], at: int | None) -> Any:
        if "$ref" in schema:
            return self._make(self.known[str(schema["$ref"]).rpartition("/")[2]], at)
        for fixed in ("default", "const"):
            if fixed in schema:
                return schema[fixed]
        if "enum" in schema:
            return schema["enum"][(at or 0) % len(schema["enum"])]
        for several in ("anyOf", "oneOf", "allOf"):
            if several in schema:
                return self._make(schema[several][0], at)
        match schema.get("type", "object" if "properties" in schema else "null"):
            case "object":
                return self.make_object(schema, at)
            case "array":
                return self._make_array(schema)
            case "string":
                if "pattern" in schema or "format" in schema:
                    raise NoExample("no text is made for a pattern")
                alone = " ".join(_WORDS) if self.is_full else "a"
                made = alone if at is None else _make_word(at)
                return made[: schema.get("maxLength", len(made))].ljust(
                    schema.get("minLength", 0), "a"
                )
            case "integer" | "number" as kind:
                return _make_number(schema, at or 0, whole=kind == "integer")
            case "boolean":
                return (at or 0) % 2 == 0
        return None

    def _make_array(self, schema: Mapping[str, Any]) -> list[Any]:
        if "prefixItems" in schema:
            return [self._make(each, at) for at, each in enumerate(schema["prefixItems"])]
        count = self._count(schema, "Items", _FEW)
        made = [self._make(schema.get("items", {}), at) for at in range(count)]
        if schema.get("uniqueItems"):
            made = [each for at, each in enumerate(made) if each not in made[:at]]
        if len(made) < schema.get("minItems", 0):
            raise NoExample("too few different elements could be made")
        return made

    def _count(self, schema: Mapping[str, Any], what: str, least: int) -> int:
        wanted = max(len(_WORDS) if self.is_full else least, schema.get(f"min{what}", 0))
        return int(min(wanted, schema.get(f"max{what}", wanted)))


def _make_word(at: int) -> str:
    return _WORDS[at % len(_WORDS)] + str(at // len(_WORDS) or "")


def _make_number(schema: Mapping[str, Any], at: int, *, whole: bool) -> Any:
    """Make a number within the limits, another one at each position as long as the limits allow it."""
    least_step = 1 if whole else 0.5
    step = schema.get("multipleOf", least_step)
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    low = max(low, schema.get("exclusiveMinimum", -math.inf) + step)
    high = min(high, schema.get("exclusiveMaximum", math.inf) - step)
    found = min(max(_NUMBER if whole else 0.5, low), high)
    if whole or "multipleOf" in schema:
        found = math.ceil(found / step) * step
    if not low <= found <= high:
        raise NoExample("no number lies within the limits")
    others = (found + at * step, found - at * step)
    found = next((each for each in others if low <= each <= high), found)
    return int(found) if whole else float(found)
