"""Sockets that listen: named, since the interpreter raises no event for them.

Covered: ``socket.listen``, by the program or by a library for it (``http.server``, ``asyncio``).

Not covered: what a socket accepts, which is not recorded (a service is recorded at its WSGI or ASGI
boundary); servers of datagrams.

Invariant: a socket listens as it would without a session, unless it is refused.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from types import ModuleType
from typing import Any

from twice.recording.effects.patches import Patch


def patches(module: ModuleType) -> list[Patch]:
    """What stands in ``socket`` during a session, once it is loaded."""
    real = module.socket.listen

    def listen(self: Any, *args: Any) -> None:
        address: object = None
        with suppress(OSError):
            address = self.getsockname()
        sys.audit("twice.listen", self, address)
        real(self, *args)

    return [Patch(module.socket, "listen", listen)]
