"""From the name of a type in a record to the type, without importing anything.

Invariant: a resolver returns what the running program has loaded by itself, or None.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from collections.abc import Callable
from typing import Any

from twice.foundation.encoding.instances import is_named_tuple

Resolve = Callable[[str], type[Any] | None]
"""From ``module:qualified.name`` to the type, or None to leave the value opaque."""


def loaded_types(type_name: str) -> type[Any] | None:
    """The enum, dataclass or named tuple of that name, if the program has it loaded.

    Looks in ``sys.modules`` and in the class and module dictionaries on the way: no import, no
    ``__getattr__``, no descriptor runs. ``zoneinfo:ZoneInfo`` is found too, so that times come back
    in their real zone.

    Args:
        type_name: ``module:qualified.name``.

    Returns:
        The class, or None: not loaded, local to a function, or not of these kinds.
    """
    module_name, _, qualified = type_name.partition(":")
    found: object = sys.modules.get(module_name)
    for name in qualified.split("."):
        if found is None or not isinstance(found, (type, type(sys))):
            return None
        found = vars(found).get(name)
    if not isinstance(found, type):
        return None
    described = (
        issubclass(found, enum.Enum)
        or dataclasses.is_dataclass(found)
        or is_named_tuple(found)
        or type_name == "zoneinfo:ZoneInfo"
    )
    return found if described else None
