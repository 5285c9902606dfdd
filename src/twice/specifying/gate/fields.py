"""Names of places inside a state, as reports write them.

Invariant: what cannot be read names nothing.
"""

from __future__ import annotations

import re
from typing import Final

_STEP: Final = re.compile(r"\.?([A-Za-z_]\w*)|\[(\d+)\]|\['([^']*)'\]")


def steps(field: str) -> list[str | int]:
    """Read a field without its component: ``places[0]``, ``a.b['c d']``; [] when it is none."""
    found: list[str | int] = []
    at = 0
    while at < len(field):
        match = _STEP.match(field, at)
        if match is None:
            return []
        name, index, quoted = match.groups()
        found.append(int(index) if index is not None else name or quoted)
        at = match.end()
    return found if found and isinstance(found[0], str) else []
