"""Who holds the other end of a connection, from the kernel's tables of sockets.

Not for: connections to other machines, whose other end no table here shows.

Invariant: looking changes nothing, and a table that cannot be read shows nobody.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress

# The real ones: bound before anything is patched.
_open, _listdir, _readlink = open, os.listdir, os.readlink
_TABLES = {socket.AF_INET: "tcp", socket.AF_INET6: "tcp6"}
_LISTENS = "0A"
_UNIX_LISTENS = 0x10000
_UNIX_PATH_FIELD = 7
INTERNET = frozenset(_TABLES)


def find_inodes(
    family: int, port: int, *, process: int | str = "self", listening: bool
) -> set[str]:
    """Return inodes of TCP sockets with a local port.

    Args:
        family: ``AF_INET``, or ``AF_INET6``, which a socket of the other family may serve as well.
        port: the local port.
        process: whose network namespace is asked.
        listening: whether only sockets that listen count.
    """
    families = (family, socket.AF_INET) if listening and family == socket.AF_INET6 else (family,)
    found = set()
    for each in dict.fromkeys(families):
        for fields in _rows(process, _TABLES[socket.AddressFamily(each)]):
            is_at_port = int(fields[1].rpartition(":")[2], 16) == port
            if is_at_port and (not listening or fields[3] == _LISTENS):
                found.add(fields[9])
    return found


def find_unix_inodes(path: str, *, process: int | str = "self") -> set[str]:
    """Return inodes of the Unix sockets that listen under a path, or an abstract name with ``@``."""
    name = os.path.basename(path)
    return {
        fields[6]
        for fields in _rows(process, "unix")
        if len(fields) > _UNIX_PATH_FIELD
        and int(fields[3], 16) & _UNIX_LISTENS
        and os.path.basename(fields[_UNIX_PATH_FIELD]) == name
    }


def is_held(inodes: set[str], processes: Iterable[int]) -> bool:
    """Return whether one of some processes has one of some sockets open."""
    return bool(inodes) and any(_holds(pid, inodes) for pid in processes)


def _rows(process: int | str, table: str) -> Iterator[list[str]]:
    with suppress(OSError), _open(f"/proc/{process}/net/{table}", encoding="utf-8") as lines:
        for line in list(lines)[1:]:
            yield (
                line.rstrip("\n").split(maxsplit=_UNIX_PATH_FIELD)
                if table == "unix"
                else line.split()
            )


def _holds(pid: int, inodes: set[str]) -> bool:
    folder = f"/proc/{pid}/fd"
    with suppress(OSError):
        for name in _listdir(folder):
            with suppress(OSError):
                kind, _, inode = _readlink(f"{folder}/{name}").partition(":")
                if kind == "socket" and inode.strip("[]") in inodes:
                    return True
    return False
