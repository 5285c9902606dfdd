"""Objects that the program's own modules hold: constants, defaults of functions, class attributes.

A component may hold such an object for a while. Filling it with another state would change it for the whole program.

Not for: constants that only a local variable holds. Nothing tells them from state.

Invariant: nothing that is reached through the component alone is among them.
"""

from __future__ import annotations

import sys
import types
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from twice.recorder.plain_objects import kinds
from twice.recorder.user_code import is_user_file

_OBJECTS_MAX: Final = 200_000


def find_constants(target: object) -> frozenset[int]:
    """Return the ids of objects that the program's modules have without the component.

    Args:
        target: of the component; what is reached through it does not count.
    """
    seen: set[int] = {id(target)}
    waiting: deque[object] = deque()
    for module in list(sys.modules.values()):
        origin = getattr(module, "__file__", None)
        if isinstance(origin, str) and is_user_file(origin):
            waiting.extend(vars(module).values())
    while waiting and len(seen) < _OBJECTS_MAX:
        value = waiting.popleft()
        if type(value) in kinds.LEAVES or id(value) in seen or isinstance(value, types.ModuleType):
            continue
        seen.add(id(value))
        waiting.extend(_held_by(value))
    return frozenset(seen - {id(target)})


def _held_by(value: Any) -> Iterator[object]:
    kind = type(value)
    if kind in kinds.KEYED:
        yield from value.values()
    elif kind in kinds.LISTED or kind in {set, frozenset}:
        yield from value
    elif kind is types.FunctionType:
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
    elif isinstance(value, type):
        held: Mapping[str, object] = vars(value)
        if not kinds.is_of_twice(value) and kinds.is_written_in_python(value):
            yield from held.values()
    elif kinds.is_written_in_python(kind) and not kinds.is_of_twice(kind):
        yield from (part for _, part in kinds.attributes_of(value))
