"""A service as a program, under WSGI and ASGI alike: a loop in which each request is a tick.

While recording, a server runs on a thread of its own, outside of the run. What it receives is handed
to the main program, which executes the application and hands the response back. Which request
comes next is a declared effect, so in replay no server is started and no socket opened: the
recorded requests come one after another out of the record.

Requests that overlap are put in line: the application sees one at a time, in the order in which they
were complete, while recording already. Not covered: whatever needs two requests at once (an
application that sends requests to itself waits for ever), streams, WebSockets.

Invariant: the application is given the same requests, in the same order, in every mode. Every request that was put in
is answered once: by a response, by the exception that the application raised, or by 503.
"""

from __future__ import annotations

import os
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from queue import Empty, SimpleQueue
from threading import Condition
from typing import Any, Self, TypeAlias

from twice.errors import TwiceError, UsageError
from twice.recorder.effects.actors import outside
from twice.recorder.interrupts import Orderly
from twice.recorder.kernel.confinement import current
from twice.recorder.run import Run

Headers = tuple[tuple[str, str], ...]
Answer: TypeAlias = "Future[HttpResponse]"
_LOOK_EVERY_S = 0.5
_ENDING_S = 10.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request, complete: what a record holds. ``HttpRequest.of(request.plain()) == request``.

    Headers and queries are Latin-1 as they came over the wire, so that every byte has its place; a path is
    as the server's protocol gives it (WSGI Latin-1, ASGI UTF-8).

    Attributes:
        method: in capitals, such as ``GET``.
        path: decoded, without the query.
        query: what follows the question mark, as it was sent.
        headers: pairs in the order in which the server gave them, names in small letters.
        body: the whole of it.
        scheme: ``http`` or ``https``.
        root: the part of the path that leads to the application.
        server: name and port under which the server was asked.
        client: address and port of who asked; a port of 0 when the server did not say.
        protocol: such as ``HTTP/1.1``.
        raw_path: the path as it was sent, still encoded; empty where encoding ``path`` gives the same.
    """

    method: str
    path: str
    query: str
    headers: Headers
    body: bytes
    scheme: str = "http"
    root: str = ""
    server: tuple[str, int] = ("localhost", 80)
    client: tuple[str, int] = ("", 0)
    protocol: str = "HTTP/1.1"
    raw_path: str = ""

    def plain(self) -> dict[str, Any]:
        """Return a dict of plain values, for a record."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        if not self.raw_path:
            del values["raw_path"]  # requests without one have the bytes they always had
        return values

    @classmethod
    def of(cls, value: object) -> Self:
        """Build a request from such a dict; keys that a branch leaves out get their defaults."""
        try:
            given: dict[str, Any] = dict(value)  # type: ignore[call-overload]
            given["headers"] = tuple((str(n), str(v)) for n, v in given.get("headers", ()))
            given["body"] = bytes(given.get("body", b""))
            given.setdefault("query", "")
            for name in ("server", "client"):
                if name in given:
                    host, port = given[name]
                    given[name] = (str(host), int(port))
            return cls(**given)
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"{value!r:.80} is no request: {error}.",
                f"Expected a dict of {', '.join(one.name for one in fields(cls))}.",
                'For example {"method": "GET", "path": "/", "headers": [["host", "a"]]}.',
            ) from error

    def wire(self) -> bytes:
        """Return the request's bytes on an HTTP/1.1 connection, in which redaction looks for secrets."""
        query = "?" + self.query if self.query else ""
        # Both forms of the path: a secret may stand in either.
        paths = [path for path in (self.path, self.raw_path) if path]
        lines = [f"{self.method} {path}{query} HTTP/1.1" for path in paths]
        skipped = ("content-length", "transfer-encoding")
        lines += [f"{name}: {value}" for name, value in self.headers if name not in skipped]
        lines += [f"content-length: {len(self.body)}", "", ""]
        return "\r\n".join(lines).encode("latin-1", "replace") + self.body


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One response, complete: what is compared."""

    status: int
    reason: str
    headers: Headers
    body: bytes

    def plain(self) -> dict[str, Any]:
        """Return a dict of plain values, for a compare-point."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


_ENDED = HttpResponse(
    503, "Service Unavailable", (("content-type", "text/plain"),), b"the service ended\n"
)


class RequestQueue:
    """Requests on their way to the main program, answers on their way back."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[tuple[HttpRequest, Answer] | None] = SimpleQueue()
        self._delivered = Condition()
        self._open = 0
        self._ended = False

    def put(self, request: HttpRequest) -> Answer:
        """Hand a request over, on a server's thread; ``note_delivery`` must be called once its answer was sent."""
        answer: Answer = Future()
        with self._delivered:
            self._open += 1
            if self._ended:
                answer.set_result(_ENDED)
            else:
                self._waiting.put((request, answer))
        return answer

    def note_delivery(self) -> None:
        """Count a request as done: its answer was sent, or nobody waits for it any more."""
        with self._delivered:
            self._open -= 1
            self._delivered.notify_all()

    def take(self, orphaned: Callable[[], bool]) -> tuple[HttpRequest, Answer] | None:
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
        """Take no more, refuse waiting requests, and wait until every answer was sent."""
        with self._delivered:
            self._ended = True
        while True:
            try:
                waiting = self._waiting.get_nowait()
            except Empty:
                break
            if waiting is not None:
                waiting[1].set_result(_ENDED)
        with self._delivered:
            self._delivered.wait_for(lambda: self._open == 0, timeout_s)


class RecordedService(ABC):
    """An application under a run, for a server to call.

    Each request is the input ``NAME/request`` of a tick of its own, each response the decision
    ``NAME/response``: status, headers, body; for an application that raises, what it raised.
    """

    def __init__(self, app: Any, run: Run, name: str) -> None:
        self._app, self._run, self._name = app, run, name
        self.queue = RequestQueue()
        self._redaction = run._session.wiring.layer.redaction
        self._answer: Answer | None = None
        self._server: threading.Thread | None = None
        self._parent = 0
        self._failure: BaseException | None = None
        self._signals: dict[int, Any] = {}

    def serve(
        self,
        start: Callable[[Any], object],
        *,
        requests: int | None = None,
        stop: Callable[[], object] | None = None,
    ) -> None:
        """Serve until the server returns, ``stop`` is called, or an interrupt comes.

        Args:
            start: given this service, runs a server until it ends; on a thread of its own, while
                recording alone. What it prints to standard output would be missed in replay.
            requests: how many to answer at most; None for no end.
            stop: ends the server, from another thread; without it the server ends with the program.
        """
        with self._run_application():
            self._run._session.wiring.output.leave_errors_out()
            self._run.caveat(
                f"standard error is not compared while {self._name!r} serves: its server writes there, and "
                "no replay starts one"
            )
            try:
                for _ in self._run.ticks(requests):
                    request = self._next(start)
                    if request is None:
                        break
                    self._respond(request)
            finally:
                if self._server is not None:
                    outside(self._end, stop)

    def stop(self) -> None:
        """End the service after the requests that are waiting."""
        self.queue.stop()

    @abstractmethod
    def _handle(self, request: HttpRequest) -> HttpResponse:
        """Have the application answer a request, on the main program."""

    def _run_application(self) -> AbstractContextManager[object]:
        """Start the application up, and shut it down behind the last request."""
        return nullcontext()

    def _next(self, start: Callable[[Any], object]) -> HttpRequest | None:
        """Return the next request: an input, so that a branch may ask something else."""
        given: Any = self._run.effects.call(f"{self._name}/request", lambda: self._live(start))
        if given is None:
            return None
        shown = self._redaction.value(given, f"{self._name}/request")
        if shown is not given and shown != given:
            self._run.caveat(
                f"Secrets in requests to {self._name!r} were blanked: in replay the application is"
                " given stars, and answers differently where it checks them."
            )
        asked = self._run.input(f"{self._name}/request", lambda: shown)
        return HttpRequest.of(given if asked is shown or asked == shown else asked)

    def _respond(self, request: HttpRequest) -> None:
        """Answer one request, and compare the response or the exception."""
        answer, self._answer = self._answer, None
        name = f"{self._name}/response"
        try:
            response = self._handle(request)
        except TwiceError:
            raise
        except Exception as error:  # noqa: BLE001  (a server answers it with an error page)
            self._run.compare(name, {"raised": type(error).__qualname__, "text": str(error)})
            if answer is not None:
                answer.set_exception(error)
            return
        # Where the application repeats a secret, it repeats stars in replay.
        self._run.compare(name, self._redaction.digestible(response.plain()))
        if answer is not None:
            answer.set_result(response)

    def _live(self, start: Callable[[Any], object]) -> dict[str, Any] | None:
        """Wait for a request; the first time, start the server."""
        if self._server is None:
            self._parent = os.getppid()
            # An interrupt ends the service after the request at hand, instead of within it.
            if threading.current_thread() is threading.main_thread():
                for number in _SIGNALS:
                    self._signals[number] = signal.signal(number, Orderly(self.queue.stop))
            self._server = threading.Thread(
                target=self._run_server, args=(start,), name=f"server of {self._name}", daemon=True
            )
            self._server.start()
        taken = self.queue.take(lambda: os.getppid() != self._parent or current().is_parent_gone())
        if taken is None:
            if self._failure is not None:
                raise self._failure
            return None
        request, self._answer = taken
        self._redaction.stream().received(request.wire())
        return request.plain()

    def _run_server(self, start: Callable[[Any], object]) -> None:
        """Run the server in this thread; when it returns or fails, stop the service."""
        try:
            with current().inside_effect():
                start(self)
        except BaseException as error:  # noqa: BLE001  (told to the main program, which raises it)
            self._failure = error
        finally:
            self.queue.stop()

    def _end(self, stop: Callable[[], object] | None) -> None:
        answer = self._answer
        if answer is not None and not answer.done():
            answer.set_exception(ConnectionAbortedError("the service ended"))
        self.queue.end(_ENDING_S)
        if stop is not None:
            stop()
            assert self._server is not None, "a service that ends live has a server"
            self._server.join(_ENDING_S)
        for number, handler in self._signals.items():
            signal.signal(number, handler)
