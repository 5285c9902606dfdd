"""Sockets: connections that the program and its libraries make through Python's ``socket``.

Covered: ``connect``, ``connect_ex`` and what follows on a stream or datagram socket of the internet
families or of Unix: ``send``, ``sendall``, ``sendto``, ``sendmsg``, ``sendfile``, ``recv``, ``recv_into``,
``recvfrom``, ``recvfrom_into``, ``makefile``, names of both ends, options, errors, timeouts; blocking, with
a timeout, and from an event loop. So ``http.client``, ``urllib``, ``requests``, ``httpx``, ``aiohttp``,
``smtplib``, ``redis`` and drivers in pure Python are recorded whole, whoever of them reads. In replay no
connection is made: the descriptor is one end of a pair (``replayed_connection.py``).

Not covered: sockets that listen and what they accept (a service is recorded at its WSGI or ASGI
boundary), ``recvmsg``, pairs made by ``socketpair``, other families, what is read or written through the
bare descriptor, libraries whose input and output happens in C; how often a program polled in vain.

Invariant: a governed socket's bytes reach the program through the layer, or not at all.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from sys import _getframe
from types import ModuleType
from typing import Any

from twice.errors import EffectRefused
from twice.recorder.effects import ops
from twice.recorder.effects.actors import outside
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.network.connections import Connections, Held
from twice.recorder.effects.network.replayed_connection import ReplayedConnection
from twice.recorder.effects.network.tls import Bindings
from twice.recorder.effects.network.within_run import is_loopback, is_within_run
from twice.recorder.effects.origin import while_imported
from twice.recorder.effects.outcomes import RAISED, RETURNED, given, outcome_of
from twice.recorder.effects.patches import Patch

_INTERNET = (socket.AF_INET, socket.AF_INET6)
_NOTHING = (RETURNED, 0)
_NOT_CONNECTED = (RAISED, ("builtins", "OSError", (107, "Transport endpoint is not connected")))


class Network:
    """The network of one run: its connections, and what carries its TLS."""

    def __init__(self, layer: EffectLayer) -> None:
        self.connections, self.bindings = Connections(layer), Bindings()


def patches(network: Network, module: ModuleType) -> list[Patch]:
    """Return the patches of ``socket.socket``'s methods, for a session."""
    connections = network.connections
    governed = _Methods(connections, network.bindings, module.socket)
    rows = [
        Patch(module.socket, name, _method(getattr(governed, by), getattr(module.socket, name)))
        for name, by in _NAMES.items()
        if hasattr(module.socket, name)
    ]
    sendfile = getattr(os, "sendfile", None)
    if sendfile is not None:
        rows.append(Patch(os, "sendfile", _refusing_sendfile(connections, sendfile)))
    return rows


_SAME = (
    "connect", "connect_ex", "send", "sendall", "sendto", "sendmsg", "recv", "recv_into", "recvfrom",
    "recvfrom_into", "recvmsg", "recvmsg_into", "getpeername", "getsockname", "getsockopt",
    "setsockopt", "shutdown", "bind", "dup", "detach",
)  # fmt: skip
_NAMES = {"__init__": "adopt", "_real_close": "close", **{name: name for name in _SAME}}
"""Methods of a socket, and which of ours stands for each."""


def _method(governed: Callable[..., Any], real: Callable[..., Any]) -> Callable[..., Any]:
    """Build a method of a socket that passes the real method and the socket to a governed one."""

    def method(self: socket.socket, *args: Any, **kwargs: Any) -> Any:
        return governed(real, self, *args, **kwargs)

    method.__name__, method.__doc__ = real.__name__, real.__doc__
    return method


def _refusing_sendfile(connections: Connections, real: Callable[..., int]) -> Callable[..., int]:
    def sendfile(out_fd: int, *args: Any, **kwargs: Any) -> int:
        layer = connections.layer
        if out_fd in layer.owned_descriptors and layer.actor() is not None:
            raise OSError(95, "Operation not supported")  # its callers then send what they read
        return real(out_fd, *args, **kwargs)

    return sendfile


class _Methods:
    """The governed methods: each is given the real one, the socket, and what the program passed."""

    def __init__(self, connections: Connections, bindings: Bindings, kind: type) -> None:
        self._connections, self._bindings, self._kind = connections, bindings, kind
        self._of = connections.of

    def adopt(self, real: Any, sock: Any, *args: Any, **kwargs: Any) -> None:
        real(sock, *args, **kwargs)
        fileno = kwargs.get("fileno", args[3] if len(args) > 3 else None)
        if fileno is not None:
            self._connections.share(sock, sock.fileno())
        self._connections.made_outside(sock)

    # -- making and ending --------------------------------------------------------------------

    def connect(self, real: Any, sock: Any, address: Any) -> Any:
        held = self._of(sock)
        if held is not None:
            return held.connect_again(lambda: real(sock, address))
        actor = self._connections.maker(sock)
        if actor is None or is_within_run(sock.family, address):
            return real(sock, address)
        asked = _asked(sock, address)
        held = self._connections.begin(actor, sock, asked)
        return held.connect(asked, sock, lambda: real(sock, address))

    def connect_ex(self, real: Any, sock: Any, address: Any) -> int:
        del real
        try:
            self._kind.connect(sock, address)  # type: ignore[attr-defined]
        except OSError as error:
            if error.errno is None:
                raise
            return error.errno
        return 0

    def bind(self, real: Any, sock: Any, address: Any) -> None:
        layer = self._connections.layer
        importing = while_imported(_getframe(2))
        if not importing and (layer.actor() is None or sock.family not in _INTERNET):
            real(sock, address)
            return
        bound = False

        def live() -> object:
            nonlocal bound
            bound = True
            return outside(outcome_of, real, sock, address)

        # Whether a port is free is a fact. Packages that try what this machine has (urllib3: IPv6) are
        # told no more than that; for the program the socket is bound in replay too.
        given(layer.fact(ops.BOUND, _asked(sock, address), live, needed=importing))
        if importing:
            return
        # A port that the system chose is chosen again: in a world it is free.
        name = layer.fact(ops.BOUND_NAME, _asked(sock, address), lambda: _name(sock), needed=False)
        if not bound:
            try:
                real(sock, tuple(name) if is_loopback(name) else address)
            except OSError:
                real(sock, address)

    def dup(self, real: Any, sock: Any) -> Any:
        made = real(sock)
        held = self._of(sock)
        if held is not None:
            self._connections.hold(made, held)
        return made

    def detach(self, real: Any, sock: Any) -> int:
        self._connections.release(sock)
        self._connections.gone_outside(sock)
        return int(real(sock))

    def close(self, real: Any, sock: Any, *args: Any) -> None:
        try:
            self._connections.close(sock)
            self._connections.gone_outside(sock)
        finally:
            real(sock, *args)

    # -- sending ------------------------------------------------------------------------------

    def send(self, real: Any, sock: Any, data: Any, flags: int = 0) -> int:
        held = self._of(sock)
        if held is None:
            return int(real(sock, data, flags))
        return self._sent(held, data, lambda: int(real(sock, data, flags)))

    def sendall(self, real: Any, sock: Any, data: Any, flags: int = 0) -> None:
        held = self._of(sock)
        if held is None:
            real(sock, data, flags)
        else:
            self._sent(held, data, lambda: real(sock, data, flags))

    def sendto(self, real: Any, sock: Any, data: Any, *rest: Any) -> int:
        held = self._of(sock)
        if held is None:
            actor = self._connections.maker(sock)
            if actor is None:
                return int(real(sock, data, *rest))
            asked = _asked(sock, None)
            held = self._connections.begin(actor, sock, asked)
            held.connect(asked, sock, lambda: None)
        plain = bytes(data)
        named = repr(rest[-1]).encode() + plain  # to whom it went is part of what went out

        def send() -> None:
            real(sock, plain, *rest)

        held.write(named, send)
        return len(plain)

    def sendmsg(self, real: Any, sock: Any, buffers: Any, *rest: Any) -> int:
        held = self._of(sock)
        if held is None:
            return int(real(sock, buffers, *rest))
        parts = [bytes(part) for part in buffers]
        return self._sent(held, b"".join(parts), lambda: int(real(sock, parts, *rest)))

    def _sent(self, held: Held, data: Any, send: Callable[[], int | None]) -> int:
        # The first words of a TLS object go out through the socket that will carry it.
        self._bindings.greets(held, data)
        return held.send(data, send)

    # -- receiving ----------------------------------------------------------------------------

    def recv(self, real: Any, sock: Any, size: int, flags: int = 0) -> Any:
        held = self._of(sock)
        if held is None:
            return real(sock, size, flags)
        peek = bool(flags & socket.MSG_PEEK)
        return held.receive(sock, size, lambda: real(sock, size, flags), peek=peek)

    def recv_into(self, real: Any, sock: Any, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        held = self._of(sock)
        if held is None:
            return int(real(sock, buffer, nbytes, flags))
        size = nbytes or memoryview(buffer).nbytes
        live = lambda: int(real(sock, buffer, nbytes, flags))  # noqa: E731
        return held.receive_into(sock, buffer, size, live)

    recvfrom = recv

    def recvfrom_into(self, real: Any, sock: Any, buffer: Any, *rest: Any) -> Any:
        held = self._of(sock)
        if held is None:
            return real(sock, buffer, *rest)
        size = rest[0] if rest and rest[0] else memoryview(buffer).nbytes
        data, address = self._kind.recvfrom(sock, size)  # type: ignore[attr-defined]
        memoryview(buffer).cast("B")[: len(data)] = data
        return len(data), address

    def recvmsg(self, real: Any, sock: Any, *args: Any) -> Any:
        if self._of(sock) is None:
            return real(sock, *args)
        raise EffectRefused(
            "socket.recvmsg() was called on a connection that is recorded.",
            "Expected recv(), recv_into() or recvfrom(): messages with attachments have no recorded form.",
            "Declare the function that needs it as an effect: @twice.effect.",
            name="socket.recvmsg",
        )

    recvmsg_into = recvmsg

    # -- asking -------------------------------------------------------------------------------

    def getpeername(self, real: Any, sock: Any) -> Any:
        return self._end(real, sock, "getpeername")

    def getsockname(self, real: Any, sock: Any) -> Any:
        return self._end(real, sock, "getsockname")

    def _end(self, real: Any, sock: Any, what: str) -> Any:
        held = self._of(sock)
        if held is None:
            return real(sock)
        return given(held.about(what, lambda: outcome_of(real, sock), _NOT_CONNECTED))

    def getsockopt(self, real: Any, sock: Any, level: int, name: int, *size: Any) -> Any:
        held = self._of(sock)
        if held is None:
            return real(sock, level, name, *size)
        if (level, name) == (socket.SOL_SOCKET, socket.SO_ERROR):
            return held.connected(lambda: int(real(sock, level, name)))
        if (level, name) == (socket.SOL_SOCKET, socket.SO_TYPE):
            return int(sock.type)
        what = ("getsockopt", int(level), int(name))
        return given(held.about(what, lambda: outcome_of(real, sock, level, name, *size), _NOTHING))

    def setsockopt(self, real: Any, sock: Any, *args: Any) -> None:
        if not self._is_played(sock):
            real(sock, *args)

    def shutdown(self, real: Any, sock: Any, how: int) -> None:
        if not self._is_played(sock):
            real(sock, how)

    def _is_played(self, sock: Any) -> bool:
        return isinstance(self._of(sock), ReplayedConnection)


def _name(sock: Any) -> Any:
    """Return the address of a socket's own end, in plain values."""
    found = outside(socket.socket.getsockname, sock)
    return tuple(found) if isinstance(found, tuple) else None


def _asked(sock: Any, address: Any) -> tuple[object, ...]:
    """Return the arguments of a connection in plain values: family, type and address."""
    if isinstance(address, os.PathLike):
        address = os.fspath(address)
    whole = tuple(address) if isinstance(address, tuple | list) else address
    return (int(sock.family), int(sock.type) & 0xF, whole)
