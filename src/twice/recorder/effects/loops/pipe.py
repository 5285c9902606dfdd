"""A pipe that a recorded loop reads: the pieces in which its bytes come are those of the record.

The process at its other end runs again in a replay, and writes the same bytes; how many of them the loop finds at once
is a matter of timing.

Invariant: nothing is read that a replay would not read in the same piece.
"""

from __future__ import annotations

import array
import fcntl
import select
import termios
from typing import TYPE_CHECKING, Any

from twice.recorder.effects.loops.socket_line import SocketReader, SocketWriter

if TYPE_CHECKING:
    _ReadPipeTransport = Any  # it has no types
else:
    from asyncio.unix_events import _UnixReadPipeTransport as _ReadPipeTransport

_WAIT_MS = 50
_poll = select.poll


class RecordedPipe(_ReadPipeTransport):  # type: ignore[misc]
    """The transport of a pipe, with its line in the record."""

    def __init__(self, line: SocketWriter | SocketReader, *args: Any, **kwargs: Any) -> None:
        self._line = line
        super().__init__(*args, **kwargs)

    def _read_ready(self) -> None:
        if isinstance(self._line, SocketReader):
            size = int(self._line.claim("pipe", None))
            self._wait_for(size)
        else:
            size = self._line.claim("pipe", min(self._count(), _ReadPipeTransport.max_size))
        self.max_size = max(1, size)  # at its end a pipe has none
        super()._read_ready()

    def _wait_for(self, size: int) -> None:
        """Wait until as much is there, or the end of the pipe where nothing is to come."""
        poll = _poll()
        poll.register(self._fileno, select.POLLIN)
        while self._count() < size or (not size and not self._is_at_end()):
            if self._is_at_end():
                return
            poll.poll(_WAIT_MS)

    def _is_at_end(self) -> bool:
        poll = _poll()
        poll.register(self._fileno, select.POLLIN)
        found = poll.poll(0)
        return bool(found) and not self._count()

    def _count(self) -> int:
        """Count the bytes that can be read."""
        count = array.array("i", [0])
        fcntl.ioctl(self._fileno, termios.FIONREAD, count)
        return count[0]
