"""Connections of C code, which raise no event: found by their descriptors, or made impossible in a replay.

A C library that talks by itself keeps a connection, and that has a descriptor. New ones are looked for at every
compare-point and around declared effects; the sockets that an effect opened are its own. To look costs two short
system calls while the lowest free descriptor is the one it was, and a listing of all when it is not.

Not covered: a connection that is made and closed between two looks. Sockets in the file system (``AF_UNIX`` by
path), which a network namespace does not hide.

Invariant: looking leaves the descriptors of the process as they were, but for one high one.
"""

from __future__ import annotations

import os
import sys
from _socket import AF_INET, AF_INET6, AF_UNIX
from _socket import socket as _plain_socket
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from time import sleep as _sleep  # the real one: bound before anything is patched

from twice.recorder.effects.network.within_run import is_own_peer, may_listen
from twice.recorder.environment.libraries import list_mapped_files
from twice.recorder.kernel.confinement import NETWORK, current, retry_interrupted, tiers_left_out
from twice.recorder.kernel.namespaces import (
    NamespaceRefused,
    enter_namespaces,
    give_up_rights,
)

# The real ones: bound before anything is patched.
_dup, _close, _readlink = os.dup, os.close, os.readlink
_listdir = retry_interrupted(os.listdir)
_FOLDER = "/proc/self/fd"
_ANCHOR_LEAST = 600
_ACCEPTED_S = 0.05

# By the name that is written after ``import``. Clients in Python (requests, aiohttp, asyncpg) are not here: their
# sockets are Python's.
_CLIENTS: Mapping[str, str] = {
    "MySQLdb": "libmysqlclient", "confluent_kafka": "librdkafka", "curl_cffi": "libcurl", "gevent": "libev",
    "grpc": "gRPC", "mpi4py": "MPI", "psycopg": "libpq", "psycopg2": "libpq", "pycurl": "libcurl",
    "pymssql": "FreeTDS", "pynng": "nng", "pyodbc": "ODBC", "uvloop": "libuv", "zmq": "libzmq",
}  # fmt: skip
_CLIENT_FILES = (
    "libpq.", "libpq-", "libcurl.", "libcurl-", "libmysqlclient", "libmariadb", "libzmq", "librdkafka",
)  # fmt: skip


def find_clients() -> dict[str, str]:
    """Return the loaded modules that talk to the network in C, and the library of each."""
    return {name: library for name, library in _CLIENTS.items() if name in sys.modules}


def find_mapped_clients() -> list[str]:
    """Return file names of client libraries that this process has mapped, sorted; only on Linux."""
    names = {Path(path).name for path in list_mapped_files()}
    return sorted(name for name in names if name.startswith(_CLIENT_FILES))


def cut_off() -> bool:
    """Leave the network for good, if that is possible; whether it was done.

    The process gets a network namespace with nothing in it but a loopback that is down: whatever C code tries then
    fails. Called before the process has started any thread: those that exist would stay in the network.
    """
    if current().is_cut_off:
        return True
    if NETWORK in tiers_left_out(os.environ):
        return False
    try:
        # With the rights of a namespace's owner it could read its own files whatever their permissions say.
        give_up_rights(enter_namespaces(mounts=False, network=True))
    except NamespaceRefused as refused:  # in containers and hardened systems
        if refused.is_entered:  # though a process that was thrown away could enter it
            raise
        return False
    return True


class NativeSockets:
    """The descriptors of this process, as far as they are known."""

    def __init__(self, owned: Collection[int]) -> None:
        self._owned = owned  # those that governed sources hold
        # Sockets of Python's that were named already, when they connected or were bound.
        self.named: set[int] = set()
        self._anchor = self._free = -1
        self._known: frozenset[int] = frozenset()
        if not os.path.isdir(_FOLDER):  # noqa: PTH112  (Linux alone has it; nothing is found elsewhere)
            return
        import fcntl

        low = os.open(os.devnull, os.O_RDONLY)
        try:
            # High, so that the program's own descriptors keep their numbers.
            self._anchor = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, _ANCHOR_LEAST)
        except OSError:
            return  # The limit of open files is lower than that.
        finally:
            _close(low)
        self.adopt()

    def find_new(self) -> list[str]:
        """Describe sockets that appeared since the last look and belong to nobody."""
        known = self._known
        if not self._has_changed():
            return []
        new = self._known - known - self.named
        self.named &= self._known
        foreign = [(fd, words) for fd in sorted(new - {*self._owned}) if (words := _describe(fd))]
        if foreign:
            _sleep(_ACCEPTED_S)  # another thread of Python's may be about to make a socket of it
        return [words for fd, words in foreign if fd not in self._owned]

    def adopt(self) -> None:
        """Assign the descriptors that appeared since the last look to a declared effect."""
        self._has_changed()

    def close(self) -> None:
        """Close the descriptor with which the lowest free number is found."""
        if self._anchor >= 0:
            with suppress(OSError):
                _close(self._anchor)
            self._anchor = -1

    def _has_changed(self) -> bool:
        """Look at the descriptors again if the lowest free one is another; whether it was."""
        if self._anchor < 0:
            return False
        try:
            free = _dup(self._anchor)
        except OSError:  # The program closed it, or has no descriptor left.
            return False
        _close(free)
        if free == self._free:
            return False
        # The listing itself takes the lowest free one.
        self._free, self._known = free, frozenset(map(int, _listdir(_FOLDER))) - {free}
        return True


def _describe(descriptor: int) -> str:
    """Describe a socket that reaches out of this process and of the run; empty for anything else."""
    try:
        if not _readlink(f"{_FOLDER}/{descriptor}").startswith("socket:"):
            return ""
        copy = _plain_socket(fileno=_dup(descriptor))
    except OSError:
        return ""
    try:
        if copy.family not in (AF_INET, AF_INET6, AF_UNIX):
            return ""
        peer = None
        with suppress(OSError):
            peer = copy.getpeername()
        if peer:
            return "" if is_own_peer(copy, peer) else f"a socket connected to {peer!r}"
        own = copy.getsockname()
    except OSError:
        return ""
    else:
        is_bound = copy.family != AF_UNIX and bool(own[1]) and not may_listen(copy, own)
        return f"a socket bound to {own!r}" if is_bound else ""
    finally:
        copy.close()
