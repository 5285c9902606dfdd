"""A recorded loop replays with its order, with every peer gone; what it cannot record is refused by its name."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

import twice
from programs import call, recorded, verified, write
from twice.errors import SessionMisuse, SimulationRefused
from twice.recorder.effects.events import LENIENT
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import Setup

JOBS = """
import asyncio, random

async def work(n):
    await asyncio.sleep(random.random() / 50)
    print(n, await asyncio.to_thread(sum, range(n * 1000)), flush=True)
    return n

async def main():
    await asyncio.gather(*map(work, range(6)))
    print([await each for each in asyncio.as_completed(map(work, range(4)))])
"""
ECHO = """
import asyncio

async def serve(reader, writer):
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()

async def ask(n, port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for i in range(3):
        writer.write(b"hello %d %d\\n" % (n, i))
        print(await reader.readline(), flush=True)
    writer.close()
    await writer.wait_closed()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    await asyncio.gather(*(ask(n, port) for n in range(4)))
    server.close()
    await server.wait_closed()
"""
DATAGRAMS = """
import asyncio

class Server(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        self.transport.sendto(data.upper(), address)

class Client(asyncio.DatagramProtocol):
    def __init__(self):
        self.got = asyncio.Queue()

    def datagram_received(self, data, address):
        self.got.put_nowait(data)

async def main():
    loop = asyncio.get_running_loop()
    server, _ = await loop.create_datagram_endpoint(Server, local_addr=("127.0.0.1", 0))
    address = server.get_extra_info("sockname")
    client, protocol = await loop.create_datagram_endpoint(Client, remote_addr=address)
    for n in range(3):
        client.sendto(b"hello %d" % n)
        print(await protocol.got.get(), flush=True)
    client.close()
    server.close()
"""
PIPES = """
import asyncio, sys

LINES = "for n in range(5): print(n, flush=True)"

async def main():
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", LINES, stdout=asyncio.subprocess.PIPE)
    while piece := await process.stdout.read(1000):
        print(piece, flush=True)
    print(await process.wait())
"""
SIGNALS = """
import asyncio, os, signal

async def main():
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, stopped.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await stopped.wait()
    print("stopped")
"""

OWN_THREADS = """
import asyncio, socket, threading, urllib.request

def answer(listening):
    accepted, _ = listening.accept()
    with accepted:
        while accepted.recv(1000):
            for _ in range(4):
                accepted.sendall(b"x" * 10_000)

async def serve(reader, writer):
    while (await reader.readline()).strip():
        pass
    writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 3\\r\\n\\r\\nabc")
    await writer.drain()
    writer.close()

async def main():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=answer, args=(listening,), daemon=True).start()
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        for _ in range(3):
            writer.write(b"?")
            print(len(await reader.readexactly(40_000)), flush=True)
        writer.close()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    def ask():
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as reply:
            return reply.read()

    print(await asyncio.gather(*(asyncio.to_thread(ask) for _ in range(2))), flush=True)
    server.close()
"""
HANDLER = """
import asyncio, os, signal, threading

async def main():
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    signal.signal(signal.SIGUSR1, lambda *_: loop.call_soon_threadsafe(stopped.set))
    signal.raise_signal(signal.SIGUSR1)
    await stopped.wait()
    print("stopped")
"""


@pytest.mark.integration
@pytest.mark.parametrize("source", [JOBS, ECHO, DATAGRAMS, PIPES, SIGNALS, OWN_THREADS, HANDLER])
def test_a_program_replays_with_its_order(tmp_path: Path, source: str):
    statement = verified(tmp_path, source, records_loop=True)

    assert statement.result == "PASS", statement.to_markdown()
    concurrency = statement.to_json()["concurrency"]
    assert concurrency["asyncio"] == {"strategy": "recorded", "grade": "B2"}


@pytest.mark.integration
def test_a_forked_child_that_goes_on_with_the_loop_is_no_failure(tmp_path: Path):
    source = """
    import asyncio, os

    async def main():
        await asyncio.sleep(0.01)
        if pid := os.fork():
            os.waitpid(pid, 0)
            print("the child has ended", flush=True)
        await asyncio.sleep(0.01)
    """

    assert verified(tmp_path, source, records_loop=True).result in {"PASS", "UNKNOWN"}


CLIENT = """
import asyncio

async def main():
    reader, writer = await asyncio.open_connection("127.0.0.1", {port})
    writer.write(b"GET / HTTP/1.1\\r\\nAuthorization: Bearer {secret}\\r\\n\\r\\n")
    print(len(await reader.read()))
    writer.close()
"""
SECRET = "mF_9.B5f-4.1JqM-secret-of-the-client"


@contextmanager
def serving(reply: bytes) -> Iterator[int]:
    """Serve one connection on a thread of this process; the port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            accepted, _ = listening.accept()
            with accepted:
                accepted.recv(1000)
                accepted.sendall(reply)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        thread.join()


@pytest.mark.integration
def test_a_client_replays_when_its_server_is_gone_and_its_secret_is_not_written(tmp_path: Path):
    reply = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 100_000
    with serving(reply) as port:
        source = CLIENT.format(port=port, secret=SECRET)
        path = recorded(tmp_path, source, records_loop=True).path

    assert {twice.verify(path).result for _ in range(2)} == {"PASS"}
    with RunRecord.open(path) as record:
        written = b"".join(payload for _, _, payload in record.locate(LENIENT))
    assert b"GET /" in written
    assert SECRET.encode() not in written


@pytest.mark.integration
def test_a_program_that_sends_other_bytes_fails_and_both_are_named(tmp_path: Path):
    path = recorded(tmp_path, ECHO, records_loop=True).path
    write(tmp_path, ECHO.replace("hello %d %d", "hullo %d %d"))

    statement = twice.verify(path, informational=True)

    assert statement.result == "FAIL"
    text = statement.to_markdown()
    assert "hello 0 0" in text
    assert "hullo 0 0" in text


@pytest.mark.integration
def test_another_byte_deep_in_the_last_message_fails(tmp_path: Path):
    source = """
    import asyncio

    async def main():
        reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
        writer.write(b"x" * 20_000 + b"y" + b"x" * 20_000)
        await asyncio.sleep(0)
    """
    with serving(b"") as port:
        source = source.replace("PORT", str(port))
        path = recorded(tmp_path, source, records_loop=True).path
    assert twice.verify(path).result == "PASS"
    write(tmp_path, source.replace('b"y"', 'b"z"'))

    assert twice.verify(path, informational=True).result == "FAIL"


@pytest.mark.integration
def test_who_waits_for_whom_is_said_where_nothing_can_go_on(tmp_path: Path):
    source = """
    import asyncio

    async def take(one, other):
        async with one:
            await asyncio.sleep(0.01)
            async with other:
                print("never")

    async def main():
        await asyncio.to_thread(print, "a job")
        one, other = asyncio.Lock(), asyncio.Lock()
        await asyncio.gather(take(one, other), take(other, one))
    """

    statement = verified(tmp_path, source, records_loop=True)

    assert statement.result == "PASS", statement.to_markdown()
    with RunRecord.open(statement.path) as record:
        message = str((record.ending or {})["exception"])
    assert "E-SCHEDULE-002" in message
    assert (
        "main/task:0/task:0 waits at program.py:7 in Lock.acquire for main/task:0/task:1" in message
    )


OTHER_LOOPS = {
    "of its own": (
        "asyncio.set_event_loop_policy(Policy())\n    asyncio.run(asyncio.sleep(0))",
        "UnixSelectorEventLoop",
    ),
    "trio": ("import trio\n    trio.run(trio.sleep, 0)", "trio"),
    "second": ("asyncio.run(beside())", "second event loop"),
    "TLS": ("asyncio.run(serve_tls())", "serves TLS"),
}
_ANY_LOOP = """
import asyncio, ssl, threading

class Policy(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self):
        return asyncio.SelectorEventLoop()

async def beside():
    thread = threading.Thread(target=asyncio.run, args=(asyncio.sleep(0),))
    thread.start()
    await asyncio.Event().wait()

async def serve_tls():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server = await asyncio.start_server(print, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    await asyncio.open_connection("127.0.0.1", port)
    await asyncio.Event().wait()

def main(run):
    BODY
"""


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("name", OTHER_LOOPS)
def test_what_is_not_recorded_is_refused_by_its_name(tmp_path: Path, name: str):
    body, told = OTHER_LOOPS[name]

    with pytest.raises(SimulationRefused, match=told):
        recorded(tmp_path, _ANY_LOOP.replace("BODY", body), records_loop=True)


@pytest.mark.integration
def test_a_branch_of_a_recorded_loop_is_refused(tmp_path: Path):
    path = recorded(tmp_path, JOBS, records_loop=True).path

    with pytest.raises(SessionMisuse, match="event loop"):
        twice.branch(path, at=0, out=tmp_path / "b.twice")


def test_the_policy_reads_back_what_it_prints(tmp_path: Path):
    with twice.recording(tmp_path / "a.twice", seed=1, records_loop=True):
        pass
    with RunRecord.open(tmp_path / "a.twice") as record:
        assert record.identity["setup"]["policies"]["loop"] == "recorded"
        assert Setup.from_json(record.identity["setup"]).records_loop


def test_the_command_line_takes_the_policy(tmp_path: Path):
    done = call("record", "a.py", "--loop", "uv", cwd=tmp_path)

    assert done.returncode == 2
    assert "'own', 'recorded', 'simulated'" in done.stderr
