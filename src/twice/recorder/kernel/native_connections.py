"""Connections that code in any language makes by itself, and who holds their other end, by the kernel's tables.

A stream that is connected to a process of the run is made again in a replay, and passed over. So is what a
declared effect connects, and what Python connects: its own layer records it.

Not for: datagrams, look-ups of names over the network (port 53), and services of the system that libraries ask.

Invariant: a connection is noted before it is made; whether it was accepted is not known. A table that cannot be
read shows nobody.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from twice.recorder.kernel.file_state import closing_descriptor
from twice.recorder.kernel.processes import OF_EFFECT, list_processes, read_parent
from twice.recorder.kernel.system_calls import NUMBERS

if TYPE_CHECKING:
    from twice.recorder.kernel.call_decoder import RemoteMemory
    from twice.recorder.kernel.seccomp import Notification

# The real ones: bound before anything is patched.
_open, _listdir, _readlink = open, os.listdir, os.readlink
_TABLES = {socket.AF_INET: "tcp", socket.AF_INET6: "tcp6"}
_DATAGRAM_TABLES = {socket.AF_INET: "udp", socket.AF_INET6: "udp6"}
INTERNET = frozenset(_TABLES)
_LISTENS, _UNIX_LISTENS, _UNIX_PATH_FIELD = "0A", 0x10000, 7

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
    """Notes connections that nobody else accounts for."""

    def __init__(self, memory: RemoteMemory) -> None:
        self._memory = memory
        self._noted: dict[tuple[int, str], int] = {}

    def note(self, notification: Notification, root: int, branch: Callable[[], int]) -> None:
        """Note the address that a call is about to connect to; an ``OSError`` where that cannot be read.

        ``branch`` tells whose the call is, and is asked where it comes to that.
        """
        size = min(notification.arguments[2] & 0xFFFFFFFF, _ADDRESS_BYTES_MAX)
        raw = self._memory.read(notification.pid, notification.arguments[1], size)
        found = _read_address(raw)
        if found is None or not _is_stream(notification):
            return
        family, host, port = found
        if family == socket.AF_UNIX:
            inodes, words = find_unix_inodes(host, notification.pid, listening=True), host
        else:
            inodes = find_inodes(family, port, process=notification.pid, listening=True)
            words = f"[{host}]:{port}" if family == socket.AF_INET6 else f"{host}:{port}"
        if is_held(inodes, list_processes(root)):
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
    if family not in INTERNET:
        return None
    with suppress(struct.error, ValueError):
        (port,) = struct.unpack_from("!H", raw, 2)
        at, size = (_IP4_AT, 4) if family == socket.AF_INET else (_IP6_AT, 16)
        host = socket.inet_ntop(family, raw[at : at + size])
        return None if port in {0, _NAME_SERVICE_PORT} else (family, host, port)
    return None


def _is_stream(notification: Notification) -> bool:
    """Return whether the socket of a call is one that connects; an ``OSError`` where that cannot be told."""
    from twice.recorder.kernel.libc import syscall  # it loads ctypes; the tables are read without

    with closing_descriptor(os.pidfd_open(read_parent(notification.pid)[0])) as process:
        descriptor = syscall(NUMBERS["pidfd_getfd"], process, notification.arguments[0], 0)
    with socket.socket(fileno=descriptor) as copy:
        return copy.type in _STREAMS


def find_inodes(
    family: int,
    port: int,
    *,
    process: int | str = "self",
    listening: bool,
    datagrams: bool = False,
) -> set[str]:
    """Return inodes of TCP or UDP sockets with a local port, in the network namespace of a process.

    A socket of ``AF_INET`` may serve ``AF_INET6`` as well. ``listening`` asks for sockets that others reach alone:
    those that listen, and all of UDP.
    """
    tables = _DATAGRAM_TABLES if datagrams else _TABLES
    families = (family, socket.AF_INET) if listening and family == socket.AF_INET6 else (family,)
    return {
        fields[9]
        for each in families
        for fields in map(str.split, _read_rows(process, tables[socket.AddressFamily(each)]))
        if int(fields[1].rpartition(":")[2], 16) == port
        and (datagrams or not listening or fields[3] == _LISTENS)
    }


def find_unix_inodes(path: str, process: int | str = "self", *, listening: bool) -> set[str]:
    """Return inodes of the Unix sockets that are bound to a path, or an abstract name with ``@``.

    ``listening`` asks for those alone that listen.
    """
    name = os.path.basename(path)
    rows = [row.split(maxsplit=_UNIX_PATH_FIELD) for row in _read_rows(process, "unix")]
    return {
        fields[6]
        for fields in rows
        if len(fields) > _UNIX_PATH_FIELD
        and (not listening or int(fields[3], 16) & _UNIX_LISTENS)
        and os.path.basename(fields[_UNIX_PATH_FIELD]) == name
    }


def _read_rows(process: int | str, table: str) -> Iterator[str]:
    with suppress(OSError), _open(f"/proc/{process}/net/{table}", encoding="utf-8") as lines:
        yield from [line.rstrip("\n") for line in lines][1:]


def is_held(inodes: set[str], processes: Iterable[int]) -> bool:
    """Return whether one of some processes has one of some sockets open."""
    for pid in processes if inodes else ():
        folder = f"/proc/{pid}/fd"
        with suppress(OSError):
            for name in _listdir(folder):
                with suppress(OSError):
                    kind, _, inode = _readlink(f"{folder}/{name}").partition(":")
                    if kind == "socket" and inode.strip("[]") in inodes:
                        return True
    return False
