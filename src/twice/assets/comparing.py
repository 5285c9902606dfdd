"""Two logs side by side: which fields differ, and what that means for a rendering.

It compares what logs say. Whether two renderings are alike is for a re-rendering.

Invariant: no difference is listed exactly when the two documents are equal.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from twice.assets.log.log import DeterminismLog
from twice.assets.log.reading import escaped, short, to_document
from twice.foundation.comparison import differences
from twice.foundation.printable import pluralize

FORMAT: Final = "twice.asset-diff/1"
_LIMIT: Final = 1000


class Effect(StrEnum):
    """What a difference means for a rendering."""

    RESULT = "another result"
    MAYBE = "perhaps another result"
    OBLIGATION = "another obligation"
    NONE = "no other result"


_EFFECTS: Final = {
    "model": Effect.RESULT,
    "seed": Effect.RESULT,
    "art": Effect.RESULT,
    "audio": Effect.RESULT,
    "recipe": Effect.RESULT,
    "kind": Effect.RESULT,
    "asset": Effect.RESULT,
    "provider": Effect.MAYBE,
    "environment": Effect.MAYBE,
    "promise": Effect.OBLIGATION,
}
_HARMLESS: Final = (
    "/recipe/timeout_s",
    "/recipe/output",
    "/asset/file",
    "/asset/file_sha256",
    "/asset/size_bytes",
    "/provider/request_id",
    "/seed/requested",
    "/art/prompt_version",
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in which two logs differ; ``a`` and ``b`` as they are shown, "" where it is absent."""

    pointer: str
    a: str
    b: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two logs differ in."""

    differences: tuple[Difference, ...]

    @property
    def verdict(self) -> str:
        """Say what a re-rendering of the second would change, as a sentence."""
        effects = {each.effect for each in self.differences}
        if not effects:
            return "The logs say the same."
        if Effect.RESULT in effects:
            count = sum(each.effect is Effect.RESULT for each in self.differences)
            return f"Another result is to be expected: {pluralize(count, 'field that decides it differs', 'fields that decide it differ')}."
        if Effect.MAYBE in effects:
            return (
                "The same parameters in other surroundings: the result may differ; render to know."
            )
        return "The same rendering: nothing that decides the result differs."

    def to_json(self) -> dict[str, object]:
        """Give it as ``twice asset diff --json`` prints it."""
        return {
            "format": FORMAT,
            "same": not self.differences,
            "verdict": self.verdict,
            "differences": [
                asdict(each) | {"effect": each.effect.value} for each in self.differences
            ],
        }


def compare(a: DeterminismLog, b: DeterminismLog) -> Comparison:
    """Compare two logs."""
    one, two = to_document(a), to_document(b)
    found = differences(_even(one), _even(two), limit=_LIMIT)
    pointers = sorted({pointer for each in found for pointer in _pointers(each.path, one, two)})
    listed = [
        Difference(pointer, _shown(one, pointer), _shown(two, pointer), _effect(pointer))
        for pointer in pointers
    ]
    order = {each: at for at, each in enumerate(Effect)}
    return Comparison(tuple(sorted(listed, key=lambda each: (order[each.effect], each.pointer))))


def _even(value: Any) -> Any:
    """Make every number a float, since JSON knows one kind of number."""
    if isinstance(value, dict):
        return {name: _even(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_even(part) for part in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _pointers(path: str, one: Any, two: Any) -> Iterator[str]:
    """Turn a path such as ``state['art']['post'][0]`` into JSON pointers; of lists, their ends."""
    node: ast.expr = ast.parse(path, mode="eval").body
    steps: list[str] = []
    while isinstance(node, ast.Subscript):
        assert isinstance(node.slice, ast.Constant), "documents are indexed by names and numbers"
        steps.append(escaped(str(node.slice.value)))
        node = node.value
    pointer = "".join(f"/{each}" for each in reversed(steps))
    a, b = _at(one, pointer), _at(two, pointer)
    if isinstance(a, list) and isinstance(b, list):
        longer = max(len(a), len(b))
        yield from (f"{pointer}/{at}" for at in range(longer) if a[at : at + 1] != b[at : at + 1])
    else:
        yield pointer


def _at(document: Any, pointer: str) -> Any:
    """Give the value at a pointer; None where there is none."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list) and name.isdecimal() and int(name) < len(document):
            document = document[int(name)]
        elif isinstance(document, dict) and name in document:
            document = document[name]
        else:
            return None
    return document


def _shown(document: Any, pointer: str) -> str:
    value = _at(document, pointer)
    return "" if value is None else short(value)


def _effect(pointer: str) -> Effect:
    if pointer.startswith(_HARMLESS):
        return Effect.NONE
    return _EFFECTS.get(pointer.split("/")[1] if pointer else "", Effect.NONE)
