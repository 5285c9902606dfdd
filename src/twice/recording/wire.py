"""Plain data between a session's process and its parent.

One message is a length (4 bytes, little-endian) and the canonical form of a dict. Nothing is
pickled; a message from the child is as harmless as a record.

Invariant: a message arrives whole or not at all.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from typing import Any

from twice.foundation.encoding import decode, encode

_LENGTH = struct.Struct("<I")


class Channel:
    """One end of the line between a session's process and its parent."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def fileno(self) -> int:
        """The descriptor, for waiting on it."""
        return self._connection.fileno()

    def send(self, message: Mapping[str, object]) -> None:
        """Send one message; a parent that is gone makes this a no-op."""
        payload = encode(dict(message))
        try:
            self._connection.sendall(_LENGTH.pack(len(payload)) + payload)
        except (BrokenPipeError, ConnectionResetError):
            return

    def receive(self, timeout_s: float | None = None) -> dict[str, Any] | None:
        """The next message, or None when the other side is gone.

        Raises:
            TimeoutError: when nothing came within ``timeout_s`` seconds.
        """
        self._connection.settimeout(timeout_s)
        try:
            head = self._exactly(_LENGTH.size)
            if head is None:
                return None
            body = self._exactly(_LENGTH.unpack(head)[0])
        except ConnectionResetError:
            return None
        if body is None:
            return None
        message = decode(body)
        assert isinstance(message, dict), "a message is a dict"
        return message

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def _exactly(self, size: int) -> bytes | None:
        pieces = bytearray()
        while len(pieces) < size:
            piece = self._connection.recv(min(1 << 20, size - len(pieces)))
            if not piece:
                return None
            pieces += piece
        return bytes(pieces)


def inherited(descriptor: int) -> Channel:
    """The channel on a socket that this process was given when it was started."""
    return Channel(socket.socket(fileno=descriptor))


def pair() -> tuple[Channel, socket.socket]:
    """A parent's channel, and the socket that its child inherits."""
    ours, theirs = socket.socketpair()
    return Channel(ours), theirs
