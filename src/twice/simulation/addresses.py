"""Addresses of the network in memory: one name for each, and what stands for the sockets that have them.

Invariant: two ways to write an address of one place give one ``Address``.
"""

from __future__ import annotations

import errno
import socket

Address = tuple[str, int] | str
_EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104  (names that a program gives; nothing is bound)
LOCAL_NAMES = ("localhost", "::1", "127.0.0.1")


def name_address(address: Address) -> str:
    """Name an address as reports show it: ``db:5432``, or a path."""
    return address if isinstance(address, str) else f"{address[0] or '*'}:{address[1]}"


def normalize(host: str | None, port: int) -> Address:
    """Return an address by one name: loopback is 127.0.0.1, and no host is all of them."""
    if host is None or host in _EVERYWHERE:
        return ("", port)
    return ("127.0.0.1" if host in LOCAL_NAMES else host, port)


class SocketInMemory:
    """Stands for the socket of a server or of a connection, for programs that ask for addresses and set options."""

    def __init__(self, address: Address, peer: Address | None = None) -> None:
        self._address, self._peer = address, peer
        self.family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.type, self.proto = socket.SOCK_STREAM, 0

    def getsockname(self) -> Address:
        """Return its address; a server at all addresses has 0.0.0.0."""
        if isinstance(self._address, str) or self._address[0]:
            return self._address
        return ("0.0.0.0", self._address[1])  # noqa: S104

    def getpeername(self) -> Address:
        """Return the address of the other side."""
        if self._peer is None:
            raise OSError(errno.ENOTCONN, "a server has no other side")
        return self._peer

    def setsockopt(self, *option: object) -> None:
        """Do nothing: no option has a meaning in memory."""

    def getsockopt(self, *option: object) -> int:
        """Return 0."""
        del option
        return 0

    def fileno(self) -> int:
        """Return -1: there is no descriptor."""
        return -1
