"""One connection in replay: what came in comes in again once as much has gone out as had then.

The socket's descriptor is one end of a pair that nobody else holds. It is readable exactly while something can be
received, so that ``select``, ``poll`` and event loops wait for it as they did. What the program sends is compared with
the record at once and goes nowhere.

Invariant: nothing is given before the bytes that had gone out before it, and none of it twice.
"""

from __future__ import annotations

import errno
import os
import socket
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from twice.foundation.printable import pluralize
from twice.recorder.effects import ops
from twice.recorder.effects.events import Event
from twice.recorder.effects.network.connection import CLOSED, Connection
from twice.recorder.effects.network.playback import Playback, WorldPlayback, make_mismatch
from twice.recorder.effects.network.sent_bytes import Mark, read_mark, read_turn, show_part
from twice.recorder.effects.network.stand_in import StandIn
from twice.recorder.effects.network.turns import INCOMING, Turns, wait
from twice.recorder.effects.outcomes import RETURNED, Outcome, given

if TYPE_CHECKING:
    from twice.recorder.effects.layer import EffectLayer

_PATIENCE_S = 20.0
"""How long a blocked reader waits for another thread to send what its reply needs."""


class ReplayedConnection(Connection):
    """A connection that the record answers, with the events that it holds of it."""

    is_replayed = True

    def __init__(self, layer: EffectLayer, key: str, events: Sequence[Event], turns: Turns) -> None:
        super().__init__(layer, key, turns)
        self.thread, self._is_greeted = threading.get_ident(), False
        self._playback: Playback | WorldPlayback = Playback(
            key, events, turns.exchanges, layer.algorithm
        )
        self._asked: Any = None
        self._facts_key, self._uncovered = key, 0
        self._deferred: Outcome | None = None
        self._more = threading.Condition(turns.lock)
        self._stand_in: StandIn | None = None
        self._rest: bytes | None = None

    @property
    def descriptor(self) -> int:
        """Return the descriptor of the program's socket; -1 once that is closed, or before it is connected."""
        return -1 if self._stand_in is None else self._stand_in.descriptor

    def connect(self, asked: object, sock: socket.socket, connect: Callable[[], object]) -> None:
        """Connect as it was recorded; another address is E-EFFECT-001."""
        del connect
        layer, playback, self._asked = self.layer, self._playback, asked
        assert isinstance(playback, Playback), "it begins with the record"
        if not layer.writes:  # what is written down anew is one conversation on each connection
            playback.share(asked)
            self._facts_key = playback.key
        event = playback.event(0) if playback.events else None
        if event is None or event[0] != ops.CONNECT.number or event[1][0] != asked:
            was = "no such connection" if event is None else str(event[1][0])
            self._refuse(f"connects to {asked}", was, str(asked))
        _, (_, (deferred, outcome)) = event
        if playback.at == 0:
            self._take(ops.CONNECT, event[1])
        if outcome[0] == RETURNED or deferred:
            self._stand_in = StandIn(sock, layer.owned_descriptors)
            with self._more:
                self.show()
                self._turns.join(self)
        if deferred and sock.gettimeout() == 0:  # as then; whoever waits now is told at once
            self._deferred = outcome
            raise BlockingIOError(errno.EINPROGRESS, os.strerror(errno.EINPROGRESS))
        given(outcome)

    def read_error(self, error_number: Callable[[], int]) -> int:
        """Return the outcome of a connection that was not waited for: 0, or the number of an error."""
        del error_number
        outcome, self._deferred = self._deferred, None
        return 0 if outcome is None or outcome[0] == RETURNED else int(outcome[1][2][0])

    def _send_cipher(self, data: Any, send: Callable[[], int | None]) -> int:
        del send
        with memoryview(data) as view:
            return view.nbytes

    def write(self, data: Any, send: Callable[[], int | None]) -> int:
        """Write bytes; others than those of the record, or more, are E-EFFECT-001."""
        del send
        with memoryview(data) as view, view.cast("B") as octets, self._more:
            self._fail_if_it_failed()
            plain = self._wire.sent(bytes(octets))
            self._go_out(plain, bytes(octets))
            self.show()
            self._turns.move()
            self._more.notify_all()
            return len(octets)

    def _go_out(self, plain: bytes, octets: bytes) -> None:
        """Compare outgoing bytes with the record; ``plain`` is the bytes without secrets."""
        del octets
        playback = self._playback
        assert isinstance(playback, Playback), "held against a record"
        if playback.is_shared and playback.sent.is_marked:
            self._begin(playback, plain)
        begun = b"" if playback.sent.is_marked else playback.sent.head
        before, difference = (playback.key, playback.at), playback.send(plain)
        if before != (playback.key, playback.at):
            self._uncovered = playback.at
        self.layer.owners.has_moved_work |= playback.has_moved
        if difference is not None:
            # Who shares the connections of a pool has other ones where two tasks come in another order.
            self.layer.owners.has_moved_work |= not playback.is_shared and (
                self._turns.exchanges.was_sent(begun + plain, self._asked)
            )
            self._differ(*difference)

    def _begin(self, playback: Playback, plain: bytes) -> None:
        """Turn to the answer of the request that begins here."""
        actor = self.layer.actor()
        sender = "" if actor is None else actor.key
        key, passed = playback.key, playback.begin(plain, sender, self._asked)
        self.layer.owners.has_moved_work |= playback.has_moved
        if passed is None:
            what = f"makes a request that {sender} did not make"
            self._refuse(what, "nothing more", show_part(plain, 0))
        self._uncovered = playback.at
        self._turns.leave(None, key, passed)

    def _differ(self, what: str, recorded: str, asked: str) -> None:
        """Refuse a program that differs from the record."""
        self._refuse(what, recorded, asked)

    def idle(self) -> None:
        """Do nothing while the loop only waits."""

    def start_tls(self) -> None:
        """Let a pair of TLS buffers have the data from now on; the answer to its first bytes is there."""
        with self._more:
            self.is_tls = self._is_greeted = True
            self._uncovered = self._playback.at
            self.show()

    def _fail_if_it_failed(self) -> None:
        playback = self._playback
        event = playback.event(playback.at) if playback.at < playback.end else None
        if event is not None and event[0] == ops.SEND_FAILED.number:
            mark, outcome = event[1]
            if mark[0] == playback.sent.count:
                self._take(ops.SEND_FAILED, event[1])
                given(outcome)

    def receive(
        self, sock: socket.socket, size: int, receive: Callable[[], Any], *, peek: bool = False
    ) -> Any:
        """Receive the recorded data of the socket: bytes, or bytes and their sender."""
        del receive
        with self._more:
            if self.is_tls:
                return self._tokens(sock.gettimeout())
            return self._part(sock.gettimeout(), size, peek=peek)

    def read(self, sock: socket.socket | None, size: int, receive: Callable[[], Any]) -> Any:
        """Read recorded plain data; a pair of TLS buffers gets the data that its socket let through."""
        del receive
        with self._more:
            if sock is None and self._rest is None and self._playback.at >= self._uncovered:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            return self._part(0 if sock is None else sock.gettimeout(), size)

    def _part(self, timeout: float | None, size: int, *, peek: bool = False) -> Any:
        """Return as much of the incoming data as is asked for, and keep the rest."""
        if self._rest is None:
            event = self._wait(timeout, self._playback.at)
            if not peek:
                self._take(ops.OPS[event[0]], event[1])
            result = given(event[1][1])
        else:
            result = self._rest
        if isinstance(result, bytes):
            result, rest = result[:size], result[size:]
            if not peek:
                self._rest = rest or None
        self.show()
        return result

    def _tokens(self, timeout: float | None) -> bytes:
        """Return one byte for each event that the TLS object of a socket may take."""
        if self._is_greeted:
            self._is_greeted = False
            self.show()
            return b"\0"
        event = self._wait(timeout, self._uncovered)
        if event[0] == ops.ENDED.number and self._uncovered == self._playback.at:
            self._take(ops.ENDED, event[1])
            self._uncover(self._playback.incoming)  # no token will come for the rest
            return given(event[1][1])  # type: ignore[no-any-return]
        return b"\0" * self._uncover(self._ready)

    def _uncover(self, find: Callable[[int], tuple[int, Any] | None]) -> int:
        """Let a pair of buffers take the found events, up to the socket's end; return how many."""
        before = self._uncovered = max(self._uncovered, self._playback.at)
        while (event := find(self._uncovered)) is not None and event[0] != ops.ENDED.number:
            self._uncovered += 1
        self.show()
        return self._uncovered - before

    def _ready(self, at: int) -> tuple[int, Any] | None:
        """Return the recorded event at a place, if it can be received now and it is its turn."""
        event = self._playback.incoming(at)
        if event is None or not self.can_give(at):
            return None
        return event if at < self._uncovered or self._turns.is_up(self._playback.key, at) else None

    def _wait(self, timeout: float | None, at: int) -> tuple[int, Any]:
        """Wait until the recorded event at a place can be received, and return it."""
        rested = timeout == 0 or threading.active_count() == 1
        while True:
            event = self._ready(at)
            if event is not None and not rested and read_turn(event[1][0]) is not None:
                self._turns.rest(self._more)
                rested = True
                continue
            if event is not None:
                return event
            if timeout == 0:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            self._wait_for_more(timeout, at)
            at = self._uncovered if self.is_tls else self._playback.at

    def _wait_for_more(self, timeout: float | None, at: int) -> None:
        """Wait for its turn, or until another thread sends the bytes that the reply needs."""
        del timeout
        if self._playback.incoming(at) is not None and self.can_give(at):
            self._turns.wait(self._more, self._playback.key, at)
        elif threading.current_thread().daemon:
            wait(self._more)
        elif threading.active_count() == 1 or not wait(self._more, _PATIENCE_S):
            self._give_up()

    def _give_up(self) -> None:
        """Report that the awaited reply never comes."""
        self._differ(*self._playback.find_want())

    def _take(self, op: ops.Op, value: Any) -> None:
        at, self._playback.at = self._playback.at, self._playback.at + 1
        self.layer.note_line(self._line, op, self._make_note(op, value))
        turn = read_turn(value[0]) if op.number in INCOMING else None
        if turn is not None:
            take = self._turns.take_thread_turn if turn[0] is None else self._turns.take_turn
            take()
        self._turns.leave(None, self._playback.key, (at,))

    def _make_note(self, op: ops.Op, value: Any) -> object:
        """Return the form of an event to write down."""
        del op
        return value

    def plays(self, key: str, number: int) -> bool:
        """Return whether the connection gives a recorded event, now or after more went out."""
        playback = self._playback
        return playback.key == key and playback.at <= number < playback.end

    def is_held_back(self) -> bool:
        """Return whether something could be received, if it were its turn."""
        at, is_shown = self._playback.at, self._stand_in and self._stand_in.is_readable
        return self._playback.incoming(at) is not None and not is_shown and self.can_give(at)

    def can_give(self, number: int) -> bool:
        """Return whether as much has gone out as at the time when an event came in."""
        return self._playback.can_give(number)

    def show(self) -> None:
        """Make the descriptor readable while something can be received."""
        if self._stand_in is None:
            return
        at = self._uncovered if self.is_tls else self._playback.at
        ready = self._is_greeted or self._rest is not None or self._ready(at) is not None
        if self._stand_in.show(is_readable=ready):
            self._more.notify_all()

    def about(
        self, what: object, live: Callable[[], Outcome], absent: Outcome | None = (RETURNED, None)
    ) -> Outcome:
        """Return a recorded fact about the connection; ``absent`` when nobody asked while recording.

        Where that is None, a fact that was not recorded is E-EFFECT-001.
        """
        del live
        arguments = (self._facts_key, what)
        outcome: Any = self.layer.source.fact(
            ops.ABOUT, arguments, lambda: absent, needed=absent is None
        )
        self.layer.note_line(self._line, ops.ABOUT, (arguments, outcome), fact=True)
        return outcome  # type: ignore[no-any-return]

    def step(self, what: str, act: Callable[[], object]) -> None:
        """Take a step of TLS with its recorded ending."""
        del act
        with self._more:
            if self._is_greeted:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        given(self.about(what, lambda: (RETURNED, None)))

    def close(self, sock: socket.socket | None, how: str = CLOSED) -> None:
        """End the connection: the program closed it or ended. Fewer bytes than recorded are E-EFFECT-001."""
        del sock
        if self._is_over:
            return
        self._is_over = True
        playback = self._playback
        with self._more:
            left = range(playback.at, playback.end)
            self._turns.leave(self, playback.key, left)
        if self._stand_in is not None:
            self._stand_in.close()
            self._stand_in = None
        self._close_line(how)

    def _close_line(self, how: str) -> None:
        del how
        playback = self._playback
        if not playback.ends:
            return
        count, last = playback.sent.count, read_mark(playback.event(playback.end - 1)[1][0])
        if count < last.sent and not (playback.is_shared and playback.sent.is_marked):
            sent = pluralize(count, "byte")
            self._refuse(f"sent {sent} in all", pluralize(last.sent, "byte"), sent)
        self.layer.note_line(self._line, ops.CLOSED, playback.events[-1][1])

    def state(self) -> tuple[object, ...]:
        """Return the position for a snapshot: events so far and the bytes that went out."""
        return self._playback.state()

    def seek(self, state: Sequence[Any]) -> None:
        """Continue from the position of a snapshot."""
        at, count, digest, segment = state
        if segment is None:
            self._refuse("is in the middle of sending much", "its bytes", "not kept")
        with self._more:
            assert isinstance(self._playback, Playback), "only a record is sought in"
            self._playback.seek(at, Mark(count, digest, b""), segment)
            self._uncovered = max(at, self._uncovered)
            self._turns.leave(None, self._playback.key, range(at))
            self.show()

    def _refuse(self, what: str, recorded: str, asked: str) -> NoReturn:
        error = make_mismatch(self.key, self._playback.at, what, recorded, asked)
        self.layer.source.unfit(error)
        raise error
