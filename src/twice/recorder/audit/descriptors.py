"""Finds sockets that nobody made through Python: descriptors that were not there before.

A C library that talks by itself raises no event, but the connection that it keeps has a descriptor. New
ones are looked for at every compare-point and around declared effects; what an effect opened is its
own. To look costs two short system calls while the lowest free descriptor is the one it was, and a
listing of all when it is not.

What it misses: a connection that is made and closed between two looks.

Invariant: looking leaves the descriptors of the process as they were, but for one high one.
"""

from __future__ import annotations

import os
from _socket import AF_INET, AF_INET6, AF_UNIX
from _socket import socket as _plain_socket
from collections.abc import Collection
from contextlib import suppress
from time import sleep as _sleep  # the real one: bound before anything is patched
from typing import Any

from twice.foundation.dataclass import dataclass
from twice.recorder.effects.network.within_run import is_own_peer, may_listen
from twice.recorder.kernel.interrupted_calls import retry_interrupted

# The real ones: bound before anything is patched.
_dup, _close, _readlink = os.dup, os.close, os.readlink
_listdir = retry_interrupted(os.listdir)
_FOLDER = "/proc/self/fd"
_ANCHOR_LEAST = 600
_ACCEPTED_S = 0.05


@dataclass(frozen=True)
class Found:
    """A socket that appeared, and who is at its other end."""

    descriptor: int
    words: str


class Descriptors:
    """The descriptors of this process, as far as they are known.

    Args:
        owned: those that governed sources hold.

    Attributes:
        named: sockets of Python's that were named already, when they connected or were bound.
    """

    def __init__(self, owned: Collection[int]) -> None:
        self._owned = owned
        self.named: set[int] = set()
        self._anchor = -1
        self._free = -1
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
        self._free = self._lowest()
        self._known = _all(self._free)

    def look(self) -> list[Found]:
        """Return sockets that appeared since the last look and belong to nobody."""
        if self._anchor < 0:
            return []
        free = self._lowest()
        if free == self._free:
            return []
        self._free = free
        now = _all(free)
        new, self._known = now - self._known - self.named, now
        self.named &= now
        foreign = [
            found for fd in sorted(new) if fd not in self._owned and (found := _describe(fd))
        ]
        if foreign:
            _sleep(_ACCEPTED_S)  # another thread of Python's may be about to make a socket of it
        return [found for found in foreign if found.descriptor not in self._owned]

    def adopt(self) -> None:
        """Assign the descriptors that appeared since the last look to a declared effect."""
        if self._anchor < 0:
            return
        free = self._lowest()
        if free != self._free:
            self._free, self._known = free, _all(free)

    def close(self) -> None:
        """Close the descriptor with which the lowest free number is found."""
        if self._anchor >= 0:
            with suppress(OSError):
                _close(self._anchor)
            self._anchor = -1

    def _lowest(self) -> int:
        try:
            free = _dup(self._anchor)
        except OSError:  # The program closed it, or has no descriptor left.
            return self._free
        _close(free)
        return free


def _all(free: int) -> frozenset[int]:
    """Return every descriptor, except the lowest free one, which the listing itself takes."""
    return frozenset(map(int, _listdir(_FOLDER))) - {free}


def _describe(descriptor: int) -> Found | None:
    """Describe a socket that reaches out of this process; return None for anything else."""
    try:
        if not _readlink(f"{_FOLDER}/{descriptor}").startswith("socket:"):
            return None
        copy = _plain_socket(fileno=_dup(descriptor))
    except OSError:
        return None
    with suppress(OSError):
        try:
            return _reaching(descriptor, copy)
        finally:
            copy.close()
    return None


def _reaching(descriptor: int, copy: Any) -> Found | None:
    if copy.family not in (AF_INET, AF_INET6, AF_UNIX):
        return None
    try:
        peer = copy.getpeername()
    except OSError:
        peer = None
    if copy.family == AF_UNIX:
        if peer and is_own_peer(copy, peer):
            return None
        return Found(descriptor, f"a socket connected to {peer!r}") if peer else None
    if peer is not None:
        if is_own_peer(copy, peer):
            return None
        return Found(descriptor, f"a socket connected to {peer!r}")
    own = copy.getsockname()
    if may_listen(copy, own):
        return None
    return Found(descriptor, f"a socket bound to {own!r}") if own[1] else None
