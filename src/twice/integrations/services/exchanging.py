"""The line in which requests wait: a server's threads put them in, the main program takes them out.

Not for: order. Requests are taken in the order in which they were complete (headers and body).

Invariant: every request that was put in is answered once, by a response, by the exception that the
application raised, or by ``Ended``.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Condition
from typing import TypeAlias

from twice.integrations.services.messages import Request, Response

Answer: TypeAlias = "Future[Response]"
_LOOK_EVERY_S = 0.5


class Ended(Exception):
    """The service takes no more requests."""


class Exchange:
    """Requests on their way to the main program, answers on their way back."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[tuple[Request, Answer] | None] = SimpleQueue()
        self._delivered = Condition()
        self._open = 0
        self._ended = False

    # -- a server's threads -------------------------------------------------------------------

    def put(self, request: Request) -> Answer:
        """Hand a request over; ``delivered`` must be called once its answer has been sent."""
        answer: Answer = Future()
        with self._delivered:
            self._open += 1
            if self._ended:
                answer.set_exception(Ended())
            else:
                self._waiting.put((request, answer))
        return answer

    def delivered(self) -> None:
        """An answer was sent, or nobody waits for it any more."""
        with self._delivered:
            self._open -= 1
            self._delivered.notify_all()

    # -- the main program ---------------------------------------------------------------------

    def take(self, orphaned: Callable[[], bool]) -> tuple[Request, Answer] | None:
        """Wait for the next request; None when the service is to end, or nobody keeps it any more."""
        while True:
            try:
                return self._waiting.get(timeout=_LOOK_EVERY_S)
            except Empty:
                if orphaned():
                    return None

    def stop(self) -> None:
        """End the service after the requests that wait already; safe in a signal handler."""
        self._waiting.put(None)

    def end(self, timeout_s: float) -> None:
        """Take no more, refuse what waits, and wait until every answer was sent."""
        with self._delivered:
            self._ended = True
        while True:
            try:
                waiting = self._waiting.get_nowait()
            except Empty:
                break
            if waiting is not None:
                waiting[1].set_exception(Ended())
        with self._delivered:
            self._delivered.wait_for(lambda: self._open == 0, timeout_s)
