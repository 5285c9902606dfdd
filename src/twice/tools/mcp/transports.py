"""Over which line a server is reached: standard input and output, or HTTP.

Over HTTP the server is bound to this machine; bound to any other address it asks every request for a
bearer token. Requests whose Host or Origin is not this machine's are refused while it is bound to
it, so that a page in a browser cannot talk to it.

Invariant: nothing of a request is looked at before its token, and no client that hangs keeps the
server from ending when it is told to.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from typing import Any, Final

import anyio
import h11
import uvicorn
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from uvicorn.protocols.http.h11_impl import H11Protocol

from twice.errors import UsageError
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.printable import pluralize

PATH: Final = "/mcp"
TOKEN_BYTES_MIN: Final = 16
HEAD_SECONDS: Final = 20.0
"""From the first byte of a request to the end of its head."""
_AROUND_BYTES: Final = 1 << 20
"""Of a request besides a call's arguments; these may take twice their canonical length as they are sent."""
_PIECE_BYTES: Final = 4096
"""A pipe that can be written to takes this much at once (PIPE_BUF of Linux)."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def serve_stdio(server: Server[Any], *, payload_bytes: int) -> None:
    """Serve one client over standard input and output, until it hangs up or a signal says stop.

    Args:
        server: of one session.
        payload_bytes: of arguments at most, as the contract says; a message may be somewhat larger, and of one
            that is larger still the rest is dropped as it comes.
    """

    async def stop_at_signal(scope: anyio.CancelScope) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as told:
            async for _ in told:
                scope.cancel()

    async def serve(lines: Any, answers: Any) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(stop_at_signal, group.cancel_scope)
            async with stdio_server(stdin=lines, stdout=answers) as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())
            group.cancel_scope.cancel()

    wire = os.dup(1)
    os.dup2(2, 1)  # What a library prints is no message.
    try:
        anyio.run(serve, Lines(0, _limit_bytes(payload_bytes)), Answers(wire))
    finally:
        os.dup2(wire, 1)
        os.close(wire)


class Lines:
    """Lines of a descriptor, each cut at a limit: what is cut is no message any more, and is answered so.

    A task that waits for them can be cancelled, which a thread that reads cannot.
    """

    def __init__(self, descriptor: int, bytes_max: int) -> None:
        self._descriptor = descriptor
        self._max = bytes_max

    async def __aiter__(self) -> AsyncIterator[str]:
        line = bytearray()
        while True:
            await _wait(anyio.wait_readable, self._descriptor)
            data = os.read(self._descriptor, 65536)
            *ends, rest = data.split(b"\n")
            for each in ends:
                line += each[: self._max - len(line)]
                yield line.decode("utf-8", "replace")
                line.clear()
            line += rest[: self._max - len(line)]
            if not data:
                if line:
                    yield line.decode("utf-8", "replace")
                return


class Answers:
    """Text to a descriptor whose other end may be slow or never read; a task that waits can be cancelled."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def write(self, text: str) -> None:
        """Write a whole message, in pieces that do not block."""
        data = memoryview(text.encode())
        while data:
            await _wait(anyio.wait_writable, self._descriptor)
            data = data[os.write(self._descriptor, data[:_PIECE_BYTES]) :]

    async def flush(self) -> None:
        """Do nothing: what was written is on its way."""


async def _wait(ready: Callable[[int], Awaitable[None]], descriptor: int) -> None:
    with suppress(
        PermissionError
    ):  # A regular file or /dev/null is always ready, and epoll takes neither.
        await ready(descriptor)


def _limit_bytes(payload_bytes: int) -> int:
    return 2 * payload_bytes + _AROUND_BYTES


@contextmanager
def bind(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a socket bound to an address, or refuse before anything is opened to serve there; port 0 is any free one."""
    made: socket.socket | None = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
    except OSError as error:
        if made is not None:
            made.close()
        raise UsageError(
            f"{host} port {port} cannot be listened at: {error.strerror or error}.",
            "Expected an address of this machine and a port that nobody listens at.",
            "Choose another port, or 0 for any that is free: --http 127.0.0.1:0",
        ) from error
    with made:
        yield made


def serve_http(
    server: Server[Any],
    host: str,
    place: socket.socket,
    token: str | None,
    announce: Callable[[str], None],
    *,
    payload_bytes: int,
) -> None:
    """Serve over HTTP until this process is told to stop.

    Args:
        server: of one session; all clients share its state.
        host: address that the socket is bound to, as it was given.
        place: the socket.
        token: asked of every request; None on this machine alone.
        announce: told the address, once requests are taken.
        payload_bytes: of arguments at most, as the contract says; a request may be somewhat larger, and
            one that is larger still is answered with status 413 before it is read.

    Raises:
        UsageError: E-USE-001, for another machine's address without a token, or a short one.
    """
    require_token(host, token)
    # Elsewhere any name may be the server's: there the token is what keeps strangers away.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    application: Application = server.streamable_http_app(
        streamable_http_path=PATH,
        host=host,
        transport_security=None if is_this_machine(host) else security,
        max_request_body_size=_limit_bytes(payload_bytes),
    )
    if token is not None:
        application = _guard(application, token)

    class Announcing(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.servers:
                shown = f"[{host}]" if ":" in host else host
                announce(f"http://{shown}:{place.getsockname()[1]}{PATH}")

    config = uvicorn.Config(application, http=TimedProtocol, log_level="warning", lifespan="on")
    Announcing(config).run(sockets=[place])


def require_token(host: str, token: str | None) -> None:
    """Refuse to be reached from elsewhere by whoever comes.

    Raises:
        UsageError: E-USE-001.
    """
    if token is not None and len(token.encode()) < TOKEN_BYTES_MIN:
        raise UsageError(
            f"The token has {pluralize(len(token.encode()), 'byte')}.",
            f"Expected at least {TOKEN_BYTES_MIN}, which nobody guesses.",
            "Make one: python -c 'import secrets; print(secrets.token_urlsafe())'",
        )
    if token is None and not is_this_machine(host):
        raise UsageError(
            f"{host} can be reached from other machines, and there is no token.",
            "Expected a token wherever strangers can call.",
            "Give one by --token-file, or bind to 127.0.0.1.",
        )


def is_this_machine(host: str) -> bool:
    """Whether an address to be bound to is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class TimedProtocol(H11Protocol):
    """HTTP that closes a connection whose request does not get past its head in time."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take bytes; the time runs on until they hold a whole head."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def _guard(application: Application, token: str) -> Application:
    """Answer a request without the bearer token with status 401."""
    # Digests are compared, so that how long it takes tells nothing of the token.
    expected = digest_bytes(f"Bearer {token}".encode(), Algorithm.SHA256)
    headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain; charset=utf-8")]

    async def check(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = [value for name, value in scope["headers"] if name == b"authorization"]
            if len(given) != 1 or digest_bytes(given[0], Algorithm.SHA256) != expected:
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send(
                    {"type": "http.response.body", "body": b"A bearer token is asked for.\n"}
                )
                return
        await application(scope, receive, send)

    return check
