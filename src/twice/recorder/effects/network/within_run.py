"""Connections whose both ends belong to the run: a server thread, a worker process, a manager.

Nothing of the world comes in through them, so they are made again in a replay, between processes that run
again. Where the other end is somebody else's, the connection is recorded, or named.

Not for: sessions whose processes the kernel does not show (no supervisor, no world): there every connection
is the world's.

Invariant: a connection counts as the run's own only when a process of the run holds the listening end.
"""

from __future__ import annotations

import _socket
import os
import socket
import stat
from collections.abc import Iterator
from typing import Any

from twice.recorder.kernel.confinement import current
from twice.recorder.kernel.native_connections import INTERNET, find_inodes, is_held
from twice.recorder.kernel.processes import list_processes

_stat, _getpid = os.stat, os.getpid
_getsockopt: Any = _socket.socket.getsockopt
_LOOPBACK = ("127.", "::1", "localhost", "::ffff:127.")
_PEER_CREDENTIALS = getattr(socket, "SO_PEERCRED", 17)
_CREDENTIALS_BYTES = 12


def is_within_run(family: int, address: Any) -> bool:
    """Return whether a process of the run listens at an address."""
    confinement = current()
    if not confinement.covers_processes:
        return False
    if family == socket.AF_UNIX:
        return _is_made_by_run(address)
    if not is_loopback(address):
        return False
    inodes = find_inodes(family, int(address[1]), listening=True)
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


def _is_made_by_run(address: Any) -> bool:
    try:
        path = os.fsdecode(address)
        found = _stat(path)
    except (OSError, TypeError, ValueError):
        return False
    return stat.S_ISSOCK(found.st_mode) and found.st_ctime_ns >= current().began_ns


def _own_processes() -> Iterator[int]:
    """Yield this process and its descendants that run again in a replay."""
    return list_processes(_getpid(), current().is_own_process)
