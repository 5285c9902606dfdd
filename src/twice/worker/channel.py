"""Plain data between a worker and its parent.

One message is a length (4 bytes, little-endian) and the canonical form of a dict. Nothing is
pickled; a message from a worker is as harmless as a record.

Invariant: a message arrives whole or not at all.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from twice.errors import TwiceError, find_leaf
from twice.foundation.encoding import decode, encode

KEPT: Final = "kept"
"""Kind of the last message of a process in a world: the keeper's report after the end of the program."""

_LENGTH = struct.Struct("<I")
_HIGH: Final = 600
"""The least descriptor of a channel that makes room for a program's."""


class Channel:
    """One end of the line between a worker and its parent."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._read = bytearray()
        """What has come of a message whose rest was not there in time."""

    def fileno(self) -> int:
        """Return the descriptor, for waiting on it."""
        return self._connection.fileno()

    def make_room(self) -> None:
        """Move to a high descriptor, where the program's own do not meet it; without a high one it stays."""
        # No such call on this system; a low limit of open files.
        with suppress(ImportError, OSError):
            import fcntl

            self.replace(fcntl.fcntl(self._connection.fileno(), fcntl.F_DUPFD_CLOEXEC, _HIGH))

    def send(self, message: Mapping[str, object], timeout_s: float | None = None) -> None:
        """Send one message; a parent that is gone makes this a no-op.

        Raises:
            TimeoutError: when the other side did not take it within ``timeout_s`` seconds.
        """
        payload = encode(dict(message))
        # Else the time of the last ``receive`` would count for what is sent after it.
        self._connection.settimeout(timeout_s)
        try:
            self._connection.sendall(_LENGTH.pack(len(payload)) + payload)
        except (BrokenPipeError, ConnectionResetError):
            return

    def receive(self, timeout_s: float | None = None) -> dict[str, Any] | None:
        """Receive the next message, or None when the other side is gone.

        Raises:
            TimeoutError: when nothing came within ``timeout_s`` seconds.
        """
        self._connection.settimeout(timeout_s)
        try:
            if not self._fill(_LENGTH.size):
                return None
            end = _LENGTH.size + _LENGTH.unpack_from(self._read)[0]
            if not self._fill(end):
                return None
        except ConnectionResetError:
            return None
        except BlockingIOError as error:  # the error of the system if the time to wait is 0
            raise TimeoutError("no time to wait") from error
        message = decode(bytes(self._read[_LENGTH.size : end]))
        self._read.clear()
        assert isinstance(message, dict), "a message is a dict"
        return message

    def copy(self) -> Channel:
        """Make another object for the same end, to be closed by itself."""
        return Channel(self._connection.dup())

    def send_descriptors(self, descriptors: list[int]) -> None:
        """Send descriptors with one byte; none of them says that no more will come.

        Raises:
            OSError: the other side is gone.
        """
        if descriptors:
            socket.send_fds(self._connection, [b"d"], descriptors)
        else:
            self._connection.sendall(b"d")

    def receive_descriptors(self, most: int) -> list[int]:
        """Receive the descriptors that come with the next byte; return none at the end."""
        asked, handed, _, _ = socket.recv_fds(self._connection, 1, most)
        return list(handed) if asked else []

    def replace(self, descriptor: int) -> None:
        """Close the line, and become the end of another one for everybody who uses this channel."""
        self._connection.close()
        self._connection = socket.socket(fileno=descriptor)

    def hang_up(self) -> None:
        """Close the line for every process that has this end, such as a fork that went on."""
        with suppress(OSError):  # The other side was quicker.
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def close(self) -> None:
        """Close the line."""
        self._connection.close()

    def _fill(self, size: int) -> bool:
        """Read until so many bytes of a message are there; return whether the other side sent them."""
        while len(self._read) < size:
            piece = self._connection.recv(min(1 << 20, size - len(self._read)))
            if not piece:
                return False
            self._read += piece
        return True


def inherited(descriptor: int) -> Channel:
    """Open the channel on a socket that this process got when it was started."""
    return Channel(socket.socket(fileno=descriptor))


def pair() -> tuple[Channel, socket.socket]:
    """Make a parent's channel, and the socket that its child inherits."""
    ours, theirs = socket.socketpair()
    return Channel(ours), theirs


def tell_error(error: TwiceError) -> dict[str, object]:
    """Return an error as a message."""
    plain = str | int | float | bool | None
    return {
        "kind": "error",
        "id": error.id,
        "happened": error.happened,
        "expected": error.expected,
        "remedy": error.remedy,
        "fields": {
            key: value if isinstance(value, plain) else repr(value)
            for key, value in error.fields.items()
        },
    }


def revive_error(message: Mapping[str, Any]) -> TwiceError:
    """Return the error of a message: a leaf of the tree, or its root when the leaf is not known here."""
    leaf = find_leaf(message["id"])
    return leaf(message["happened"], message["expected"], message["remedy"], **message["fields"])
