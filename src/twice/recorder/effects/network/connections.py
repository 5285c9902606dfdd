"""Which socket holds which connection of the run.

A socket that connects on behalf of an actor holds a connection, live or played, until it is closed. A
socket made from the same descriptor (TLS does so) holds the same one.

Invariant: at the end of a run every connection has been told that it is over.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from sys import _getframe
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from twice.errors import EffectMismatch, EffectRefused
from twice.recorder.effects import ops
from twice.recorder.effects.actors import OUTSIDE, Actor, current
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.network.branched import BranchedConnection
from twice.recorder.effects.network.connection import LEFT, Connection
from twice.recorder.effects.network.replayed_connection import ReplayedConnection
from twice.recorder.effects.origin import asker_of

Held = Connection | ReplayedConnection
"""What a socket holds: the same to whoever uses it."""
_WRAPPERS = frozenset({__file__, str(Path(__file__).with_name("sockets.py"))})
_MULTIPROCESSING = str(Path("multiprocessing", "connection.py"))
_FAMILIES = (socket.AF_INET, socket.AF_INET6, getattr(socket, "AF_UNIX", socket.AF_INET))


class Connections:
    """The connections of one run.

    Args:
        layer: the layer that governs.
    """

    name = "connections"

    def __init__(self, layer: EffectLayer) -> None:
        self.layer, self.turns = layer, layer.source.turns()
        self.turns.waits = layer.owners.waits
        self._held: WeakKeyDictionary[socket.socket, Held] = WeakKeyDictionary()
        self._outside: WeakSet[socket.socket] = WeakSet()
        self._open: dict[str, Held] = {}
        self._made: set[str] = set()
        self._to_seek: Mapping[str, Sequence[Any]] = {}
        self.of: Callable[[socket.socket], Held | None] = self._held.get
        """The connection that a socket holds, or None: it is no business of the run's."""
        layer.parts.append(self)

    def maker(self, sock: socket.socket) -> Actor | None:
        """Return the actor on whose behalf a socket connects, or None when it is not governed."""
        if sock.family not in _FAMILIES or _between_processes():
            return None
        actor = self.layer.actor()
        if actor is None:
            self.layer.count_ungoverned(ops.CONNECT)
        return actor

    def begin(self, actor: Actor, sock: socket.socket, asked: object) -> Held:
        """Begin a new connection of an actor, live or from the record."""
        key = actor.next_key("connection")
        events = self.layer.source.connection(key, asked)
        made: Held
        if events is None:
            made = Connection(self.layer, key, self.turns)
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

    def share(self, sock: socket.socket, descriptor: int) -> None:
        """Give a socket that was made from a descriptor the connection of the descriptor's other socket."""
        for other, held in list(self._held.items()):
            if other is not sock and other.fileno() == descriptor:
                self._held[sock] = held
                return

    def made_outside(self, sock: socket.socket) -> None:
        """Note a socket of a declared effect or of a service's server, whose descriptor is its own."""
        if current() is OUTSIDE:
            self._outside.add(sock)
            self.layer.owned_descriptors.add(sock.fileno())

    def gone_outside(self, sock: socket.socket) -> None:
        """Forget a socket of a declared effect that is about to lose its descriptor."""
        if sock in self._outside:
            self._outside.discard(sock)
            self.layer.owned_descriptors.discard(sock.fileno())

    def hold(self, sock: socket.socket, held: Held) -> None:
        """Give a socket a connection that another one has, too."""
        self._held[sock] = held

    def release(self, sock: socket.socket) -> None:
        """Release a socket's descriptor, to a socket of the same connection or to unknown code.

        Raises:
            EffectRefused: E-EFFECT-002, in replay, in the second case.
        """
        held = self._held.pop(sock, None)
        if held is None or any(other is held for other in self._held.values()):
            return
        self.layer.count_ungoverned(ops.CONNECT)
        if isinstance(held, ReplayedConnection):
            raise EffectRefused(
                f"The connection {held.key} was detached from its socket, to be used by its descriptor.",
                "Expected its bytes to pass through the socket: nothing stands behind the descriptor.",
                "Declare the function that needs it as an effect: @twice.effect.",
                name="socket.detach",
            )

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
        over = [key for key, stood in state.items() if stood is None and key in events]
        for key in over:
            if key not in self._open:
                self.turns.leave(None, key, range(len(events[key])))
        begun = {key: len(events[key]) for key in over}
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
        """Close the connections at the run's end, and check that none of the recorded ones is missing.

        Raises:
            EffectMismatch: E-EFFECT-001, in replay, when one is.
        """
        for held in list(self._open.values()):
            held.close(None, LEFT)
        self._open.clear()
        exchanges = self.turns.exchanges
        for key in self.layer.source.connections():
            if key not in self._made and not exchanges.is_shared(exchanges.address(key)):
                self._miss(key, f"The connection {key} was made", "the same connections")
                return
        if not self.layer.writes:
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


def _between_processes() -> bool:
    """Return whether ``multiprocessing`` connects to another process of the program, by a descriptor."""
    asker = asker_of(_getframe(2), _WRAPPERS)
    return asker.co_filename.endswith(_MULTIPROCESSING)
