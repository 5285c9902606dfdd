"""TLS: recorded and replayed as plain text, at the objects that encrypt.

Covered: ``SSLContext.wrap_socket`` and ``wrap_bio`` over a governed connection, so ``http.client``, ``urllib3``,
``httpx``, ``anyio`` and ``asyncio``. Written down are the program's bytes before encryption and after decryption, how
the handshake ended, and the agreement (certificate, cipher, protocol). In replay nothing is encrypted, and no key is
needed.

Not covered: TLS of other libraries (``pyOpenSSL`` reads descriptors in C), the server's side.

Invariant: what a certificate was good for when it was recorded is what replay says, not more.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from twice.recorder.effects.loops.loop_connection import LoopConnection
from twice.recorder.effects.network.connections import Connections, Held, fill_buffer
from twice.recorder.effects.outcomes import given, outcome_of
from twice.recorder.effects.patches import Patch

_FACTS = (
    "cipher", "version", "compression", "shared_ciphers", "selected_alpn_protocol", "getpeercert",
    "selected_npn_protocol", "get_channel_binding", "verify_client_post_handshake",
)  # fmt: skip


def patches(connections: Connections, module: ModuleType) -> list[Patch]:
    """Return the patches of the methods that make TLS objects, for a session."""
    context: Any = module.SSLContext
    wrap_socket, wrap_bio = context._wrap_socket, context._wrap_bio

    def governed_wrap_socket(
        self: Any, sock: Any, server_side: bool, *rest: Any, **named: Any
    ) -> Any:  # fmt: skip
        real = wrap_socket(self, sock, server_side, *rest, **named)
        held = connections.of(sock)
        return real if held is None or server_side else Tls(real, held=held, sock=sock)

    def governed_wrap_bio(
        self: Any, incoming: Any, outgoing: Any, server_side: bool, *rest: Any, **named: Any
    ) -> Any:  # fmt: skip
        tape = connections.layer.find_tape() if server_side else None
        if tape is not None:
            raise tape.refuse_server_tls()
        real = wrap_bio(self, incoming, outgoing, server_side, *rest, **named)
        if server_side or connections.layer.actor() is None:
            return real
        return Tls(real, outgoing=outgoing, connections=connections)

    return [
        Patch(module.SSLContext, "_wrap_socket", governed_wrap_socket),
        Patch(module.SSLContext, "_wrap_bio", governed_wrap_bio),
    ]


class Tls:
    """Stands for OpenSSL's object of one connection.

    Args:
        real: OpenSSL's object; in replay it only greets.
        held: the connection, where it is known from the start.
        sock: the socket it reads, None for a pair of buffers.
        outgoing: the buffer it writes to, None for a socket.
        connections: where the connection of a pair of buffers is found.
    """

    def __init__(
        self,
        real: Any,
        *,
        held: Held | None = None,
        sock: Any = None,
        outgoing: Any = None,
        connections: Connections | None = None,
    ) -> None:
        # Not by attributes: what is set is set on OpenSSL's object.
        self.__dict__.update(
            _real=real, _held=held, _sock=sock, _out=outgoing, _found=connections, _greets=True
        )

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._real, name)
        if name not in _FACTS or self._held is None:
            return real

        def fact(*args: Any) -> Any:
            return given(self._held.about((name, *args), lambda: outcome_of(real, *args)))

        return fact

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._real, name, value)

    def do_handshake(self) -> None:
        """Agree with the other side; how that ended is noted, or given as it was."""
        if self._held is not None:
            with _wanting():
                self._held.step("handshake", self._real.do_handshake)
            return
        try:
            self._real.do_handshake()
        finally:
            if self._greets and self._out.pending:
                self.__dict__["_greets"] = False
                greeting = self._out.read()
                self._out.write(greeting)
                self._found.expect_greeting(greeting, self._bind)

    def _bind(self, held: Held) -> None:
        self.__dict__["_held"] = held
        if isinstance(held, LoopConnection):
            held.outgoing = self._out

    def shutdown(self) -> Any:
        """End the writing; return the socket underneath."""
        if self._held is None:
            return self._real.shutdown()
        with _wanting():
            self._held.step("unwrap", self._real.shutdown)
        return self._sock

    def pending(self) -> int:
        """Return how many bytes wait decrypted."""
        return int(self._real.pending())

    def write(self, data: Any, /) -> int:
        """Write, and note the bytes or compare them with the record."""
        if self._held is None:
            return int(self._real.write(data))
        with _wanting():
            return int(self._held.write(data, lambda: int(self._real.write(data))))

    def read(self, size: int, buffer: Any = None, /) -> Any:
        """Read, noted or from the record."""
        real = self._real.read
        if self._held is None:
            return real(size) if buffer is None else real(size, buffer)
        with _wanting():
            if buffer is None:
                return self._held.read(self._sock, size, lambda: real(size))
            data = self._held.read(
                self._sock, size, lambda: bytes(memoryview(buffer)[: int(real(size, buffer))])
            )
            return fill_buffer(buffer, data)


@contextmanager
def _wanting() -> Iterator[None]:
    """Say of a replayed step that must be tried again what OpenSSL says."""
    try:
        yield
    except BlockingIOError:
        raise ssl.SSLWantReadError(2, "The operation did not complete (read)") from None
