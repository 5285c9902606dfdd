"""What reading a component's state does: a run whose state is read more often must not go another way.

A recording reads states at points and at snapshots, a replay at points, a trace at every event it
looks at. A ``state()`` that changes its object, or gives another value each time, makes a run that
cannot reproduce itself, and no line of the run is to blame for it.

Not for: what a snapshot leaves out (``restore_gaps``).

Invariant: every component is read exactly twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twice.diagnosis.object_digest.leaves import leaves, paths_apart
from twice.errors import EncodingRefused
from twice.foundation.encoding import encode
from twice.recorder.components import Component

_PATHS_MAX = 4


def find_unsteady(components: Mapping[str, Component]) -> dict[str, Any]:
    """Components whose state is not what it was when it is read again at once.

    Returns:
        Name -> ``where`` (file and line of its ``state``, or empty), ``paths`` (what reading changed)
        and ``again`` (whether the second reading gave another value).
    """
    found: dict[str, Any] = {}
    for name, component in sorted(components.items()):
        target = {name: component.target}
        before = leaves(target)
        first = _bytes(component.read())
        after = leaves(target)
        second = _bytes(component.read())
        paths, again = paths_apart(before, after)[:_PATHS_MAX], first != second
        if paths or again:
            code = getattr(component.read, "__code__", None)
            where = "" if code is None else f"{code.co_filename}:{code.co_firstlineno}"
            found[name] = {"where": where, "paths": paths, "again": again}
    return found


def _bytes(state: object) -> bytes:
    try:
        return encode(state)
    except EncodingRefused:
        return b""
