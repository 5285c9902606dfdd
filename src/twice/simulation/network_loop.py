"""The methods of a simulated loop that make connections and servers, and the servers.

Invariant: an argument that would reach a real network is refused, never ignored.
"""

from __future__ import annotations

import asyncio
import socket
from asyncio import events
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from twice.simulation import boundary
from twice.simulation.addresses import LOCAL_NAMES, Address, SocketInMemory, normalize
from twice.simulation.network import Network

if TYPE_CHECKING:
    from twice.simulation.loop import SimulatedLoop
    from twice.simulation.network import SimulatedTransport


class NetworkLoop(boundary.RefusingLoop):
    """The methods of a loop that make connections and servers."""

    network: Network

    async def create_connection(
        self,
        protocol_factory: Callable[[], Any],
        host: str | None = None,
        port: int | str | None = None,
        *,
        ssl: object = None,
        sock: socket.socket | None = None,
        **options: object,
    ) -> tuple[Any, Any]:
        """Connect to a server of this loop; ``sock`` is one that ``sock_connect`` was called with."""
        del options
        if ssl:
            raise boundary.make_refusal("ssl")
        address = normalize(host, int(port or 0))
        if sock is not None:
            known = self._addresses.pop(sock.fileno(), None)
            if known is None:
                raise boundary.make_refusal("socket.connect")
            sock.close()
            address = known
        return await self.network.connect(protocol_factory, address)

    async def create_server(
        self,
        protocol_factory: Callable[[], Any],
        host: str | Sequence[str] | None = None,
        port: int | None = None,
        *,
        ssl: object = None,
        sock: object = None,
        start_serving: bool = True,
        **options: object,
    ) -> SimulatedServer:
        """Make a server; of several hosts the first counts, and without a port it gets one."""
        del options
        if ssl:
            raise boundary.make_refusal("ssl")
        if sock is not None:
            raise boundary.make_refusal("socket.bind")
        if host is not None and not isinstance(host, str):
            host = host[0] if host else None
        return await self._make_server(
            protocol_factory, normalize(host, port or self.network.next_port()), start_serving
        )

    async def create_unix_connection(
        self,
        protocol_factory: Callable[[], Any],
        path: Any = None,
        *,
        ssl: object = None,
        **options: object,
    ) -> tuple[Any, Any]:
        """Connect to a server of this loop by its path."""
        del options
        if ssl:
            raise boundary.make_refusal("ssl")
        return await self.network.connect(protocol_factory, str(path))

    async def create_unix_server(
        self,
        protocol_factory: Callable[[], Any],
        path: Any = None,
        *,
        ssl: object = None,
        start_serving: bool = True,
        **options: object,
    ) -> SimulatedServer:
        """Make a server with a path, which is no file."""
        del options
        if ssl:
            raise boundary.make_refusal("ssl")
        return await self._make_server(protocol_factory, str(path), start_serving)

    async def _make_server(
        self, factory: Callable[[], Any], address: Address, start_serving: bool
    ) -> SimulatedServer:
        server = SimulatedServer(self, factory, address)
        if start_serving:
            await server.start_serving()
        return server

    @property
    def _addresses(self) -> dict[int, Address]:
        return self.__dict__.setdefault("_socket_addresses", {})  # type: ignore[no-any-return]

    async def sock_connect(self, sock: socket.socket, address: Any) -> None:
        """Remember where a socket is to lead; ``create_connection`` connects it in memory."""
        is_path = isinstance(address, str)
        self._addresses[sock.fileno()] = address if is_path else normalize(*address[:2])

    async def getaddrinfo(
        self,
        host: Any,
        port: Any,
        *,
        family: int = 0,
        type: int = 0,  # noqa: A002
        proto: int = 0,
        flags: int = 0,
    ) -> list[tuple[Any, ...]]:
        """Return one address: the name of the host itself."""
        del family, type, proto, flags
        name = host.decode() if isinstance(host, bytes) else host
        address = ("127.0.0.1" if name is None or name in LOCAL_NAMES else name, int(port or 0))
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", address)]

    async def getnameinfo(self, sockaddr: Any, flags: int = 0) -> tuple[str, str]:
        """Return the address as a name."""
        del flags
        return str(sockaddr[0]), str(sockaddr[1])


class SimulatedServer(events.AbstractServer):
    """A server whose connections are in memory."""

    def __init__(self, loop: SimulatedLoop, factory: Callable[[], Any], address: Address) -> None:
        self._loop, self.factory, self._address = loop, factory, address
        self.context = copy_context()  # of its connections, as on a real loop
        self._open: list[SimulatedTransport] = []
        self._is_serving = self._is_closed = False
        self._forever: asyncio.Future[None] | None = None
        self._waiters: list[asyncio.Future[None]] = []

    @property
    def sockets(self) -> tuple[SocketInMemory, ...]:
        """Return stand-ins of the sockets that it would listen at."""
        return () if self._is_closed else (SocketInMemory(self._address),)

    def get_loop(self) -> SimulatedLoop:
        """Return the loop."""
        return self._loop

    def is_serving(self) -> bool:
        """Return whether it takes connections."""
        return self._is_serving

    def attach(self, transport: SimulatedTransport) -> None:
        """Count a connection."""
        self._open.append(transport)

    def detach(self, transport: SimulatedTransport) -> None:
        """Count a connection no more."""
        self._open.remove(transport)
        self._wake()

    def _wake(self) -> None:
        if self._is_closed and not self._open:
            for waiter in self._waiters:
                if not waiter.done():
                    waiter.set_result(None)
            self._waiters.clear()

    async def start_serving(self) -> None:
        """Take connections."""
        if not self._is_serving:
            self._is_serving = True
            self._loop.network.listen(self._address, self)

    async def serve_forever(self) -> None:
        """Take connections until it is closed or cancelled."""
        await self.start_serving()
        self._forever = self._loop.create_future()
        try:
            await self._forever
        finally:
            self._forever = None
            self.close()

    def close(self) -> None:
        """Take no more connections; those that are open go on."""
        if self._is_closed:
            return
        self._is_closed, self._is_serving = True, False
        self._loop.network.unlisten(self._address)
        if self._forever is not None and not self._forever.done():
            self._forever.cancel()
        self._wake()

    async def wait_closed(self) -> None:
        """Wait until it is closed and its connections have ended."""
        if self._is_closed and not self._open:
            return
        waiter = self._loop.create_future()
        self._waiters.append(waiter)
        await waiter

    def close_clients(self) -> None:
        """Close the connections."""
        for each in list(self._open):
            each.close()

    def abort_clients(self) -> None:
        """Break the connections."""
        for each in list(self._open):
            each.abort()
