"""Streams in memory behave as streams over loopback, in virtual time."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from simulations import run_fast

from twice.simulation.loop import SimulatedLoop
from twice.simulation.network import Network

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def find_network() -> Network:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimulatedLoop)
    return loop.network


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()
    await writer.wait_closed()


async def ask(port: int, *lines: bytes) -> list[bytes]:
    reader, writer = await asyncio.open_connection("localhost", port)
    answers = []
    for line in lines:
        writer.write(line)
        answers.append(await reader.readline())
    writer.close()
    await writer.wait_closed()
    return answers


async def serve(handle: Handle, port: int = 0) -> tuple[asyncio.AbstractServer, int]:
    server = await asyncio.start_server(handle, "127.0.0.1", port)
    return server, server.sockets[0].getsockname()[1]


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_lines_go_there_and_back(seed: int | None):
    async def main() -> tuple[Any, float]:
        server, port = await serve(echo)
        async with server:
            answers = await asyncio.gather(*(ask(port, b"a\n", b"%d\n" % n) for n in range(3)))
        return answers, asyncio.get_running_loop().time()

    assert run_fast(main, seed) == ([[b"A\n", b"0\n"], [b"A\n", b"1\n"], [b"A\n", b"2\n"]], 0)


def test_chunks_take_the_latency_and_stay_in_order():
    async def main() -> tuple[bytes, float]:
        async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for n in range(5):
                writer.write(b"%d" % n)
            writer.write_eof()

        find_network().latency_s = (1, 2)
        _, port = await serve(talk)
        reader, writer = await asyncio.open_connection("localhost", port)
        text = await reader.read()
        writer.close()
        return text, asyncio.get_running_loop().time()

    text, took_s = run_fast(main)
    assert text == b"01234"
    assert 5 < took_s < 20
    assert (text, took_s) == run_fast(main)


def test_a_port_where_nobody_listens_refuses():
    async def main() -> None:
        server, port = await serve(echo)
        server.close()
        await server.wait_closed()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("localhost", port)
        await serve(echo, port)
        with pytest.raises(OSError, match="in use"):
            await serve(echo, port)

    run_fast(main)


def test_a_cut_address_delivers_nothing_until_it_is_healed():
    async def main() -> tuple[bytes, float, float]:
        loop, network = asyncio.get_running_loop(), find_network()
        _, port = await serve(echo)
        reader, writer = await asyncio.open_connection("localhost", port)
        network.cut("localhost", port)
        writer.write(b"held\n")
        later = asyncio.create_task(ask(port, b"x\n"))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(later), 5)
        cut_s = loop.time()
        network.heal("localhost", port)
        network.heal("localhost", port)
        line = await reader.readline()
        assert await later == [b"X\n"]
        writer.close()
        return line, cut_s, loop.time()

    assert run_fast(main) == (b"HELD\n", 5, 5)


def test_dropped_connections_end_with_an_error_on_both_sides():
    async def main() -> list[str]:
        told: list[str] = []

        async def wait(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            try:
                await reader.read()
            except ConnectionResetError:
                told.append("server")

        _, port = await serve(wait)
        reader, _ = await asyncio.open_connection("localhost", port)
        await asyncio.sleep(1)
        find_network().drop("localhost", port)
        try:
            await reader.read()
        except ConnectionResetError:
            told.append("client")
        await asyncio.sleep(1)
        return sorted(told)

    assert run_fast(main) == ["client", "server"]


@pytest.mark.parametrize(
    ("is_read", "is_closed", "expected"),
    [(True, False, b"y\n"), (True, True, b"y\n"), (False, False, ConnectionResetError)],
)
def test_an_abort_resets_the_other_side_only_if_it_was_not_read(
    is_read: bool, is_closed: bool, expected: bytes | type[Exception]
):
    async def main() -> None:
        async def abort(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"y\n")
            if not is_read:
                writer.transport.pause_reading()  # type: ignore[attr-defined]
            await asyncio.sleep(0.1)
            if is_closed:
                writer.close()
            writer.transport.abort()
            await writer.wait_closed()

        _, port = await serve(abort)
        reader, writer = await asyncio.open_connection("localhost", port)
        await asyncio.sleep(0.05)
        writer.write(b"x\n")
        if isinstance(expected, bytes):
            assert await reader.read() == expected
        else:
            with pytest.raises(expected):
                await reader.read()

    run_fast(main)


def test_an_abort_ends_its_side_though_the_other_one_does_not_hear_of_it():
    async def main() -> bytes:
        _, port = await serve(echo)
        reader, writer = await asyncio.open_connection("localhost", port)
        find_network().cut("localhost", port)
        writer.write(b"x\n")
        writer.transport.abort()
        await writer.wait_closed()
        return await reader.read()

    assert run_fast(main) == b""


def test_a_slow_reader_holds_the_writer_back():
    async def main() -> tuple[int, int]:
        sizes: list[int] = []

        async def send(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for _ in range(50):
                writer.write(bytes(10_000))
                await writer.drain()
                sizes.append(writer.transport.get_write_buffer_size())
            writer.close()

        _, port = await serve(send)
        reader, writer = await asyncio.open_connection("localhost", port, limit=20_000)
        await asyncio.sleep(1)
        before = len(sizes)
        total = len(await reader.read())
        writer.close()
        return before, total

    before, total = run_fast(main)
    assert before < 50
    assert total == 500_000


def test_a_half_closed_connection_still_answers():
    async def main() -> bytes:
        async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"%d" % len(await reader.read()))
            writer.close()

        _, port = await serve(count)
        reader, writer = await asyncio.open_connection("localhost", port)
        writer.write(b"four")
        writer.write_eof()
        with pytest.raises(RuntimeError, match="write_eof"):
            writer.write(b"more")
        answer = await reader.read()
        writer.close()
        return answer

    assert run_fast(main) == b"4"


def test_buffered_protocols_and_paths():
    class Kept(asyncio.BufferedProtocol):
        def __init__(self) -> None:
            self.buffer, self.got = bytearray(3), b""

        def get_buffer(self, sizehint: int) -> bytearray:
            return self.buffer

        def buffer_updated(self, nbytes: int) -> None:
            self.got += self.buffer[:nbytes]

    async def main() -> bytes:
        loop, kept = asyncio.get_running_loop(), Kept()
        server = await loop.create_unix_server(lambda: kept, "/sock")
        transport, _ = await loop.create_unix_connection(asyncio.Protocol, "/sock")
        transport.write(b"ten bytes!")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        transport.close()
        server.close()
        await server.wait_closed()
        return kept.got

    assert run_fast(main) == b"ten bytes!"


def test_serving_ends_when_it_is_cancelled():
    async def main() -> list[bytes]:
        server, port = await serve(echo)
        serving = asyncio.create_task(server.serve_forever())
        answers = await ask(port, b"x\n")
        serving.cancel()
        await asyncio.wait([serving])
        assert not server.is_serving()
        assert server.sockets == ()
        return answers

    assert run_fast(main) == [b"X\n"]


def test_a_connection_begins_before_its_first_chunk_in_any_order():
    async def main() -> bytes:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await reader.readexactly(2))

        await asyncio.start_server(answer, "127.0.0.1", 80)
        reader, writer = await asyncio.open_connection("127.0.0.1", 80)
        writer.write(b"hi")
        return await reader.readexactly(2)

    assert {run_fast(main, seed) for seed in range(40)} == {b"hi"}


def test_a_connection_has_a_socket_with_both_addresses():
    async def main() -> None:
        server = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 80)
        _, writer = await asyncio.open_connection("127.0.0.1", 80)
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0
        assert sock.getpeername() == ("127.0.0.1", 80)
        assert sock.getsockname() == writer.get_extra_info("sockname")
        with pytest.raises(OSError, match="no other side"):
            server.sockets[0].getpeername()

    run_fast(main)
