"""SQLite's own clock and entropy: functions of SQL that ask the world in C.

Covered: ``CURRENT_TIMESTAMP``, ``CURRENT_DATE``, ``CURRENT_TIME``, the date and time functions where they are asked
for ``now``, ``random()`` and ``randomblob()``, on every connection of Python's ``sqlite3``. A function of the same name
is registered on each connection; what it is not asked for the current time, SQLite computes itself. SQLite's own
generator, which salts write-ahead logs and names temporary files, is seeded from recorded entropy.

Not covered: extensions that are loaded, SQLite inside of other libraries, and the own generator of an SQLite that is
linked into Python without a symbol for it.

Invariant: a program sees values of the types and forms that SQLite's own functions give.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from types import ModuleType
from typing import Any

from twice.recorder.effects import ops
from twice.recorder.effects.actors import outside
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.patches import Patch

_CURRENT = {
    "current_timestamp": "datetime", "current_date": "date", "current_time": "time",
}  # fmt: skip
_OF_TIME = ("date", "time", "datetime", "julianday", "unixepoch", "strftime")
_TIME_AT = {"strftime": 1}
"""Position of the time among the arguments, where it is not the first."""
_NOW = "now"
_RANDOM_BYTES = 8
_SEED_BYTES = 4
_SEED_GENERATOR = 28
"""``SQLITE_TESTCTRL_PRNG_SEED`` of sqlite3_test_control."""
_urandom = os.urandom


def patches(layer: EffectLayer, module: ModuleType) -> list[Patch]:
    """Return the patches of ``sqlite3``, once it is loaded."""
    functions, real = _Functions(layer, module), module.connect

    def connect(*args: Any, **kwargs: Any) -> Any:
        functions.seed_generator()
        connection = real(*args, **kwargs)
        functions.register(connection)
        return connection

    connect.__doc__ = real.__doc__
    return [Patch(module, "connect", connect), Patch(module.dbapi2, "connect", connect)]


class _Functions:
    """The functions that are registered on each connection of one session."""

    def __init__(self, layer: EffectLayer, module: ModuleType) -> None:
        self._layer, self._error = layer, module.Error
        # Computes what does not depend on the current time; used by one thread at a time.
        self._plain = module.connect(":memory:", check_same_thread=False)
        self._lock = Lock()
        self._is_seeded = False

    def seed_generator(self) -> None:
        """Seed SQLite's own generator, before the first connection of the session."""
        if self._is_seeded or self._layer.actor() is None:
            return
        self._is_seeded = True
        entropy = self._layer.entropy
        real = entropy.read_for_library if entropy else _urandom
        live = lambda: int.from_bytes(real(_SEED_BYTES), "little") >> 1 | 1  # noqa: E731  (0: no seed)
        # A record of an earlier version has no seed: then each replay draws its own.
        seed = self._layer.fact(ops.SQLITE_SEED, "", live, needed=False)
        outside(seed_generator, int(seed))

    def register(self, connection: Any) -> None:
        """Let a connection ask the layer for the current time and for random numbers."""
        with suppress(self._error):  # a version of SQLite without one of them
            for name, plain in _CURRENT.items():
                connection.create_function(name, 0, self._current(plain))
            for name in _OF_TIME:
                connection.create_function(name, -1, self._of_time(name), deterministic=True)
            connection.create_function("random", 0, self._random)
            connection.create_function("randomblob", 1, self._randomblob)

    def _current(self, plain: str) -> Callable[[], Any]:
        return lambda: self._compute(plain, (self._now(),))

    def _of_time(self, name: str) -> Callable[..., Any]:
        at = _TIME_AT.get(name, 0)

        def compute(*arguments: Any) -> Any:
            given = list(arguments)
            if len(given) == at:  # no time is the current one
                given.append(_NOW)
            if len(given) > at and isinstance(given[at], str) and given[at].lower() == _NOW:
                given[at] = self._now()
            return self._compute(name, tuple(given))

        return compute

    def _compute(self, name: str, arguments: tuple[Any, ...]) -> Any:
        marks = ", ".join("?" * len(arguments))
        with self._lock:
            return self._plain.execute(f"select {name}({marks})", arguments).fetchone()[0]

    def _now(self) -> str:
        live = lambda: self._compute("strftime", ("%Y-%m-%d %H:%M:%f", _NOW))  # noqa: E731
        return str(self._ask(ops.SQLITE_NOW, live))

    def _random(self) -> int:
        return int.from_bytes(self._bytes(_RANDOM_BYTES), "little", signed=True)

    def _randomblob(self, size: Any) -> bytes:
        return self._bytes(max(1, int(size)))

    def _bytes(self, size: int) -> bytes:
        entropy = self._layer.entropy
        real = entropy.read_for_library if entropy else _urandom
        return bytes(self._ask(ops.SQLITE_RANDOM, lambda: real(size)))

    def _ask(self, op: ops.Op, live: Callable[[], object]) -> Any:
        actor = self._layer.actor()
        return live() if actor is None else self._layer.read_lenient(actor, op, live)


def seed_generator(seed: int) -> None:
    """Seed SQLite's own generator, for all connections of this process."""
    import _sqlite3

    with suppress(OSError, AttributeError):  # SQLite is linked into Python, without the symbol
        # Loaded already: its symbols are those of the SQLite that it is linked with.
        ctypes.CDLL(_sqlite3.__file__).sqlite3_test_control(
            _SEED_GENERATOR, ctypes.c_int(seed), None
        )
