"""Which sheet rests on which.

Invariant: the graph has no circle.

Source: the dependency graph of the specification's seed document.
"""

from __future__ import annotations

from typing import Final

_SPINE: Final = (
    ("01", "00"), ("02", "01"), ("03", "02"), ("04", "03"), ("05", "04"), ("06", "04"),
)  # fmt: skip
_CHANNELS: Final = tuple((number, "01") for number in ("07", "08", "09", "10", "11"))
_PROPERTIES: Final = tuple(("12", number) for number in ("02", "03", "04", "05", "06", "07"))
_COST: Final = tuple(("13", f"{number:02}") for number in range(1, 13))
_ALL: Final = tuple(("99", f"{number:02}") for number in range(14))

EDGES: Final[tuple[tuple[str, str], ...]] = (*_SPINE, *_CHANNELS, *_PROPERTIES, *_COST, *_ALL)


def dependents(number: str) -> tuple[str, ...]:
    """Give the sheets that rest directly on one."""
    return tuple(above for above, below in EDGES if below == number)


def downstream(number: str) -> tuple[str, ...]:
    """Give every sheet that rests on one, at any distance, in order."""
    found: set[str] = set()
    waiting = [number]
    while waiting:
        for above in dependents(waiting.pop()):
            if above not in found:
                found.add(above)
                waiting.append(above)
    return tuple(sorted(found))
