"""What is written down of one recorded loop and of its sockets, or read again.

Invariant: what a tape has gathered is written down before the next compare-point is.
"""

from __future__ import annotations

import socket
from _thread import get_ident
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from twice.errors import EffectMismatch, SimulationRefused
from twice.recorder.effects import ops
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.loops.loop_connection import LoopConnection
from twice.recorder.effects.loops.pieces import InnerConnection
from twice.recorder.effects.loops.socket_line import SocketReader, SocketWriter


class LoopTape:
    """The record of one loop.

    Args:
        layer: the layer that governs.
        key: of the loop in the record.
        read_program_time: reads the loop's clock for the program's own code.
        threads_before: how many threads the process had before the program ran.

    Attributes:
        round: how many rounds have begun.
        thread: the loop's thread.
        refuse: raises an error out of the loop.
        gathering: sockets with events that are not written down yet.
    """

    def __init__(
        self,
        layer: EffectLayer,
        key: str,
        read_program_time: Callable[[CodeType], Any],
        threads_before: int,
    ) -> None:
        self.threads_before = threads_before
        self.layer, self.key, self.read_program_time = layer, key, read_program_time
        self.is_replayed = not layer.live
        self.round, self.thread = 0, get_ident()
        self.refuse: Callable[[BaseException], None] = lambda _error: None
        self.gathering: list[SocketWriter] = []
        self._open: WeakSet[LoopConnection] = WeakSet()
        self._listeners: WeakKeyDictionary[socket.socket, _Listener] = WeakKeyDictionary()
        self._listening = self._inner = 0

    # -- the record -----------------------------------------------------------------------------

    def write_rounds(self, block: tuple[bytes, bytes, tuple[str, ...]]) -> None:
        """Write down a block of rounds, behind what the sockets gave in them."""
        gathered, self.gathering = self.gathering, []
        for line in gathered:
            self._write(line.key, ops.LOOP_SOCKET, tuple(line.take()))
        if any(block):
            self._write(self.key, ops.LOOP_ROUNDS, block)

    def _write(self, key: str, op: ops.Op, value: object) -> None:
        self.layer.note_line(self.layer.line(key), op, value, fact=True)

    def read_line(self, key: str, op: ops.Op) -> Iterator[Any]:
        """Yield the blocks of a recorded line."""
        while (block := self.layer.source.lenient(op, lambda: None, key)) is not None:
            yield block

    def make_mismatch(self, recorded: str, asked: str, what: str = "") -> EffectMismatch:
        """Build the error for a program that does otherwise than it did, and report it."""
        error = EffectMismatch(
            f"{what or f'The event loop {self.key}'} does otherwise in round {self.round}: the record holds {recorded}, "
            f"the program asked for {asked}.",
            "Expected a program that does in each callback what it did.",
            "The program takes another path than it did, or the record is of another one: twice diagnose names where.",
            position=self.round,
            actor=self.key,
            recorded=recorded,
            asked=asked,
        )
        self.layer.source.unfit(error)
        return error

    def refuse_server_tls(self) -> SimulationRefused:
        """Build the error for a server that encrypts, and end the run with it."""
        error = SimulationRefused(
            "The program serves TLS in a run whose loop is recorded.",
            "Expected plain connections to what it serves: the keys of its side of TLS cannot be drawn again.",
            "Serve without TLS behind a proxy that has it, or record with --loop own.",
            loop=self.key,
        )
        self.refuse(error)
        return error

    # -- sockets --------------------------------------------------------------------------------

    def open_socket(self, key: str) -> SocketWriter | SocketReader:
        """Open the line of a socket."""
        if not self.is_replayed:
            return SocketWriter(self, key)
        return SocketReader(self, key, self.read_line(key, ops.LOOP_SOCKET))

    def connect(self, key: str) -> LoopConnection:
        """Make the connection of a socket."""
        made = LoopConnection(self, key)
        self._open.add(made)
        return made

    def connect_within_run(self) -> InnerConnection:
        """Make the connection of a socket whose other end is the run's own."""
        key = f"{self.key}/inner:{self._inner}"
        self._inner += 1
        return InnerConnection(key, self.open_socket(key))

    def begin_round(self) -> None:
        """Count a round; in replay, show which sockets would be found closed in it."""
        self.round += 1
        if self.is_replayed:
            for each in self._open:
                each.show()

    def compare(self) -> None:
        """Compare what went out on open connections of a replay."""
        for each in self._open:
            each.compare()

    def listen(self, sock: socket.socket) -> None:
        """Take charge of a socket that listens for the loop."""
        key = f"{self.key}/listener:{self._listening}"
        self._listening += 1
        self._listeners[sock] = _Listener(key, self.open_socket(key), sock.getsockname())

    def bind(self, sock: socket.socket) -> LoopConnection:
        """Take charge of a datagram socket that has an address of its own."""
        self.listen(sock)
        made = self.connect(f"{self._listeners[sock].key}/datagrams")
        made.own(sock)
        return made

    def listens(self, address: object) -> bool:
        """Return whether a socket of the loop listens there."""
        return any(each.has_address(address) for each in self._listeners.values())

    def accept(
        self, sock: socket.socket, real: Callable[[], tuple[Any, Any]]
    ) -> tuple[socket.socket, Any, LoopConnection]:
        """Accept a connection, or give the one that was accepted then."""
        listener, accepted = self._listeners[sock], None

        def live() -> Any:
            nonlocal accepted
            accepted, peer = real()
            return peer

        peer = listener.line.call("accept", live)
        if accepted is None:
            accepted = socket.socket(sock.family, sock.type, sock.proto)
        listener.accepted += 1
        made = self.connect(f"{listener.key}/connection:{listener.accepted - 1}")
        made.own(accepted)
        return accepted, peer, made

    def is_listener(self, sock: socket.socket) -> bool:
        """Return whether the loop accepts from a socket."""
        return sock in self._listeners


class _Listener:
    """A socket that listens for the loop."""

    def __init__(self, key: str, line: SocketWriter | SocketReader, address: Any) -> None:
        self.key, self.line, self.accepted = key, line, 0
        self._address = address

    def has_address(self, address: Any) -> bool:
        """Return whether a client that connects to an address comes here."""
        own = self._address
        if not (isinstance(own, tuple) and isinstance(address, tuple)):
            return bool(own == address)
        return bool(own[1] == address[1]) and (
            own[0] == address[0] or own[0] in {"0.0.0.0", "::"}  # noqa: S104  (asked, not bound)
        )
