"""An ASGI application called with what was recorded: no server, no socket, one request at a time.

Invariant: ``receive`` gives the body in one message, and ``http.disconnect`` after the response.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from twice.errors import EffectRefused
from twice.integrations.services.messages import Headers, Request, Response

Application = Callable[[Any, Any, Any], Awaitable[None]]
_ASGI = {"version": "3.0", "spec_version": "2.3"}


class Caller:
    """Calls an application with requests.

    Args:
        app: the application.
        state: what its lifespan put there; a request is given a copy.
    """

    def __init__(self, app: Application, state: dict[str, Any]) -> None:
        self._app, self._state = app, state

    async def respond(self, request: Request) -> Response:
        """The application's response, whole.

        Raises:
            EffectRefused: E-EFFECT-002, when it sends what cannot be recorded.
        """
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
            if message["type"] == "http.response.start":
                status = int(message["status"])
                pairs = message.get("headers", ())
                headers = tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in pairs)
            elif message["type"] == "http.response.body":
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    complete.set()
            else:
                raise _refused(message["type"])

        await self._app(self._scope(request), receive, send)
        if not status or not complete.is_set():
            raise RuntimeError("the application returned without a complete response")
        return Response(status, "", headers, bytes(body))

    def _scope(self, request: Request) -> dict[str, Any]:
        headers = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in request.headers]
        return {
            "type": "http",
            "asgi": dict(_ASGI),
            "http_version": request.protocol.removeprefix("HTTP/"),
            "method": request.method,
            "scheme": request.scheme,
            "path": request.path,
            "raw_path": (request.raw_path or encode_path(request.path)).encode("latin-1"),
            "query_string": request.query.encode("latin-1"),
            "root_path": request.root,
            "headers": headers,
            "server": request.server,
            "client": request.client,
            "state": dict(self._state),
        }


class Lifespan:
    """An application's own startup and shutdown.

    Attributes:
        state: what it put into its scope's ``state``.
    """

    def __init__(self, app: Application) -> None:
        self._app = app
        self.state: dict[str, Any] = {}
        self._task: asyncio.Task[None] | None = None

    async def startup(self) -> None:
        """Start the application up; one that knows no lifespan is taken as it is.

        Raises:
            RuntimeError: when it says that its startup failed.
        """
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


def encode_path(path: str) -> str:
    """Encode a path as most clients send it."""
    return quote(path, safe="/:@!$&'()*+,;=-._~")


def _refused(kind: str) -> EffectRefused:
    return EffectRefused(
        f"The application sent a message of type {kind!r}, which is not recorded.",
        "Expected http.response.start and http.response.body.",
        "Switch that extension off in the application for a recorded run.",
        type=kind,
    )
