"""Pipes and connections of a recorded loop to the run's own threads and processes, which run again in a replay.

They write the same bytes there. How many of them the loop finds at once is a matter of timing, so the sizes of the
pieces are recorded, and a replay waits until as much is there.

Invariant: nothing is read that a replay would not read in the same piece.
"""

from __future__ import annotations

import _socket
import array
import fcntl
import select
import termios
from collections.abc import Callable
from time import process_time as _process_time  # the real one: bound before anything is patched
from typing import TYPE_CHECKING, Any

from twice.recorder.effects.loops.socket_line import SocketReader, SocketWriter
from twice.recorder.effects.outcomes import Outcome

if TYPE_CHECKING:
    _ReadPipeTransport = Any  # it has no types
else:
    from asyncio.unix_events import _UnixReadPipeTransport as _ReadPipeTransport

PATIENCE_S = 20.0
"""How long a replay waits for the run's own threads and processes while nothing is computed."""
WAIT_S = 0.02
_ENDS = select.POLLRDHUP | select.POLLHUP | select.POLLERR
_poll = select.poll
_receive: Any = _socket.socket.recv


class RecordedPipe(_ReadPipeTransport):  # type: ignore[misc]
    """The transport of a pipe, with its line in the record."""

    def __init__(self, line: SocketWriter | SocketReader, *args: Any, **kwargs: Any) -> None:
        self._line = line
        super().__init__(*args, **kwargs)

    def _read_ready(self) -> None:
        if isinstance(self._line, SocketReader):
            size = int(self._line.claim("piece", None))
            wait_for_bytes(self._fileno, size)
        else:
            size = min(count_bytes(self._fileno), _ReadPipeTransport.max_size)
            self._line.claim("piece", size)
        self.max_size = max(1, size)  # at its end a pipe has none
        super()._read_ready()


class InnerConnection:
    """What a socket of a recorded loop holds whose other end is a thread or a process of the run."""

    is_replayed = is_tls = False

    def __init__(self, key: str, line: SocketWriter | SocketReader) -> None:
        self.key, self._line = key, line

    def connect(self, asked: object, sock: Any, connect: Callable[[], object]) -> object:
        """Connect."""
        del asked, sock
        return connect()

    def connect_again(self, connect: Callable[[], object]) -> object:
        """Ask again for a connection that was asked for."""
        return connect()

    def read_error(self, error_number: Callable[[], int]) -> int:
        """Return the outcome of a connection that was not waited for: 0, or the number of an error."""
        return error_number()

    def about(
        self, what: object, live: Callable[[], Outcome], absent: Outcome | None = None
    ) -> Outcome:
        """Return a fact about the connection: it is the world's."""
        del what, absent
        return live()

    def send(self, data: Any, send: Callable[[], int | None]) -> int:
        """Send bytes on the socket; None from ``send`` means all of them."""
        count = send()
        return memoryview(data).nbytes if count is None else count

    write = send

    def receive(
        self, sock: Any, size: int, receive: Callable[[], Any], *, peek: bool = False
    ) -> Any:
        """Receive a piece: in replay, one as large as it was."""
        del size
        got: Any = b""

        def live() -> int:
            nonlocal got
            got = receive()
            return len(got)

        count = self._line.call("peek" if peek else "piece", live)
        if isinstance(self._line, SocketWriter):
            return got
        wait_for_bytes(sock.fileno(), count)
        return receive() if peek else _receive(sock, max(1, count))

    def read(self, sock: Any, size: int, receive: Callable[[], Any]) -> Any:
        """Read plain bytes out of TLS."""
        del sock, size
        return receive()

    def step(self, what: str, act: Callable[[], object]) -> None:
        """Take a step of TLS."""
        del what
        act()

    def start_tls(self) -> None:
        """Do nothing: both sides of TLS are the run's own, and encrypt again."""

    def state(self) -> tuple[object, ...]:
        """Return nothing: a snapshot cannot put a loop back."""
        return ()

    def close(self, sock: Any, how: str = "") -> None:
        """Do nothing: the socket is the program's."""


def count_bytes(descriptor: int) -> int:
    """Count the bytes that can be read from a pipe or a socket."""
    count = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, count)
    return count[0]


def wait_for_bytes(descriptor: int, size: int) -> None:
    """Wait until as much can be read, or until no more comes."""
    patience = Patience(0.0)
    while (count := count_bytes(descriptor)) < max(1, size) and patience.is_left():
        poll = _poll()
        poll.register(descriptor, select.POLLRDHUP | (0 if count else select.POLLIN))
        ends = any(events & _ENDS for _, events in poll.poll(WAIT_S * 1000))
        if ends and count_bytes(descriptor) == count:
            return


class Patience:
    """Counts the time in which nothing was computed."""

    def __init__(self, took_s: float) -> None:
        self._max_s = PATIENCE_S + took_s  # the run's own threads may sleep as long as they did
        self._still_s, self._spent_s = 0.0, _process_time()

    def is_left(self) -> bool:
        """Return whether to wait once more."""
        spent_s, before_s = _process_time(), self._spent_s
        self._spent_s = spent_s
        self._still_s = self._still_s + WAIT_S if spent_s - before_s < WAIT_S / 10 else 0.0
        return self._still_s < self._max_s
