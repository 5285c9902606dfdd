"""``record``: an ASGI application that is executed by its run, whichever server stands before it.

The application runs in an event loop of the main program, started up and shut down there by the
lifespan protocol; tasks that outlive their request go on while the next one is handled.

Not covered: WebSockets (closed with a reason), streams in either direction (requests and responses are
taken whole), trailers and pushes, two requests at the same time.

Invariant: scope and messages that the application is given are a function of the recorded request.

Source: ASGI 3.0, HTTP 2.3 and lifespan 2.0 (asgi.readthedocs.io).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from twice.integrations.asgi.calling import Caller, Lifespan, encode_path
from twice.integrations.services.exchanging import Ended, Exchange
from twice.integrations.services.messages import Request, Response
from twice.integrations.services.serving import Loop
from twice.recording.run import Run

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]
_UNSUPPORTED_DATA = 1003


def record(app: Application, run: Run, *, name: str = "service") -> Service:
    """Put an ASGI application under a run.

    Each request is the input ``NAME/request`` of a tick of its own, each response the decision
    ``NAME/response``: status, headers, body; for an application that raises, what it raised.

    Args:
        app: an ASGI 3 application; it is called on the main program alone.
        run: the run.
        name: what the service is called in the record.
    """
    return Service(app, run, name)


class Service:
    """An ASGI application under a run; itself an ASGI application, for a server to call."""

    def __init__(self, app: Application, run: Run, name: str) -> None:
        self._app, self._run, self._name = app, run, name
        self._exchange = Exchange()

    def serve(
        self,
        start: Callable[[Service], object],
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
        with asyncio.Runner() as runner:
            lifespan = Lifespan(self._app)
            runner.run(lifespan.startup())
            caller = Caller(self._app, lifespan.state)

            def handle(request: Request) -> Response:
                return runner.run(caller.respond(request))

            try:
                loop = Loop(self._run, self._name, self._exchange, handle)
                loop.serve(lambda: start(self), requests, stop)
            finally:
                runner.run(lifespan.shutdown())

    def stop(self) -> None:
        """End the service after the requests that are waiting."""
        self._exchange.stop()

    # -- in the server's event loop -----------------------------------------------------------

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

    async def _pass_on(self, request: Request, send: Send) -> None:
        answer = self._exchange.put(request)
        try:
            try:
                response = await asyncio.wrap_future(answer)
            except Ended:
                response = Response(
                    503, "", (("content-type", "text/plain"),), b"the service ended\n"
                )
            headers = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in response.headers]
            status = response.status
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": response.body})
        finally:
            self._exchange.delivered()


async def _alive(receive: Receive, send: Send) -> None:
    """The server's lifespan: the application's own is kept by the main program."""
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


async def read_request(scope: Scope, receive: Receive) -> Request:
    """A server's scope and messages as a request, its body read to the end."""
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
    return Request(
        method=scope["method"],
        path=scope["path"],
        query=scope.get("query_string", b"").decode("latin-1"),
        headers=tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"]),
        body=bytes(body),
        scheme=scope.get("scheme", "http"),
        root=scope.get("root_path", ""),
        server=(str(server[0]), int(server[1] or 0)),
        client=(str(client[0]), int(client[1])),
        protocol="HTTP/" + scope.get("http_version", "1.1"),
        raw_path="" if sent == encode_path(scope["path"]) else sent,
    )
