"""Which socket holds which connection of the run.

A socket that connects on behalf of an actor holds a connection, live or replayed, until it is closed. A socket made
from the same descriptor (TLS does so) holds the same one. A pair of TLS buffers does not know the socket that carries
it: its first bytes, a greeting that is never the same twice, are recognised when a connection sends them.

Invariant: at the end of a run every connection is closed.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from sys import _getframe
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from twice.errors import EffectMismatch, EffectRefused
from twice.recorder.effects import ops
from twice.recorder.effects.actors import OUTSIDE, Actor, asker_of, current
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.loops.loop_connection import LoopConnection
from twice.recorder.effects.loops.pieces import InnerConnection
from twice.recorder.effects.network.branched_connection import BranchedConnection
from twice.recorder.effects.network.connection import LEFT, LiveConnection
from twice.recorder.effects.network.replayed_connection import ReplayedConnection

if TYPE_CHECKING:
    from twice.recorder.effects.loops.tape import LoopTape

Held = LiveConnection | ReplayedConnection | LoopConnection | InnerConnection
"""The connection that a socket holds: the same to whoever uses it."""
_WRAPPERS = frozenset({__file__, str(Path(__file__).with_name("sockets.py"))})
_MULTIPROCESSING = str(Path("multiprocessing", "connection.py"))
_FAMILIES = (socket.AF_INET, socket.AF_INET6, getattr(socket, "AF_UNIX", socket.AF_INET))


class Connections:
    """The connections of one run."""

    name = ops.CONNECTIONS

    def __init__(self, layer: EffectLayer) -> None:
        self.layer, self.turns = layer, layer.source.turns()
        self.turns.waits = layer.owners.waits
        self._held: WeakKeyDictionary[socket.socket, Held] = WeakKeyDictionary()
        self._outside: WeakSet[socket.socket] = WeakSet()
        self._open: dict[str, Held] = {}
        self._made: set[str] = set()
        self._to_seek: Mapping[str, Sequence[Any]] = {}
        self._greetings: dict[bytes, Callable[[Held], None]] = {}
        self._greeting = Lock()
        self.of: Callable[[socket.socket], Held | None] = self._held.get
        """Returns the connection that a socket holds, or None: it is no business of the run's."""
        layer.parts.append(self)

    def find_maker(self, sock: socket.socket) -> Actor | None:
        """Return the actor on whose behalf a socket connects, or None when it is not governed."""
        if sock.family not in _FAMILIES:
            return None
        # multiprocessing connects to another process of the program, which goes on by the descriptor.
        if asker_of(_getframe(1), _WRAPPERS).co_filename.endswith(_MULTIPROCESSING):
            return None
        actor = self.layer.actor()
        if actor is None:
            self.layer.count_ungoverned(ops.CONNECT)
        return actor

    def begin(self, actor: Actor, sock: socket.socket, asked: object) -> Held:
        """Begin a new connection of an actor, live or from the record."""
        key = actor.next_key("connection")
        tape = self.find_tape(sock)
        if tape is not None:
            self._held[sock] = passed = tape.connect(key)
            return passed
        events = self.layer.source.connection(key, asked)
        made: Held
        if events is None:
            made = LiveConnection(self.layer, key, self.turns)
        else:
            kind = BranchedConnection if self.layer.source.leaves else ReplayedConnection
            made = kind(self.layer, key, events, self.turns)
        self._made.add(key)
        self._open[key] = made
        self._held[sock] = made
        state = self._to_seek.get(key)
        if state is not None and isinstance(made, ReplayedConnection):
            made.seek(state)
        return made

    def find_tape(self, sock: socket.socket) -> LoopTape | None:
        """Return the tape of the recorded loop that a socket belongs to: it runs here, and the socket does not wait."""
        tape = self.layer.find_tape()
        return tape if tape is not None and sock.gettimeout() == 0 else None

    def share(self, sock: socket.socket, descriptor: int) -> None:
        """Give a socket that was made from a descriptor the connection of the descriptor's other socket."""
        for other, held in list(self._held.items()):
            if other is not sock and other.fileno() == descriptor:
                self._held[sock] = held
                return

    def own_outside(self, sock: socket.socket) -> None:
        """Note a socket of a declared effect or of a service's server, whose descriptor is its own."""
        if current() is OUTSIDE:
            self._outside.add(sock)
            self.layer.owned_descriptors.add(sock.fileno())

    def disown_outside(self, sock: socket.socket) -> None:
        """Forget a socket of a declared effect that is about to lose its descriptor."""
        if sock in self._outside:
            self._outside.discard(sock)
            self.layer.owned_descriptors.discard(sock.fileno())

    def hold(self, sock: socket.socket, held: Held) -> None:
        """Give a socket a connection that another one has, too."""
        self._held[sock] = held

    def release(self, sock: socket.socket) -> None:
        """Release a socket's descriptor to a socket of the same connection; in replay, to nobody else: E-EFFECT-002."""
        held = self._held.pop(sock, None)
        if held is None or any(other is held for other in self._held.values()):
            return
        self.layer.count_ungoverned(ops.CONNECT)
        if held.is_replayed:
            raise EffectRefused(
                f"The connection {held.key} was detached from its socket, to be used by its descriptor.",
                "Expected its bytes to pass through the socket: nothing stands behind the descriptor.",
                "Declare the function that needs it as an effect: @twice.effect.",
                name="socket.detach",
            )

    def expect_greeting(self, greeting: bytes, bind: Callable[[Held], None]) -> None:
        """Expect a connection that sends the greeting of a pair of TLS buffers, and bind it to them."""
        with self._greeting:
            self._greetings[greeting] = bind

    def bind_greeting(self, held: Held, data: Any) -> None:
        """Bind a connection to the TLS buffers whose greeting it sends, if it does."""
        if not self._greetings or held.is_tls or not (sent := bytes(data)):
            return
        with self._greeting:
            for greeting, bind in self._greetings.items():
                if sent.startswith(greeting) or greeting.startswith(sent):
                    del self._greetings[greeting]
                    bind(held)
                    held.start_tls()
                    return

    def close(self, sock: socket.socket) -> None:
        """Close the connection of a socket that is closed, unless another socket has it, too."""
        held = self._held.pop(sock, None)
        if held is None or any(other is held for other in self._held.values()):
            return
        self._open.pop(held.key, None)
        held.close(sock)

    # -- as a part of the layer -------------------------------------------------------------------

    def state(self) -> dict[str, object]:
        """Return the position of every connection, for a snapshot."""
        made = dict.fromkeys(sorted(self._made))
        return {**made, **{key: self._open[key].state() for key in sorted(self._open)}}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a snapshot: connections that were over by then are not made again."""
        self._made |= state.keys()
        events = self.turns.exchanges.events
        # A connection that was over at the snapshot has no state, and gives none of its events again.
        over = [key for key, stood in state.items() if stood is None and key in events]
        for key in over:
            if key not in self._open:
                self.turns.leave(None, key, range(len(events[key])))
        begun = {key: len(events[key]) for key in over}
        # One more where bytes went out since the last event: the request that they begin is not made again.
        begun |= {key: stood[0] + bool(stood[3]) for key, stood in state.items() if stood}
        self.turns.exchanges.resume(begun)
        self._to_seek = {key: value for key, value in state.items() if value is not None}
        for key, value in self._to_seek.items():
            held = self._open.get(key)
            if isinstance(held, ReplayedConnection):
                held.seek(value)

    def has_written(self, path: str) -> bool:
        """Return False: a connection writes no file."""
        del path
        return False

    def finish(self) -> None:
        """Close the connections at the run's end; a missing recorded one is E-EFFECT-001."""
        for held in list(self._open.values()):
            held.close(None, LEFT)
        self._open.clear()
        exchanges = self.turns.exchanges
        for key in self.layer.source.connections():
            if key not in self._made and not exchanges.is_shared(exchanges.address(key)):
                self._miss(key, f"The connection {key} was made", "the same connections")
                return
        if not self.layer.writes:  # a branch need not make its parent's requests
            for one in exchanges.missing():
                self._miss(one.sender, f"A request by {one.sender} was sent", "the same requests")
                return

    def _miss(self, actor: str, what: str, expected: str) -> None:
        error = EffectMismatch(
            f"{what} in the recorded run and not in this one.",
            f"Expected {expected}.",
            "The program takes another path than it did: twice diagnose names where.",
            position=0,
            actor=actor,
            recorded=what.removesuffix(" was made").removesuffix(" was sent"),
            asked="nothing more",
        )
        self.layer.source.unfit(error)


def fill_buffer(buffer: Any, data: bytes) -> int:
    """Put data into a program's buffer, and return its size."""
    with memoryview(buffer) as view, view.cast("B") as octets:
        octets[: len(data)] = data
    return len(data)
