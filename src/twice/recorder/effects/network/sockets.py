"""Sockets: connections that the program and its libraries make through Python's ``socket``.

Covered: ``connect``, ``connect_ex`` and the rest of a stream or datagram socket of the internet families or of Unix:
``send``, ``sendall``, ``sendto``, ``sendmsg``, ``sendfile``, ``recv``, ``recv_into``, ``recvfrom``, ``recvfrom_into``,
``recvmsg`` of a stream without attachments, ``makefile``, names of both ends, options, errors, timeouts; blocking, with
a timeout, and from an event loop. So ``http.client``, ``urllib``, ``requests``, ``httpx``, ``aiohttp``, ``smtplib``,
``redis`` and drivers in pure Python are recorded whole, whoever of them reads. In replay no connection is made: the
descriptor is one end of a pair (``replayed_connection.py``).

Not covered: sockets that listen and what they accept (``within_run.py``), attachments of ``recvmsg``, pairs made by
``socketpair``, other families, the bare descriptor, libraries whose input and output happens in C; how often a program
polled in vain.

Invariant: a governed socket's bytes reach the program through the layer, or not at all.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import stat
from collections.abc import Callable
from functools import partial
from sys import _getframe
from types import ModuleType
from typing import Any

from twice.errors import EffectRefused
from twice.recorder.effects import ops
from twice.recorder.effects.actors import outside, while_imported
from twice.recorder.effects.network.connections import Connections, Held, fill_buffer
from twice.recorder.effects.network.within_run import is_loopback, is_within_run
from twice.recorder.effects.outcomes import RAISED, RETURNED, given, outcome_of
from twice.recorder.effects.patches import Patch

_COPIED_AT_ONCE = 1 << 20
# A session governs the operating system's functions; what the kernel would copy is no read of the program.
_read, _pread, _write, _fstat = os.read, os.pread, os.write, os.fstat
_INTERNET = (socket.AF_INET, socket.AF_INET6)
_NOTHING = (RETURNED, 0)
_NOT_CONNECTED = (RAISED, ("builtins", "OSError", (107, "Transport endpoint is not connected")))


def patches(connections: Connections, module: ModuleType) -> list[Patch]:
    """Return the patches of ``socket.socket``'s methods, for a session."""
    kind, of = module.socket, connections.of
    governed = _Methods(connections, kind)
    rows = [
        Patch(kind, name, _govern(of, getattr(governed, by), getattr(kind, name), is_for_any=True))
        for name, by in _OF_ANY.items()
    ]
    rows += [
        Patch(kind, name, _govern(of, getattr(governed, name), getattr(kind, name)))
        for name in _OF_CONNECTED
        if hasattr(kind, name)
    ]
    sendfile = getattr(os, "sendfile", None)
    if sendfile is not None:
        rows.append(Patch(os, "sendfile", _make_sendfile(connections, sendfile)))
    return rows


_OF_ANY = {
    "__init__": "adopt", "_real_close": "close", "connect": "connect", "connect_ex": "connect_ex", "bind": "bind",
    "dup": "dup", "detach": "detach", "sendto": "sendto", "listen": "listen", "accept": "accept",
}  # fmt: skip
"""Methods of any socket, and which of ours stands for each."""
_OF_CONNECTED = (
    "send", "sendall", "sendmsg", "recv", "recv_into", "recvfrom", "recvfrom_into", "recvmsg", "recvmsg_into",
    "getpeername", "getsockname", "getsockopt", "setsockopt", "shutdown",
)  # fmt: skip
"""Methods that are left to the system where the socket holds no connection of the run."""


def _govern(
    of: Callable[[socket.socket], Held | None],
    governed: Callable[..., Any],
    real: Callable[..., Any],
    *,
    is_for_any: bool = False,
) -> Callable[..., Any]:
    """Build a method of a socket that passes its connection, the real method and itself to a governed one."""

    def method(self: socket.socket, *args: Any, **kwargs: Any) -> Any:
        held = of(self)
        if held is None and not is_for_any:
            return real(self, *args, **kwargs)
        return governed(held, real, self, *args, **kwargs)

    method.__name__, method.__doc__ = real.__name__, real.__doc__
    return method


def _make_sendfile(connections: Connections, real: Callable[..., int]) -> Callable[..., int]:
    def sendfile(
        out_fd: int, in_fd: int, offset: int | None, count: int, *args: Any, **kwargs: Any
    ) -> int:
        layer = connections.layer
        if out_fd in layer.owned_descriptors and layer.actor() is not None:
            # Its callers then send what they read.
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        try:
            return real(out_fd, in_fd, offset, count, *args, **kwargs)
        except OSError as error:
            if error.errno != errno.EINVAL or not _is_captured(out_fd):
                raise
        return _copy(out_fd, in_fd, offset, count)

    return sendfile


def _is_captured(descriptor: int) -> bool:
    """Return whether a descriptor is a file of captured output: without a name, and opened for appending."""
    status = _fstat(descriptor)
    is_nameless = stat.S_ISREG(status.st_mode) and not status.st_nlink
    return is_nameless and bool(fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND)


def _copy(out_fd: int, in_fd: int, offset: int | None, count: int) -> int:
    """Copy as ``sendfile`` does, which the kernel refuses where a file was opened for appending."""
    done = 0
    while done < count:
        size = min(count - done, _COPIED_AT_ONCE)
        data = _read(in_fd, size) if offset is None else _pread(in_fd, size, offset + done)
        if not data:
            break
        done += _write(out_fd, data)
    return done


class _Methods:
    """The governed methods: each is given the socket's connection, the real one, the socket, and arguments."""

    def __init__(self, connections: Connections, kind: Any) -> None:
        self._connections, self._kind, self._real_connect = connections, kind, kind.connect

    def adopt(self, _held: Held | None, real: Any, sock: Any, *args: Any, **kwargs: Any) -> None:
        real(sock, *args, **kwargs)
        fileno = kwargs.get("fileno", args[3] if len(args) > 3 else None)
        if fileno is not None:
            self._connections.share(sock, sock.fileno())
        self._connections.own_outside(sock)

    def connect(self, held: Held | None, real: Any, sock: Any, address: Any) -> Any:
        connect = self._begin(held, sock, address)
        if connect is None:
            return real(sock, address)
        return connect(lambda: real(sock, address))

    def connect_ex(self, held: Held | None, real: Any, sock: Any, address: Any) -> int:
        connect = self._begin(held, sock, address)
        if connect is None:
            return int(real(sock, address))
        # Recorded like connect, whose errors say more than numbers. The real one gives a number as well, but for an
        # unknown host, and for a time-out that is the socket's own and has none.
        try:
            connect(lambda: self._real_connect(sock, address))
        except (socket.gaierror, socket.herror):
            raise
        except TimeoutError as error:
            return error.errno or errno.EAGAIN
        except OSError as error:
            if error.errno is None:
                raise
            return error.errno
        return 0

    def _begin(
        self, held: Held | None, sock: Any, address: Any
    ) -> Callable[[Callable[[], object]], object] | None:
        """Return a function that connects a socket under its connection; None for one that is not governed."""
        if held is not None:
            return held.connect_again
        actor, layer = self._connections.find_maker(sock), self._connections.layer
        # What a recorded loop serves is recorded at both ends.
        is_recorded = layer.loops_listen_at(address)
        if actor is None:
            return None
        if not is_recorded and is_within_run(sock, address):
            tape = self._connections.find_tape(sock)
            if tape is not None:
                self._connections.hold(sock, tape.connect_within_run())
            return None
        asked = _asked(sock, address)
        return partial(self._connections.begin(actor, sock, asked).connect, asked, sock)

    def bind(self, _held: Held | None, real: Any, sock: Any, address: Any) -> None:
        layer = self._connections.layer
        importing = while_imported(_getframe(2))
        if not importing and (layer.actor() is None or sock.family not in _INTERNET):
            real(sock, address)
            return
        bound = False

        def own_name() -> tuple[object, ...] | None:
            found = outside(socket.socket.getsockname, sock)
            return tuple(found) if isinstance(found, tuple) else None

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
        name = layer.fact(ops.BOUND_NAME, _asked(sock, address), own_name, needed=False)
        if not bound:
            try:
                real(sock, tuple(name) if is_loopback(name) else address)
            except OSError:
                real(sock, address)
        tape = self._connections.find_tape(sock)
        if tape is not None and sock.type & 0xF == socket.SOCK_DGRAM:
            self._connections.hold(sock, tape.bind(sock))

    def listen(self, _held: Held | None, real: Any, sock: Any, *args: Any) -> None:
        tape = self._connections.find_tape(sock)
        if tape is not None:
            tape.listen(sock)
        if tape is None or not tape.is_replayed:
            real(sock, *args)

    def accept(self, _held: Held | None, real: Any, sock: Any) -> Any:
        tape = self._connections.find_tape(sock)
        if tape is None or not tape.is_listener(sock):
            return real(sock)
        accepted, peer, held = tape.accept(sock, lambda: real(sock))
        self._connections.hold(accepted, held)
        return accepted, peer

    def dup(self, held: Held | None, real: Any, sock: Any) -> Any:
        made = real(sock)
        if held is not None:
            self._connections.hold(made, held)
        return made

    def detach(self, _held: Held | None, real: Any, sock: Any) -> int:
        self._connections.release(sock)
        self._connections.disown_outside(sock)
        return int(real(sock))

    def close(self, _held: Held | None, real: Any, sock: Any, *args: Any) -> None:
        try:
            self._connections.close(sock)
            self._connections.disown_outside(sock)
        finally:
            real(sock, *args)

    def sendto(self, held: Held | None, real: Any, sock: Any, data: Any, *rest: Any) -> int:
        if held is None:
            actor = self._connections.find_maker(sock)
            if actor is None or is_within_run(sock, rest[-1]):
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

    def send(self, held: Held, real: Any, sock: Any, data: Any, flags: int = 0) -> int:
        return self._send(held, data, lambda: int(real(sock, data, flags)))

    def sendall(self, held: Held, real: Any, sock: Any, data: Any, flags: int = 0) -> None:
        self._send(held, data, lambda: real(sock, data, flags))

    def sendmsg(self, held: Held, real: Any, sock: Any, buffers: Any, *rest: Any) -> int:
        parts = [bytes(part) for part in buffers]
        return self._send(held, b"".join(parts), lambda: int(real(sock, parts, *rest)))

    def _send(self, held: Held, data: Any, send: Callable[[], int | None]) -> int:
        # The first words of a TLS object go out through the socket that will carry it.
        self._connections.bind_greeting(held, data)
        return held.send(data, send)

    def recv(self, held: Held, real: Any, sock: Any, size: int, flags: int = 0) -> Any:
        peek = bool(flags & socket.MSG_PEEK)
        return held.receive(sock, size, lambda: real(sock, size, flags), peek=peek)

    recvfrom = recv

    def recv_into(
        self, held: Held, real: Any, sock: Any, buffer: Any, nbytes: int = 0, flags: int = 0
    ) -> int:
        size = nbytes or memoryview(buffer).nbytes

        def live() -> bytes:
            count = int(real(sock, buffer, nbytes, flags))
            with memoryview(buffer) as view, view.cast("B") as octets:
                return bytes(octets[:count])

        peek = bool(flags & socket.MSG_PEEK)
        return fill_buffer(buffer, held.receive(sock, size, live, peek=peek))

    def recvfrom_into(self, _held: Held, _real: Any, sock: Any, buffer: Any, *rest: Any) -> Any:
        size = rest[0] if rest and rest[0] else memoryview(buffer).nbytes
        data, address = self._kind.recvfrom(sock, size)
        return fill_buffer(buffer, data), address

    def recvmsg(
        self, held: Held, real: Any, sock: Any, size: int, ancillary: int = 0, flags: int = 0
    ) -> tuple[Any, list[Any], int, None]:
        if ancillary or sock.type & 0xF != socket.SOCK_STREAM:
            raise EffectRefused(
                "socket.recvmsg() was called for attachments or a datagram, on a connection that is recorded.",
                "Expected recvmsg() of a stream without room for attachments, recv() or recvfrom(): attachments have no "
                "recorded form.",
                "Declare the function that needs it as an effect: @twice.effect.",
                name="socket.recvmsg",
            )
        peek = bool(flags & socket.MSG_PEEK)
        data = held.receive(sock, size, lambda: real(sock, size, 0, flags)[0], peek=peek)
        return data, [], 0, None

    def recvmsg_into(
        self, _held: Held, _real: Any, sock: Any, buffers: Any, ancillary: int = 0, flags: int = 0
    ) -> tuple[int, list[Any], int, None]:
        views = [memoryview(buffer).cast("B") for buffer in buffers]
        size = sum(view.nbytes for view in views)
        data, attached, told, address = self._kind.recvmsg(sock, size, ancillary, flags)
        left = memoryview(data)
        for view in views:
            part, left = left[: view.nbytes], left[view.nbytes :]
            view[: part.nbytes] = part
        return len(data), attached, told, address

    def getpeername(self, held: Held, real: Any, sock: Any) -> Any:
        return given(held.about("getpeername", lambda: outcome_of(real, sock), _NOT_CONNECTED))

    def getsockname(self, held: Held, real: Any, sock: Any) -> Any:
        return given(held.about("getsockname", lambda: outcome_of(real, sock), _NOT_CONNECTED))

    def getsockopt(
        self, held: Held, real: Any, sock: Any, level: int, name: int, *size: Any
    ) -> Any:
        if (level, name) == (socket.SOL_SOCKET, socket.SO_ERROR):
            return held.read_error(lambda: int(real(sock, level, name)))
        if (level, name) == (socket.SOL_SOCKET, socket.SO_TYPE):
            return int(sock.type)
        what = ("getsockopt", int(level), int(name))
        return given(held.about(what, lambda: outcome_of(real, sock, level, name, *size), _NOTHING))

    def setsockopt(self, held: Held, real: Any, sock: Any, *args: Any) -> None:
        if not held.is_replayed:
            real(sock, *args)

    shutdown = setsockopt


def _asked(sock: Any, address: Any) -> tuple[object, ...]:
    """Return the arguments of a connection in plain values: family, type and address."""
    if isinstance(address, os.PathLike):
        address = os.fspath(address)
    whole = tuple(address) if isinstance(address, tuple | list) else address
    return (int(sock.family), int(sock.type) & 0xF, whole)
