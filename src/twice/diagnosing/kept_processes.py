"""Loaded processes that executions are forked from, shared by the sides that have the same surroundings.

Two forks of one process have its addresses, so each surroundings may have several processes, by number:
what differs between forks of the first and of the second follows from addresses, as it would between fresh ones.

Invariant: a process is started once, when it is first asked for, whoever asks at the same time.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from twice.foundation.closing import Closing
from twice.worker.fork_server import ForkServer

FIRST: Final = 0
SECOND: Final = 1


@dataclass
class _Place:
    lock: threading.Lock = field(default_factory=threading.Lock)
    process: ForkServer | None = None


class KeptProcesses(Closing):
    """The processes of one diagnosis; a context manager.

    Args:
        module: what executes jobs, with ``python -m``.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._lock = threading.Lock()
        self._places: dict[object, _Place] = {}

    def get(
        self, environ: Mapping[str, str], *, folder: str | None, python: str, number: int
    ) -> ForkServer:
        """The process with that environment, working folder, interpreter and number; started if need be."""
        with self._lock:
            key = (frozenset(environ.items()), folder, python, number)
            place = self._places.setdefault(key, _Place())
        with place.lock:
            if place.process is None:
                place.process = ForkServer(self._module, environ, cwd=folder, python=python)
            return place.process

    def close(self) -> None:
        """End them and what they forked."""
        with self._lock:
            places = list(self._places.values())
            self._places.clear()
        for place in places:
            if place.process is not None:
                place.process.close()
