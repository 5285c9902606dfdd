"""Connections in memory: what ``open_connection`` and ``start_server`` reach inside a simulated loop.

A written chunk arrives whole, as a step of its own, after the latency of the network, and chunks of one direction
arrive in order. Ports and paths are the network's own. Names of hosts stand for themselves. A cut address
takes no connection and delivers nothing until it is healed.

Not simulated: TLS, datagrams, limits of bandwidth, chunks that arrive in pieces.

Invariant: nothing here touches a socket, and the moment of each arrival follows from the loop's order of steps.
"""

from __future__ import annotations

import asyncio
import random
from asyncio import transports
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any

from twice.simulation.addresses import Address, SocketInMemory, name_address, normalize
from twice.simulation.hosts import HostLife, find_life

if TYPE_CHECKING:
    from twice.simulation.loop import SimulatedLoop
    from twice.simulation.network_loop import SimulatedServer

_EPHEMERAL_PORT = 49152
_CLIENT_HOST = "127.0.0.1"
_DEFAULT_SEED = 0


class Network:
    """The network of one loop.

    Attributes:
        latency_s: shortest and longest time in virtual seconds that a chunk takes; drawn from ``seed``.
        seed: of the latencies.
    """

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop
        self.latency_s = (0.0, 0.0)
        self.seed = _DEFAULT_SEED
        self._random: random.Random | None = None
        self._listening: dict[Address, SimulatedServer] = {}
        self._cut: dict[Address, asyncio.Event] = {}
        self._connections: list[SimulatedTransport] = []
        self._port = _EPHEMERAL_PORT

    def cut(self, host: str, port: int) -> None:
        """Cut an address off: new connections wait, and nothing is delivered, until ``heal``."""
        self._cut.setdefault(normalize(host, port), asyncio.Event())

    def heal(self, host: str, port: int) -> None:
        """Connect an address again, and deliver what was held back."""
        self._heal(normalize(host, port))

    def _heal(self, address: Address) -> None:
        healed = self._cut.pop(address, None)
        if healed is not None:
            healed.set()
            for each in self._connections:
                each.deliver_later()

    def drop(self, host: str, port: int) -> None:
        """Break all connections of an address: both sides get ``ConnectionResetError``."""
        self.drop_address(name_address(normalize(host, port)))

    def list_addresses(self) -> list[str]:
        """Name the addresses at which servers listen, in the order in which they began to."""
        return list(map(name_address, self._listening))

    def drop_address(self, name: str) -> None:
        """Break all connections of an address, by its name."""
        for each in list(self._connections):
            if name_address(each.address) == name:
                each.lose(ConnectionResetError("the simulated network dropped the connection"))

    def cut_for(self, name: str, seconds: float) -> None:
        """Cut an address off, by its name, and heal it after a virtual time."""
        for address in self._listening:
            if name_address(address) == name and address not in self._cut:
                self._cut[address] = asyncio.Event()
                self._loop.call_later(seconds, self._heal, address, context=Context())

    def end_life(self, life: HostLife) -> None:
        """Break the connections of a host that has crashed, and take its servers away; it is told of nothing."""
        for each in list(self._connections):
            if each.life is life:
                each.vanish()
        for address, server in list(self._listening.items()):
            if find_life(server.context) is life:
                del self._listening[address]

    def is_cut(self, address: Address) -> bool:
        """Return whether an address is cut off."""
        return address in self._cut

    def draw_latency_s(self) -> float:
        """Draw how long the next chunk takes, in seconds."""
        shortest, longest = self.latency_s
        if longest <= 0:
            return 0.0
        if self._random is None:
            self._random = random.Random(self.seed)  # noqa: S311
        return self._random.uniform(shortest, longest)

    def next_port(self) -> int:
        """Return a port that nobody has."""
        self._port += 1
        return self._port - 1

    def listen(self, address: Address, server: SimulatedServer) -> None:
        """Let a server take connections."""
        if address in self._listening:
            raise OSError(98, f"the simulated address {address} is in use already")
        self._listening[address] = server

    def unlisten(self, address: Address) -> None:
        """Let no server take connections any more."""
        self._listening.pop(address, None)

    async def connect(self, factory: Callable[[], Any], address: Address) -> tuple[Any, Any]:
        """Connect to a server of this loop; return the client's transport and protocol."""
        while (cut := self._cut.get(address)) is not None:
            await cut.wait()
        if latency := self.draw_latency_s():
            await asyncio.sleep(latency)
        server = self._listening.get(address)
        if server is None and not isinstance(address, str):
            server = self._listening.get(("", address[1]))
        if server is None:
            raise ConnectionRefusedError(111, f"nothing listens at the simulated address {address}")
        peer: Address = "" if isinstance(address, str) else (_CLIENT_HOST, self.next_port())
        protocol = factory()
        client = SimulatedTransport(
            self._loop, address, protocol, copy_context(), sockname=peer, peername=address
        )
        handler = server.context.copy().run(server.factory)
        accepted = SimulatedTransport(
            self._loop,
            address,
            handler,
            server.context,
            sockname=address,
            peername=peer,
            server=server,
        )
        client.peer, accepted.peer = accepted, client
        self._connections += [client, accepted]
        self._loop.call_soon(accepted.begin, context=accepted.context)
        client.begin()
        return client, protocol

    def forget(self, transport: SimulatedTransport) -> None:
        """Forget a connection that has ended."""
        with suppress(ValueError):
            self._connections.remove(transport)


class SimulatedTransport(transports._FlowControlMixin, transports.Transport):
    """One side of a connection in memory."""

    def __init__(
        self,
        loop: SimulatedLoop,
        address: Address,
        protocol: Any,
        context: Context,
        *,
        sockname: Address,
        peername: Address,
        server: SimulatedServer | None = None,
    ) -> None:
        names = {"sockname": sockname, "peername": peername}
        super().__init__({**names, "socket": SocketInMemory(sockname, peername)}, loop)
        self.address = address
        self.peer: SimulatedTransport | None = None
        # What happens to a connection happens in the context of who has it, as on a real loop.
        self.context, self.life = context, find_life(context)
        self._loop: SimulatedLoop = loop
        self._protocol = protocol
        self._server = server
        self._sent: deque[bytes | None] = deque()  # None ends it
        self._size = 0
        self._arrives_s = 0.0
        self._is_begun = False
        self._is_due = self._is_closing = self._is_lost = self._is_ended = self._is_paused = False
        if server is not None:
            server.attach(self)

    def begin(self) -> None:
        """Tell the protocol of its connection, before anything else that happens to it."""
        if not self._is_begun:
            self._is_begun = True
            self._protocol.connection_made(self)
            if self.peer is not None:
                self.peer.deliver_later()

    def get_protocol(self) -> Any:
        """Return the protocol."""
        return self._protocol

    def set_protocol(self, protocol: Any) -> None:
        """Set the protocol, as an upgrade to another one does."""
        self._protocol = protocol

    def is_closing(self) -> bool:
        """Return whether it was closed."""
        return self._is_closing

    def is_reading(self) -> bool:
        """Return whether arriving chunks are handed to the protocol."""
        return not self._is_paused and not self._is_closing

    def pause_reading(self) -> None:
        """Hold back arriving chunks."""
        self._is_paused = True

    def resume_reading(self) -> None:
        """Hand on arriving chunks again."""
        self._is_paused = False
        if self.peer is not None:
            self.peer.deliver_later()

    def get_write_buffer_size(self) -> int:
        """Return how many bytes have not arrived."""
        return self._size

    def can_write_eof(self) -> bool:
        """Return True."""
        return True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send a chunk."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data is a bytes-like object, not {type(data).__name__!r}")
        if self._is_ended:
            raise RuntimeError("Cannot call write() after write_eof()")
        if data and not self._is_closing:
            self._sent.append(bytes(data))
            self._size += len(data)
            self._maybe_pause_protocol()  # type: ignore[attr-defined]  # of the mixin, which has no types
            self.deliver_later()

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        """Send several chunks as one."""
        self.write(b"".join(list_of_data))

    def write_eof(self) -> None:
        """End the sending."""
        if not self._is_ended and not self._is_closing:
            self._is_ended = True
            self._sent.append(None)
            self.deliver_later()

    def close(self) -> None:
        """Send what is left, then end the connection."""
        if self._is_closing:
            return
        self._is_closing = True
        if not self._is_ended:
            self._is_ended = True
            self._sent.append(None)
        self.deliver_later()

    def abort(self) -> None:
        """End this side at once. As with a kernel, what was sent arrives; unread chunks reset the other side."""
        peer = self.peer
        if peer is not None and any(peer._sent):
            self.lose(None)
            peer.lose(ConnectionResetError("the other side aborted the simulated connection"))
        else:
            self.close()
            self._end(None)

    def lose(self, error: Exception | None) -> None:
        """End this side and forget what it has sent; its protocol is told as a step."""
        self._sent.clear()
        self._loop.network.forget(self)
        self._end(error)

    def vanish(self) -> None:
        """End this side without a word to its protocol; the other side gets ``ConnectionResetError``."""
        self._is_closing = self._is_lost = True
        self.lose(None)
        if self.peer is not None:
            self.peer.lose(ConnectionResetError("the other side's simulated host crashed"))

    def _end(self, error: Exception | None) -> None:
        self._is_closing = True
        if not self._is_lost:
            self._is_lost = True
            self._loop.call_soon(self._tell_lost, error, context=self.context)

    def _tell_lost(self, error: Exception | None) -> None:
        self.begin()
        self._protocol.connection_lost(error)
        if self._server is not None:
            self._server.detach(self)

    def deliver_later(self) -> None:
        """Let the next chunk arrive as a step, after the network's latency."""
        if self._is_due or not self._sent:
            return
        self._is_due = True
        latency_s = self._loop.network.draw_latency_s()
        context = self.context if self.peer is None else self.peer.context
        if latency_s:
            self._loop.call_later(latency_s, self._deliver, context=context)
        else:
            self._loop.call_soon(self._deliver, context=context)

    def _deliver(self) -> None:
        self._is_due = False
        peer = self.peer
        if (
            not self._sent
            or peer is None
            or not peer._is_begun
            or self._loop.network.is_cut(self.address)
        ):
            return
        if peer._is_paused and not peer._is_closing:
            return
        chunk = self._sent.popleft()
        if chunk is not None:
            self._size -= len(chunk)
            self._maybe_resume_protocol()  # type: ignore[attr-defined]
            if not peer._is_closing:
                peer._receive(chunk)
        elif self._is_closing:
            self.lose(None)
            if not peer._is_closing:
                peer._receive_end()
            elif not peer._sent:
                peer.lose(None)
        elif not peer._is_closing:
            peer._receive_end()
        self.deliver_later()

    def _receive(self, chunk: bytes) -> None:
        if isinstance(self._protocol, asyncio.BufferedProtocol):
            while chunk:
                buffer = memoryview(self._protocol.get_buffer(len(chunk)))
                count = min(len(buffer), len(chunk))
                buffer[:count] = chunk[:count]
                chunk = chunk[count:]
                self._protocol.buffer_updated(count)
        else:
            self._protocol.data_received(chunk)

    def _receive_end(self) -> None:
        if not self._protocol.eof_received():
            self.close()
