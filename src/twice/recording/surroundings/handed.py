"""What a session's process does to itself before anything else, because no variable could do it.

Garbage-collection thresholds, the thread switch interval, the file mode mask, the processors and
the working directory are no environment variables. A child gets them as variables of our own,
``TWICE_CHILD_*``, which are part of the recorded surroundings like every other; it takes them out of
its environment before the program is loaded, so that a program sees their effect and not them.

Not here: which values are worth trying (``diagnosing.varying``).

Invariant: without such a variable a process is left as it is.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, MutableMapping
from typing import Final

from twice.errors import SurroundingsRefused

CHILD_GC: Final = "TWICE_CHILD_GC"
"""Collection thresholds: three numbers with commas between."""

CHILD_SWITCH: Final = "TWICE_CHILD_SWITCH_INTERVAL"
"""Seconds between switches of threads."""

CHILD_UMASK: Final = "TWICE_CHILD_UMASK"
"""File mode mask, octal."""

CHILD_CPUS: Final = "TWICE_CHILD_CPUS"
"""How many of the processors that it may use: the first ones, by number."""

CHILD_FOLDER: Final = "TWICE_CHILD_FOLDER"
"""Absolute path of the folder that it stands in."""


def take_handed(environ: MutableMapping[str, str]) -> None:
    """Do what the variables say and take them out.

    Raises:
        SurroundingsRefused: E-ENV-001, for a value that cannot be used here.
    """
    for name, apply in _APPLY.items():
        value = environ.pop(name, None)
        if value:
            try:
                apply(value)
            except (ValueError, TypeError, AttributeError, OSError) as error:
                raise SurroundingsRefused(
                    f"{name} is {value!r}, and that cannot be used here: {error}.",
                    "Expected a value that this process can give itself.",
                    f"Correct it, or leave {name} out.",
                    variable=name,
                    value=value,
                ) from error


def _thresholds(value: str) -> None:
    gc.set_threshold(*map(int, value.split(",")))


def _switching(value: str) -> None:
    sys.setswitchinterval(float(value))


def _mask(value: str) -> None:
    os.umask(int(value, 8))


def _processors(value: str) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(value)])


_APPLY: Final[dict[str, Callable[[str], None]]] = {
    CHILD_GC: _thresholds,
    CHILD_SWITCH: _switching,
    CHILD_UMASK: _mask,
    CHILD_CPUS: _processors,
    CHILD_FOLDER: os.chdir,
}
