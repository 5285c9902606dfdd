"""The descriptor of a played connection: one end of a pair that nobody else holds.

It is readable exactly while it was shown to be, so that ``select``, ``poll`` and event loops wait for it as they
would for the real one.

Invariant: at most one byte is in the pair.
"""

from __future__ import annotations

import os
import socket

_pair = socket.socketpair


class StandIn:
    """A descriptor that is readable when it is told to be.

    Args:
        sock: the program's socket, whose descriptor becomes one end of the pair.
        owned: descriptors that governed sources hold.

    Attributes:
        descriptor: of the program's socket.
    """

    def __init__(self, sock: socket.socket, owned: set[int]) -> None:
        near, self._far = _pair()
        with near:
            os.dup2(near.fileno(), sock.fileno(), inheritable=False)
        self.descriptor, self._owned = sock.fileno(), owned
        self.is_readable = False
        owned.update((self.descriptor, self._far.fileno()))

    def show(self, *, readable: bool) -> bool:
        """Make the descriptor readable, or not; say whether it became so just now."""
        was, self.is_readable = self.is_readable, readable
        if readable and not was:
            self._far.send(b"\0")
        elif was and not readable:
            os.read(self.descriptor, 1)
        return readable and not was

    def close(self) -> None:
        """Close the pair when the connection is over."""
        self._owned.difference_update((self.descriptor, self._far.fileno()))
        self._far.close()
