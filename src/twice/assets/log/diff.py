"""Two logs side by side: which fields differ, and what that means for a rendering.

It compares what logs say. Whether two renderings are alike is for a re-rendering.

Invariant: no difference is listed exactly when the two documents are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Any, Final

from twice.assets.log.io import escape, short, to_document
from twice.assets.log.models import DeterminismLog
from twice.foundation.printable import pluralize

FORMAT: Final = "twice.asset-diff/1"
_ABSENT: Final = object()


class Impact(StrEnum):
    """What a difference means for a rendering."""

    RESULT = "another result"
    MAYBE = "perhaps another result"
    OBLIGATION = "another obligation"
    NONE = "no other result"


_IMPACTS: Final = {
    **dict.fromkeys(("model", "seed", "art", "audio", "recipe", "kind", "asset"), Impact.RESULT),
    **dict.fromkeys(("provider", "environment"), Impact.MAYBE),
    "promise": Impact.OBLIGATION,
}
_HARMLESS: Final = (
    "/recipe/timeout_s", "/recipe/output", "/asset/file", "/asset/file_sha256", "/asset/size_bytes",
    "/provider/request_id", "/seed/requested", "/art/prompt_version",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in which two logs differ; ``a`` and ``b`` as they are shown, "" where it is absent."""

    pointer: str
    a: str
    b: str
    effect: Impact


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two logs differ in."""

    differences: tuple[Difference, ...]

    @property
    def verdict(self) -> str:
        """Say what a re-rendering of the second would change, as a sentence."""
        impacts = [each.effect for each in self.differences]
        if deciding := impacts.count(Impact.RESULT):
            which = pluralize(
                deciding, "field that decides it differs", "fields that decide it differ"
            )
            return f"Another result is to be expected: {which}."
        if Impact.MAYBE in impacts:
            return (
                "The same parameters in other surroundings: the result may differ; render to know."
            )
        if impacts:
            return "The same rendering: nothing that decides the result differs."
        return "The logs say the same."

    def to_json(self) -> dict[str, object]:
        """Return it as ``twice asset diff --json`` prints it."""
        return {
            "format": FORMAT,
            "same": not self.differences,
            "verdict": self.verdict,
            "differences": [asdict(each) for each in self.differences],
        }


def compare(a: DeterminismLog, b: DeterminismLog) -> Comparison:
    """Compare two logs."""
    order = list(Impact)
    found = _compare_parts(to_document(a), to_document(b), "")
    ordered = sorted(found, key=lambda each: (order.index(each.effect), each.pointer))
    return Comparison(tuple(ordered))


def _compare_parts(a: Any, b: Any, at: str) -> Iterator[Difference]:
    """Compare two JSON values, in which 1 and 1.0 are one number, and no number is true or false."""
    if isinstance(a, dict) and isinstance(b, dict):
        for name in sorted(a.keys() | b.keys()):
            below = f"{at}/{escape(name)}"
            yield from _compare_parts(a.get(name, _ABSENT), b.get(name, _ABSENT), below)
    elif isinstance(a, list) and isinstance(b, list):
        for number, (one, two) in enumerate(zip_longest(a, b, fillvalue=_ABSENT)):
            yield from _compare_parts(one, two, f"{at}/{number}")
    elif a != b or isinstance(a, bool) is not isinstance(b, bool):
        one, two = ("" if each is _ABSENT else short(each) for each in (a, b))
        impact = _IMPACTS.get(at.split("/")[1], Impact.NONE)
        yield Difference(at, one, two, Impact.NONE if at.startswith(_HARMLESS) else impact)
