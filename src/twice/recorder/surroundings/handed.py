"""What a session's process does to itself before anything else, because no variable could do it.

Garbage-collection thresholds, the thread switch interval, the file mode mask, the processors, the
working directory, the clock, and the order of listings and tasks are no environment
variables. A child gets them as variables of our own, ``TWICE_CHILD_*``, which are part of the recorded
surroundings like every other; it takes them out of its environment before the program is loaded, so
that a program sees their effect and not them.

Not here: which values are worth trying (``diagnosis.vary``).

Invariant: without such a variable a process is left as it is.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, MutableMapping
from typing import Final

from twice.errors import SurroundingsRefused
from twice.recorder.effects.reordering import newest_tasks_first, reverse_listings
from twice.recorder.effects.shifting import offset_wall_clock
from twice.recorder.surroundings.isolating import fix_addresses

_PREFIX: Final = "TWICE_CHILD_"
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

CHILD_ADDRESSES: Final = "TWICE_CHILD_ADDRESSES"
"""``fixed``: the process is started again without random addresses."""

CHILD_CLOCK_OFFSET: Final = "TWICE_CHILD_CLOCK_OFFSET"
"""Whole seconds that the wall clock reads more than it does."""

CHILD_LISTINGS: Final = "TWICE_CHILD_LISTINGS"
"""``backwards``: the order in which folders are listed."""

CHILD_TASKS: Final = "TWICE_CHILD_TASKS"
"""``newest-first``: the order in which tasks that are ready take their turns."""


def take_handed(environ: MutableMapping[str, str]) -> None:
    """Apply the variables and remove them.

    Raises:
        SurroundingsRefused: E-ENV-001, for a value that cannot be used here, and for a variable that is not
            known, as of a record of another version: a run without what it asks for would be another run.
    """
    for name, apply in _APPLY.items():
        value = environ.get(name)
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
        environ.pop(name, None)
    for name in environ:
        if name.startswith(_PREFIX):
            raise SurroundingsRefused(
                f"{name} asks for something that this version cannot do.",
                f"Expected one of {', '.join(sorted(_APPLY))}.",
                f"Leave {name} out, or use the version of twice that made the record.",
                variable=name,
                value=environ[name],
            )


def _thresholds(value: str) -> None:
    gc.set_threshold(*map(int, value.split(",")))


def _switching(value: str) -> None:
    sys.setswitchinterval(float(value))


def _mask(value: str) -> None:
    os.umask(int(value, 8))


def _processors(value: str) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(value)])


def _only(word: str, apply: Callable[[], None]) -> Callable[[str], None]:
    """Build a hook that accepts one word, and no other."""

    def applied(value: str) -> None:
        if value != word:
            raise ValueError(f"expected {word}")
        apply()

    return applied


_APPLY: Final[dict[str, Callable[[str], None]]] = {
    # First, because it begins the process anew: what was done before would be undone.
    CHILD_ADDRESSES: _only("fixed", fix_addresses),
    CHILD_GC: _thresholds,
    CHILD_SWITCH: _switching,
    CHILD_UMASK: _mask,
    CHILD_CPUS: _processors,
    CHILD_FOLDER: os.chdir,
    CHILD_CLOCK_OFFSET: lambda value: offset_wall_clock(int(value)),
    CHILD_LISTINGS: _only("backwards", reverse_listings),
    CHILD_TASKS: _only("newest-first", newest_tasks_first),
}
