"""Loaded processes that executions are forked from.

Invariant: two executions of one environment, folder, interpreter, number and module are forks of one process.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from twice.foundation.dataclass import dataclass
from twice.foundation.with_blocks import Closing
from twice.worker.fork_server import ForkServer

CHILD: Final = "twice.diagnosis"


@dataclass
class _Place:
    lock: threading.Lock = field(default_factory=threading.Lock)
    process: ForkServer | None = None


class KeptProcesses(Closing):
    """Loaded processes that executions are forked from, shared by the sides that have the same surroundings.

    Each is started once, when it is first asked for, whoever asks at the same time. A context manager.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[object, _Place] = {}
        self._is_closed = False

    def get(
        self,
        environ: Mapping[str, str],
        *,
        folder: str | None,
        python: str,
        number: int,
        module: str = CHILD,
    ) -> ForkServer:
        """Return the process for an environment, folder, interpreter, number and module; start it if needed."""
        with self._lock:
            key = (frozenset(environ.items()), folder, python, number, module)
            place = self._places.setdefault(key, _Place())
        with place.lock:
            if place.process is None:
                place.process = ForkServer(module, environ, cwd=folder, python=python)
            if self._is_closed:  # while it started
                place.process.close()
            return place.process

    def close(self) -> None:
        """End them and what they forked."""
        with self._lock:
            self._is_closed = True
            places = list(self._places.values())
            self._places.clear()
        for place in places:
            if place.process is not None:
                place.process.close()
