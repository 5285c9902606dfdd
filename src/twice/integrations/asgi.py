"""ASGI applications under a run: each request is an input and a tick, each response is compared.

    from twice.integrations import asgi

    def main(run):
        asgi.record(application, run).serve(start)

    def start(service):
        uvicorn.run(service, port=8000, access_log=False)

The application runs in an event loop of the main program, started up and shut down there by the
lifespan protocol; tasks that outlive their request go on while the next one is handled.

Not covered: WebSockets (closed with a reason), streams in either direction (requests and responses are
taken whole), trailers and pushes, two requests at the same time.

Invariant: in replay the application is called with the recorded requests, and ``start`` is not; scope and
messages are a function of the request.

Source: ASGI 3.0, HTTP 2.3 and lifespan 2.0 (asgi.readthedocs.io).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from twice.errors import EffectRefused
from twice.integrations.services import (
    Headers,
    HttpRequest,
    HttpResponse,
    RecordedService,
)
from twice.recorder.run import Run

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]
_UNSUPPORTED_DATA = 1003


def record(app: Application, run: Run, *, name: str = "service") -> AsgiService:
    """Put an ASGI 3 application under a run, as a service of that name in the record."""
    return AsgiService(app, run, name)


class AsgiService(RecordedService):
    """An ASGI application under a run; itself an ASGI application, for a server to call."""

    @contextmanager
    def _run_application(self) -> Iterator[None]:
        with asyncio.Runner() as runner:
            lifespan = Lifespan(self._app)
            runner.run(lifespan.startup())
            self._runner, self._state = runner, lifespan.state
            try:
                yield
            finally:
                runner.run(lifespan.shutdown())

    def _handle(self, request: HttpRequest) -> HttpResponse:
        return self._runner.run(respond(self._app, request, self._state))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a server's request to the main program and wait for its response."""
        if scope["type"] == "lifespan":
            await _alive(receive, send)
        elif scope["type"] == "http":
            await self._pass_on(await read_request(scope, receive), send)
        elif scope["type"] == "websocket":
            await receive()
            reason = "twice does not record WebSockets"
            await send({"type": "websocket.close", "code": _UNSUPPORTED_DATA, "reason": reason})
        else:
            raise NotImplementedError(f"twice does not record ASGI scopes of type {scope['type']}")

    async def _pass_on(self, request: HttpRequest, send: Send) -> None:
        answer = self.queue.put(request)
        try:
            response = await asyncio.wrap_future(answer)
            status, headers = response.status, _encode(response.headers)
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": response.body})
        finally:
            self.queue.note_delivery()


async def _alive(receive: Receive, send: Send) -> None:
    """Answer the server's lifespan messages; the main program runs the application's own lifespan."""
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


async def read_request(scope: Scope, receive: Receive) -> HttpRequest:
    """Read a request from a server's scope and messages, with its body to the end."""
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionAbortedError("the client went away before its request was complete")
        body += message.get("body", b"")
        more = message.get("more_body", False)
    # A slash of the path and an encoded one are the same in ``path``: only the sent form tells.
    sent = (scope.get("raw_path") or b"").decode("latin-1")
    server, client = scope.get("server") or ("localhost", 80), scope.get("client") or ("", 0)
    return HttpRequest(
        method=scope["method"],
        path=scope["path"],
        query=scope.get("query_string", b"").decode("latin-1"),
        headers=_decode(scope["headers"]),
        body=bytes(body),
        scheme=scope.get("scheme", "http"),
        root=scope.get("root_path", ""),
        server=(str(server[0]), int(server[1] or 0)),
        client=(str(client[0]), int(client[1])),
        protocol="HTTP/" + scope.get("http_version", "1.1"),
        raw_path="" if sent == encode_path(scope["path"]) else sent,
    )


_ASGI = {"version": "3.0", "spec_version": "2.3"}


async def respond(app: Application, request: HttpRequest, state: dict[str, Any]) -> HttpResponse:
    """Return an application's response, whole; its state is a copy of its lifespan's state."""
    messages = [{"type": "http.request", "body": request.body, "more_body": False}]
    complete = asyncio.Event()
    status, body = 0, bytearray()
    headers: Headers = ()

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await complete.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status, headers
        kind = message["type"]
        if kind == "http.response.start":
            status = int(message["status"])
            headers = _decode(message.get("headers", ()))
        elif kind == "http.response.body":
            body.extend(message.get("body", b""))
            if not message.get("more_body", False):
                complete.set()
        else:
            raise EffectRefused(
                f"The application sent a message of type {kind!r}, which is not recorded.",
                "Expected http.response.start and http.response.body.",
                "Switch that extension off in the application for a recorded run.",
                type=kind,
            )

    scope = {
        "type": "http",
        "asgi": dict(_ASGI),
        "http_version": request.protocol.removeprefix("HTTP/"),
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": (request.raw_path or encode_path(request.path)).encode("latin-1"),
        "query_string": request.query.encode("latin-1"),
        "root_path": request.root,
        "headers": _encode(request.headers),
        "server": request.server,
        "client": request.client,
        "state": dict(state),
    }
    await app(scope, receive, send)
    if not status or not complete.is_set():
        raise RuntimeError("the application returned without a complete response")
    return HttpResponse(status, "", headers, bytes(body))


class Lifespan:
    """An application's own startup and shutdown."""

    def __init__(self, app: Application) -> None:
        self._app = app
        self.state: dict[str, Any] = {}
        self._task: asyncio.Task[None] | None = None

    async def startup(self) -> None:
        """Start the application up; one that knows no lifespan is taken as it is, and one that fails ends the run."""
        self._messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._task = asyncio.create_task(self._live())
        await self._say("lifespan.startup")

    async def shutdown(self) -> None:
        """Shut the application down, if it started up."""
        if self._task is not None and not self._task.done():
            await self._say("lifespan.shutdown")
            await self._task

    async def _live(self) -> None:
        scope = {"type": "lifespan", "asgi": dict(_ASGI), "state": self.state}
        await self._app(scope, self._messages.get, self._answers.put)

    async def _say(self, kind: str) -> None:
        assert self._task is not None, "a lifespan is started before it is spoken to"
        await self._messages.put({"type": kind})
        answer = asyncio.create_task(self._answers.get())
        await asyncio.wait({answer, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            answer.cancel()
            # It raised, or returned, on "lifespan": by the protocol, it does not support it.
            self._task.exception()
            return
        if answer.result()["type"].endswith(".failed"):
            raise RuntimeError(f"{kind} failed: {answer.result().get('message', '')}")


def _decode(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)


def _encode(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def encode_path(path: str) -> str:
    """Encode a path as most clients send it."""
    return quote(path, safe="/:@!$&'()*+,;=-._~")
