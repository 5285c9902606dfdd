"""One connection of a branch: the record answers it until the program does otherwise, then the world.

It leaves the record where other bytes go out, or where no more do before a reply that needed more. The bytes since the
last reply are sent to the world again; so they must stand for themselves: be the first words on a connection, or a
request of HTTP/1.

Invariant: another replay can be compared with what a branch writes down of a connection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from twice.errors import EffectRefused
from twice.recorder.effects import ops
from twice.recorder.effects.events import Event
from twice.recorder.effects.network.exchanges import is_request
from twice.recorder.effects.network.playback import WorldPlayback
from twice.recorder.effects.network.replayed_connection import ReplayedConnection
from twice.recorder.effects.network.sent_bytes import ROUNDS, Mark, SentBytes
from twice.recorder.effects.network.turns import Turns, wait
from twice.recorder.effects.outcomes import RETURNED, Outcome, raised

if TYPE_CHECKING:
    from twice.recorder.effects.layer import EffectLayer


class BranchedConnection(ReplayedConnection):
    """A connection that may leave its record; it is made as a ``ReplayedConnection`` is."""

    def __init__(self, layer: EffectLayer, key: str, events: Sequence[Event], turns: Turns) -> None:
        super().__init__(layer, key, events, turns)
        self._sent = SentBytes(layer.algorithm)
        self._unanswered = bytearray()
        self._tls: Any = None

    def step(self, what: str, act: Callable[[], object]) -> None:
        """Take a step of TLS with its recorded ending, and keep the TLS object that takes it."""
        self._tls = getattr(act, "__self__", None)
        super().step(what, act)

    def _go_out(self, plain: bytes, octets: bytes) -> None:
        playback = self._playback
        if playback.sent.is_marked:  # answered: what goes out from here on begins anew
            self._unanswered.clear()
        self._unanswered += octets
        sent, digest, segment = self._sent.state()
        self._sent.add(plain)
        try:
            if isinstance(playback, WorldPlayback):
                playback.send(octets)
            else:
                super()._go_out(plain, octets)
        except OSError as error:
            before = Mark(sent, digest, b"")
            self._sent = SentBytes(self.layer.algorithm, before, segment or b"")
            self._note_own(ops.SEND_FAILED, raised(error))
            world = self._playback
            if isinstance(world, WorldPlayback):
                world.sent = self._sent
                if not world.is_connected:  # who only reads the answer is told too
                    self._arrives(ops.RECEIVED, raised(error))
            raise

    def _differ(self, what: str, recorded: str, asked: str) -> None:
        """Go on with the world; E-EFFECT-002 where nobody could."""
        begins = (
            self._sent.state()[0] == 0 and self._asked[2] is not None
        )  # datagrams have no other end
        if not (begins or is_request(bytes(self._unanswered))):
            raise EffectRefused(
                f"The connection {self.key} {what}, past the fork: the record holds {recorded}, the branch gave "
                f"{asked}.",
                "Expected a request of HTTP, or a new connection: nobody can go on in the middle of a conversation.",
                "Branch before the connection is made, or declare the exchange as an effect: @twice.effect.",
                name="socket.send",
            )
        old = self._playback
        owned = self.layer.owned_descriptors
        self._playback = world = WorldPlayback(self.key, self._sent, self._arrives, owned)
        self._uncovered = 0
        self._turns.leave(None, old.key, range(old.at, len(old.events)))
        world.connect(self._asked, self._tls, is_tls=self.is_tls)
        world.send(bytes(self._unanswered))

    def idle(self) -> None:
        """Give up on a recorded reply that needs more bytes than went out before the loop waits."""
        playback = self._playback
        event = playback.incoming(playback.at)
        if event is None or playback.can_give(playback.at) or playback.sent.is_marked:
            return
        self._give_up()

    def _give_up(self) -> None:
        try:
            super()._give_up()
        except OSError as error:  # as if it came in, so that the branch's record holds it
            self._arrives(ops.RECEIVED, raised(error))

    def _arrives(self, op: ops.Op, outcome: Outcome) -> None:
        with self._more:
            if isinstance(self._playback, WorldPlayback):
                self._playback.add(op, outcome)
                self.show()
                self._more.notify_all()

    def _wait_for_more(self, timeout: float | None, at: int) -> None:
        if not isinstance(self._playback, WorldPlayback):
            super()._wait_for_more(timeout, at)
        elif not wait(self._more, timeout):
            self._arrives(ops.RECEIVED, raised(TimeoutError("timed out")))

    def _make_note(self, op: ops.Op, value: Any) -> object:
        if op is ops.CONNECT:
            return value
        mark, outcome = value
        if not isinstance(self._playback, WorldPlayback):
            return (*self._sent.mark()[:ROUNDS], *mark[ROUNDS:]), outcome
        how, data = outcome
        return mark, (how, self._wire.received(data) if how == RETURNED else data)

    def _close_line(self, how: str) -> None:
        if isinstance(self._playback, WorldPlayback):
            self._playback.close()
        self._note_own(ops.CLOSED, how)

    def _note_own(self, op: ops.Op, outcome: object) -> None:
        mark = (*self._sent.mark()[:ROUNDS], None, 0, "")
        self.layer.note_line(self._line, op, (mark, outcome))

    def seek(self, state: Sequence[Any]) -> None:
        """Continue from the position of a snapshot."""
        super().seek(state)
        _, count, digest, segment = state
        self._sent = SentBytes(self.layer.algorithm, Mark(count, digest, b""), segment)
        self._unanswered = bytearray(segment)
