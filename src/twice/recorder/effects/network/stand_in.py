"""The descriptor that a program's socket has in replay: nothing of the world is behind it.

Invariant: it is readable exactly while it is shown to be.
"""

from __future__ import annotations

import os
import socket

_pair = socket.socketpair


class StandIn:
    """The descriptor of a replayed connection: one end of a pair, readable while it is shown to be.

    At most one byte is in the pair.
    """

    def __init__(self, sock: socket.socket, owned: set[int]) -> None:
        near, self._far = _pair()
        with near:
            os.dup2(near.fileno(), sock.fileno(), inheritable=False)
        self.descriptor, self._owned = sock.fileno(), owned
        self.is_readable = False
        owned.update((self.descriptor, self._far.fileno()))

    def show(self, *, is_readable: bool) -> bool:
        """Make the descriptor readable, or not; return whether it became so just now."""
        was_readable, self.is_readable = self.is_readable, is_readable
        if is_readable and not was_readable:
            self._far.send(b"\0")
        elif was_readable and not is_readable:
            os.read(self.descriptor, 1)
        return is_readable and not was_readable

    def close(self) -> None:
        """Close the pair when the connection is over."""
        self._owned.difference_update((self.descriptor, self._far.fileno()))
        self._far.close()
