"""Connections that code in any language makes by itself, and that no layer of Python's records.

A stream that is connected to a process of the run is made again in a replay, and passed over. So is what a
declared effect connects, and what Python connects: its own layer records it.

Not for: datagrams, look-ups of names over the network (port 53), and services of the system that libraries ask.

Invariant: a connection is noted before it is made; whether it was accepted is not known.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable, Collection
from contextlib import suppress

from twice.recorder.kernel.libc import syscall
from twice.recorder.kernel.notification import Notification
from twice.recorder.kernel.process_tree import OF_EFFECT, list_processes, read_parent
from twice.recorder.kernel.remote_memory import RemoteMemory
from twice.recorder.kernel.socket_owners import find_inodes, find_unix_inodes, is_held
from twice.recorder.kernel.system_calls import NUMBERS

_ADDRESS_BYTES_MAX = 128
_PATH_AT, _IP4_AT, _IP6_AT = 2, 4, 8
_STREAMS = frozenset({socket.SOCK_STREAM, socket.SOCK_SEQPACKET})
_NAME_SERVICE_PORT = 53
_SYSTEM_SERVICES = (
    "nscd/socket", "systemd/resolve/io.systemd.Resolve", "sss/pipes/nss", "uuidd/request",
    "systemd/journal/stdout",
)  # fmt: skip
"""Ends of the paths of local services that libraries of the system ask: for names, unique numbers, logs."""


class NativeConnections:
    """Notes connections that nobody else accounts for.

    Args:
        memory: reads the addresses that calls point to.
    """

    def __init__(self, memory: RemoteMemory) -> None:
        self._memory = memory
        self._noted: dict[tuple[int, str], int] = {}

    def note(self, notification: Notification, root: int, branch: Callable[[], int]) -> None:
        """Note the address that a call is about to connect to.

        Args:
            notification: of the call.
            root: process id of the program.
            branch: tells whose the call is, where it comes to that.

        Raises:
            OSError: when the address or the socket cannot be read.
        """
        size = min(notification.arguments[2] & 0xFFFFFFFF, _ADDRESS_BYTES_MAX)
        raw = self._memory.read(notification.pid, notification.arguments[1], size)
        found = _read_address(raw)
        if found is None or not _is_stream(notification):
            return
        family, host, port = found
        if family == socket.AF_UNIX:
            inodes, words = find_unix_inodes(host, process=notification.pid), host
        else:
            inodes = find_inodes(family, port, process=notification.pid, listening=True)
            words = f"[{host}]:{port}" if family == socket.AF_INET6 else f"{host}:{port}"
        if is_held(inodes, list_processes(root, lambda _: True)):
            return
        of = branch()
        if of != OF_EFFECT:
            self._noted[of, words] = self._noted.get((of, words), 0) + 1

    def list_noted(self, served: Collection[int]) -> list[tuple[str, int]]:
        """Return addresses and counts of connections, without children that a replay does not start."""
        counts: dict[str, int] = {}
        for (branch, words), count in self._noted.items():
            if branch not in served:
                counts[words] = counts.get(words, 0) + count
        return sorted(counts.items())


def _read_address(raw: bytes) -> tuple[int, str, int] | None:
    """Return family, host or path, and port of a kernel's address; None for an ignored one."""
    if len(raw) < _PATH_AT:
        return None
    family = int.from_bytes(raw[:2], "little")
    if family == socket.AF_UNIX:
        name = raw[_PATH_AT:]
        is_abstract = name[:1] == b"\0"
        path = os.fsdecode(b"@" + name[1:] if is_abstract else name.split(b"\0")[0])
        is_nobodys = path.startswith("/") and not os.path.exists(path)
        return None if is_nobodys or path.endswith(_SYSTEM_SERVICES) else (family, path, 0)
    if family not in {socket.AF_INET, socket.AF_INET6}:
        return None
    with suppress(struct.error, ValueError):
        (port,) = struct.unpack_from("!H", raw, 2)
        at, size = (_IP4_AT, 4) if family == socket.AF_INET else (_IP6_AT, 16)
        host = socket.inet_ntop(family, raw[at : at + size])
        return None if port in {0, _NAME_SERVICE_PORT} else (family, host, port)
    return None


def _is_stream(notification: Notification) -> bool:
    """Return whether the socket of a call is one that connects.

    Raises:
        OSError: when it cannot be told.
    """
    process = os.pidfd_open(read_parent(notification.pid)[0])
    try:
        descriptor = syscall(NUMBERS["pidfd_getfd"], process, notification.arguments[0], 0)
    finally:
        os.close(process)
    with socket.socket(fileno=descriptor) as copy:
        return copy.type in _STREAMS
