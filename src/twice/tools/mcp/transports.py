"""Over which line a server is reached: standard input and output, or HTTP.

Over HTTP the server is bound to this machine; bound to any other address it asks every request for a
bearer token. Requests whose Host or Origin is not this machine's are refused while it is bound to
it, so that a page in a browser cannot talk to it.

Invariant: nothing of a request is looked at before its token.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import select
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any, Final, TextIO

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from twice.errors import UsageError
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.printable import pluralize

PATH: Final = "/mcp"
TOKEN_BYTES_MIN: Final = 16
_AROUND_BYTES: Final = 1 << 20
"""Of a request besides a call's arguments; these may take twice their canonical length as they are sent."""

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

    async def served() -> None:
        with _until_told_to_stop(_ShortLines(_bytes_max(payload_bytes))) as lines:
            async with stdio_server(stdin=anyio.wrap_file(lines)) as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(served)


def _bytes_max(payload_bytes: int) -> int:
    return 2 * payload_bytes + _AROUND_BYTES


class _ShortLines:
    """Lines of a stream of bytes, each cut at a limit: what is cut is no message any more, and is answered so.

    Args:
        bytes_max: of a line.
    """

    def __init__(self, bytes_max: int) -> None:
        self._max = bytes_max
        self._passed = 0

    def cut(self, data: bytes) -> bytes:
        """Return the part of the next bytes to pass on."""
        passed = []
        for line in data.splitlines(keepends=True):
            is_whole = line.endswith(b"\n")
            body = line[:-1] if is_whole else line
            passed.append(body[: self._max - self._passed])
            self._passed = min(self._max, self._passed + len(body))
            if is_whole:
                passed.append(b"\n")
                self._passed = 0
        return b"".join(passed)


@contextlib.contextmanager
def _until_told_to_stop(short: _ShortLines) -> Iterator[TextIO]:
    """Yield standard input, which ends at a signal: the SDK would wait for one more line."""
    told, tell = os.pipe()
    reading, writing = os.pipe()

    def forwarded() -> None:
        with contextlib.suppress(BrokenPipeError), os.fdopen(writing, "wb", buffering=0) as onward:
            while told not in select.select([0, told], [], [])[0]:
                if not (data := os.read(0, 65536)):
                    return
                onward.write(short.cut(data))

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {each: signal.signal(each, lambda *_: os.write(tell, b".")) for each in signals}
    thread = threading.Thread(target=forwarded, name="standard input", daemon=True)
    thread.start()
    try:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
            yield lines
    finally:
        os.write(tell, b".")
        thread.join()
        for each, handler in before.items():
            signal.signal(each, handler)
        os.close(told)
        os.close(tell)


@contextlib.contextmanager
def bound(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a socket bound to an address, before opening anything to serve there.

    Args:
        host: the address to bind.
        port: the port; 0 for any free one.

    Raises:
        UsageError: E-USE-001, when the address cannot be bound.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _not_bound(host, port, error) from error
    with made:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind(address)
        except OSError as error:
            raise _not_bound(host, port, error) from error
        yield made


def _not_bound(host: str, port: int, error: OSError) -> UsageError:
    return UsageError(
        f"{host} port {port} cannot be listened at: {error.strerror or error}.",
        "Expected an address of this machine and a port that nobody listens at.",
        "Choose another port, or 0 for any that is free: --http 127.0.0.1:0",
    )


def serve_http(
    server: Server[Any],
    host: str,
    place: socket.socket,
    token: str | None,
    ready: Callable[[int], None],
    *,
    payload_bytes: int,
) -> None:
    """Serve over HTTP until this process is told to stop.

    Args:
        server: of one session; all clients share its state.
        host: address that the socket is bound to, as it was given.
        place: the socket.
        token: asked of every request; None on this machine alone.
        ready: told the port, once requests are taken.
        payload_bytes: of arguments at most, as the contract says; a request may be somewhat larger, and
            one that is larger still is answered with status 413 before it is read.

    Raises:
        UsageError: E-USE-001, for another machine's address without a token, or a short one.
    """
    import uvicorn

    from twice.tools.mcp.timed_protocol import TimedProtocol

    require_token(host, token)
    application = application_of(server, host, token, payload_bytes)

    class Announcing(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.servers:
                ready(int(place.getsockname()[1]))

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


def application_of(
    server: Server[Any], host: str, token: str | None, payload_bytes: int
) -> Application:
    """Build the ASGI application: the SDK's, behind the token if there is one."""
    # Elsewhere any name may be the server's: there the token is what keeps strangers away.
    security = (
        None
        if is_this_machine(host)
        else TransportSecuritySettings(enable_dns_rebinding_protection=False)
    )
    application: Application = server.streamable_http_app(
        streamable_http_path=PATH,
        host=host,
        transport_security=security,
        max_request_body_size=_bytes_max(payload_bytes),
    )
    return application if token is None else _guarded(application, token)


def _guarded(application: Application, token: str) -> Application:
    # Digests are compared, so that how long it takes tells nothing of the token.
    expected = digest_bytes(f"Bearer {token}".encode(), Algorithm.SHA256)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = [value for name, value in scope["headers"] if name == b"authorization"]
            if len(given) != 1 or digest_bytes(given[0], Algorithm.SHA256) != expected:
                await _refused(send)
                return
        await application(scope, receive, send)

    return guarded


async def _refused(send: Send) -> None:
    headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": b"A bearer token is asked for.\n"})
