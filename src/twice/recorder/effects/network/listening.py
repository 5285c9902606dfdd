"""Sockets that listen: named, since the interpreter raises no event for them.

Covered: ``socket.listen``, by the program or by a library for it (``http.server``, ``asyncio``).

What it accepts from processes of the run itself is the run's own; from others it is not recorded, and named (a
service is recorded at its WSGI or ASGI boundary).

Not covered: servers of datagrams, and sockets that C code accepts from.

Invariant: a socket listens as it would without a session, unless it is refused.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from types import ModuleType
from typing import Any

from twice.recorder.effects.network.within_run import is_own_peer
from twice.recorder.effects.patches import Patch
from twice.recorder.kernel.confinement import current


def patches(module: ModuleType) -> list[Patch]:
    """Return the patches of ``socket``, once it is loaded."""
    real = module.socket.listen

    def listen(self: Any, *args: Any) -> None:
        address: object = None
        with suppress(OSError):
            address = self.getsockname()
        sys.audit("twice.listen", self, address)
        real(self, *args)

    real_accept = module.socket.accept

    def accept(self: Any) -> Any:
        accepted, peer = real_accept(self)
        if current().covers_processes and not is_own_peer(accepted, peer):
            sys.audit("twice.accept", accepted, peer)
        return accepted, peer

    return [
        Patch(module.socket, "listen", listen),
        Patch(module.socket, "accept", accept),
    ]
