"""Connections whose both ends belong to the run, and sockets that listen: a server thread, a worker process, a manager.

Nothing of the world comes in through the first, so they are made again in a replay, between processes that run again.
Where the other end is somebody else's, the connection is recorded, or named. A socket that listens is named, since the
interpreter raises no event for it. Covered is ``socket.listen``, by the program or by a library for it
(``http.server``, ``asyncio``). What it accepts from processes of the run itself is the run's own; from others it is not
recorded, and named (a service is recorded at its WSGI or ASGI boundary).

Not for: sessions whose processes the kernel does not show (no supervisor, no world): there every connection is the
world's. Not covered: datagrams that come from outside without being asked for, and sockets that C code accepts from.

Invariant: a connection counts as the run's own only when a process of the run holds the listening end.
"""

from __future__ import annotations

import _socket
import os
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

from twice.recorder.effects.patches import Patch
from twice.recorder.kernel.confinement import current
from twice.recorder.kernel.native_connections import (
    INTERNET,
    find_inodes,
    find_unix_inodes,
    is_held,
)
from twice.recorder.kernel.processes import list_processes

if TYPE_CHECKING:
    from twice.recorder.effects.network.connections import Connections

_stat, _getpid = os.stat, os.getpid
_getsockopt: Any = _socket.socket.getsockopt
_LOOPBACK = ("127.", "::1", "localhost", "::ffff:127.")
_PEER_CREDENTIALS = getattr(socket, "SO_PEERCRED", 17)
_CREDENTIALS_BYTES = 12


def patches(connections: Connections, module: ModuleType) -> list[Patch]:
    """Return the patches of ``socket``, once it is loaded."""
    real_listen, real_accept = module.socket.listen, module.socket.accept

    def listen(self: Any, *args: Any) -> None:
        address: object = None
        with suppress(OSError):
            address = self.getsockname()
        if connections.find_tape(self) is None:  # else what it accepts is recorded
            sys.audit("twice.listen", self, address)
        real_listen(self, *args)

    def accept(self: Any) -> Any:
        accepted, peer = real_accept(self)
        is_recorded = connections.of(accepted) is not None
        if not is_recorded and current().covers_processes and not is_own_peer(accepted, peer):
            sys.audit("twice.accept", accepted, peer)
        return accepted, peer

    return [Patch(module.socket, "listen", listen), Patch(module.socket, "accept", accept)]


def is_within_run(sock: Any, address: Any) -> bool:
    """Return whether what a socket sends to an address reaches a process of the run."""
    family = sock.family
    if not current().covers_processes:
        return False
    if family == socket.AF_UNIX:
        with suppress(OSError, TypeError, ValueError):
            path = os.fsdecode(address)
            found = _stat(path)
            if not stat.S_ISSOCK(found.st_mode) or found.st_ctime_ns < current().began_ns:
                return False
            bound = find_unix_inodes(path, listening=False)
            # A child that a replay does not start may have made it; what nobody holds is asked again.
            return not bound or current().is_cut_off or is_held(bound, _own_processes())
        return False
    if not is_loopback(address):
        return False
    datagrams = sock.type & 0xF == socket.SOCK_DGRAM  # flags stand above the type
    inodes = find_inodes(family, int(address[1]), listening=True, datagrams=datagrams)
    if current().is_cut_off:
        return bool(inodes)  # nobody else is there
    return is_held(inodes, _own_processes())


def is_loopback(address: Any) -> bool:
    """Return whether an address of the internet is this machine's own."""
    if not isinstance(address, tuple | list) or len(address) < 2:
        return False
    return isinstance(address[0], str) and address[0].startswith(_LOOPBACK)


def may_listen(sock: Any, address: Any) -> bool:
    """Return whether a socket listens where only processes of this machine reach it."""
    if not current().covers_processes:
        return False
    if sock.family == socket.AF_UNIX:
        return True
    return sock.family in INTERNET and is_loopback(address)


def is_own_peer(accepted: Any, peer: Any) -> bool:
    """Return whether the other end of a connection is a process of the run."""
    if not current().covers_processes:
        return False
    if accepted.family == socket.AF_UNIX:
        raw = _getsockopt(accepted, socket.SOL_SOCKET, _PEER_CREDENTIALS, _CREDENTIALS_BYTES)
        pid = int.from_bytes(raw[:4], "little")
        return pid == _getpid() or current().is_own_process(pid)
    if not is_loopback(peer):
        return False
    if current().is_cut_off:
        return True  # nobody else is there; the process may have closed its end and ended by now
    inodes = find_inodes(accepted.family, int(peer[1]), listening=False)
    return is_held(inodes, _own_processes())


def _own_processes() -> Iterator[int]:
    """Yield this process and its descendants that run again in a replay."""
    return list_processes(_getpid(), current().is_own_process)
