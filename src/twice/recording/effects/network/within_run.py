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
from contextlib import suppress
from typing import Any

from twice.recording.kernel.confinement import current

_open, _listdir, _readlink, _stat, _getpid = open, os.listdir, os.readlink, os.stat, os.getpid
_getsockopt: Any = _socket.socket.getsockopt
_TABLES = {socket.AF_INET: "/proc/net/tcp", socket.AF_INET6: "/proc/net/tcp6"}
_LISTENS = "0A"
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
    inodes = set(_listening_inodes(family, int(address[1])))
    return bool(inodes) and any(_holds(pid, inodes) for pid in _own_processes())


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
    return sock.family in _TABLES and is_loopback(address)


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
    inodes = set(_inodes(accepted.family, int(peer[1]), ""))
    return any(_holds(pid, inodes) for pid in _own_processes())


def _is_made_by_run(address: Any) -> bool:
    try:
        path = os.fsdecode(address)
        found = _stat(path)
    except (OSError, TypeError, ValueError):
        return False
    return stat.S_ISSOCK(found.st_mode) and found.st_ctime_ns >= current().began_ns


def _listening_inodes(family: int, port: int) -> Iterator[str]:
    families = (family,) if family == socket.AF_INET else (family, socket.AF_INET)
    for each in families:
        yield from _inodes(each, port, _LISTENS)


def _inodes(family: int, port: int, state: str) -> Iterator[str]:
    """Yield inodes of sockets with a local port, in a state if one is given."""
    with suppress(OSError), _open(_TABLES[socket.AddressFamily(family)], encoding="ascii") as table:
        for line in list(table)[1:]:
            fields = line.split()
            if int(fields[1].rpartition(":")[2], 16) == port and state in {"", fields[3]}:
                yield fields[9]


def _holds(pid: int, inodes: set[str]) -> bool:
    folder = f"/proc/{pid}/fd"
    with suppress(OSError):
        for name in _listdir(folder):
            with suppress(OSError):
                kind, _, inode = _readlink(f"{folder}/{name}").partition(":")
                if kind == "socket" and inode.strip("[]") in inodes:
                    return True
    return False


def _own_processes() -> Iterator[int]:
    """Yield this process and its descendants that run again in a replay."""
    waiting = [_getpid()]
    while waiting:
        pid = waiting.pop()
        yield pid
        with suppress(OSError):
            for task in _listdir(f"/proc/{pid}/task"):
                with _open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as children:
                    waiting += [
                        child for child in map(int, children.read().split())
                        if current().is_own_process(child)
                    ]  # fmt: skip
