"""Every function of the table is called: what is simulated works, what is refused raises and names itself."""

from __future__ import annotations

import asyncio
import importlib
import os
import queue
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from simulations import run_fast

from twice.errors import SimulationRefused
from twice.simulation.boundary import read_table

Loop = Any
Call = Callable[[Loop], Awaitable[object] | object]


async def _from_a_thread(loop: Loop) -> None:
    call = OTHER_THREAD.submit(loop.call_soon_threadsafe, print)
    while not call.done():
        pass  # to wait for another thread is refused as well
    call.result()


def _other_factory(loop: Loop) -> object:
    loop.set_task_factory(lambda loop, coro, **options: asyncio.Task(coro, loop=loop, **options))
    main = asyncio.sleep(0)
    try:
        return loop.create_task(main)
    finally:
        main.close()
        loop.set_task_factory(None)


OTHER_THREAD = ThreadPoolExecutor(1)
OTHER_THREAD.submit(int).result()  # so that its thread is there before a loop runs
PLAIN = socket.socket()
UDP = socket.socket(type=socket.SOCK_DGRAM)
CALLS: dict[str, Call] = {
    "loop.create_task": lambda loop: loop.create_task(asyncio.sleep(0)),
    "loop.create_future": lambda loop: loop.create_future().cancel(),
    "loop.call_soon": lambda loop: loop.call_soon(print),
    "loop.call_later": lambda loop: loop.call_later(1, print),
    "loop.call_at": lambda loop: loop.call_at(1, print),
    "loop.run_in_executor": lambda loop: loop.run_in_executor(None, int),
    "loop.getaddrinfo": lambda loop: loop.getaddrinfo("example.org", 80),
    "loop.getnameinfo": lambda loop: loop.getnameinfo(("127.0.0.1", 80)),
    "loop.create_connection": lambda loop: _connect(loop, "127.0.0.1"),
    "loop.create_server": lambda loop: loop.create_server(asyncio.Protocol, ["localhost"], 1),
    "loop.create_unix_connection": lambda loop: _connect(loop, None),
    "loop.create_unix_server": lambda loop: loop.create_unix_server(asyncio.Protocol, "/b"),
    "loop.sock_connect": lambda loop: loop.sock_connect(PLAIN, ("127.0.0.1", 80)),
    "loop.add_signal_handler": lambda loop: loop.add_signal_handler(signal.SIGINT, print),
    "loop.remove_signal_handler": lambda loop: loop.remove_signal_handler(signal.SIGHUP),
    "loop.shutdown_asyncgens": lambda loop: loop.shutdown_asyncgens(),
    "loop.shutdown_default_executor": lambda loop: loop.shutdown_default_executor(),
    "loop.set_task_factory": _other_factory,
    "loop.call_soon_threadsafe": _from_a_thread,
    "ssl": lambda loop: loop.create_server(asyncio.Protocol, "localhost", 1, ssl=ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)),
    "loop.create_datagram_endpoint": lambda loop: loop.create_datagram_endpoint(asyncio.DatagramProtocol),
    "loop.start_tls": lambda loop: loop.start_tls(None, None, None),
    "loop.sendfile": lambda loop: loop.sendfile(None, None),
    "loop.sock_sendfile": lambda loop: loop.sock_sendfile(PLAIN, None),
    "loop.sock_recv": lambda loop: loop.sock_recv(PLAIN, 1),
    "loop.sock_recv_into": lambda loop: loop.sock_recv_into(PLAIN, bytearray(1)),
    "loop.sock_recvfrom": lambda loop: loop.sock_recvfrom(PLAIN, 1),
    "loop.sock_recvfrom_into": lambda loop: loop.sock_recvfrom_into(PLAIN, bytearray(1)),
    "loop.sock_sendall": lambda loop: loop.sock_sendall(PLAIN, b"x"),
    "loop.sock_sendto": lambda loop: loop.sock_sendto(PLAIN, b"x", ("127.0.0.1", 1)),
    "loop.sock_accept": lambda loop: loop.sock_accept(PLAIN),
    "loop.connect_accepted_socket": lambda loop: loop.connect_accepted_socket(asyncio.Protocol, PLAIN),
    "loop.add_reader": lambda loop: loop.add_reader(0, print),
    "loop.remove_reader": lambda loop: loop.remove_reader(0),
    "loop.add_writer": lambda loop: loop.add_writer(1, print),
    "loop.remove_writer": lambda loop: loop.remove_writer(1),
    "loop.connect_read_pipe": lambda loop: loop.connect_read_pipe(asyncio.Protocol, None),
    "loop.connect_write_pipe": lambda loop: loop.connect_write_pipe(asyncio.Protocol, None),
    "loop.subprocess_exec": lambda _loop: asyncio.create_subprocess_exec("true"),
    "loop.subprocess_shell": lambda _loop: asyncio.create_subprocess_shell("true"),
    "time.sleep": lambda _loop: time.sleep(0),
    "socket.connect": lambda _loop: PLAIN.connect(("127.0.0.1", 1)),
    "socket.sendto": lambda _loop: UDP.sendto(b"x", ("127.0.0.1", 1)),
    "socket.bind": lambda _loop: PLAIN.bind(("127.0.0.1", 0)),
    "socket.getaddrinfo": lambda _loop: socket.getaddrinfo("localhost", 1),
    "subprocess.Popen": lambda _loop: subprocess.run(["true"]),
    "os.fork": lambda _loop: os.fork(),
    "threading.Thread.start": lambda _loop: threading.Thread(target=print).start(),
    "threading.Condition.wait": lambda _loop: queue.Queue().get(),
    "input": lambda _loop: input(),
}  # fmt: skip


async def _connect(loop: Loop, host: str | None) -> None:
    make, connect = loop.create_unix_server, loop.create_unix_connection
    at: tuple[object, ...] = ("/a",)
    if host is not None:
        make, connect, at = loop.create_server, loop.create_connection, (host, 7)
    server = await make(asyncio.Protocol, *at)
    transport, _ = await connect(asyncio.Protocol, *at)
    transport.abort()
    server.close()


def call_in_a_loop(name: str) -> None:
    async def main() -> None:
        found = CALLS[name](asyncio.get_running_loop())
        if asyncio.iscoroutine(found) or asyncio.isfuture(found):
            await found

    run_fast(main)


def test_every_row_is_called():
    assert {*CALLS, "trio", "uvloop"} == set(
        read_table()
    )  # these two: tests/schedules/test_other_loops.py


@pytest.mark.parametrize("name", CALLS)
def test_a_row_does_what_it_says(name: str):
    row = read_table()[name]
    if row["status"] == "simulated":
        call_in_a_loop(name)
        return

    with pytest.raises(SimulationRefused) as caught:
        call_in_a_loop(name)

    assert caught.value.fields["function"] == name
    assert row["why"] in str(caught.value)
    assert row["instead"] in str(caught.value)


def test_the_line_of_the_program_is_named():
    async def main() -> None:
        time.sleep(1)  # noqa: ASYNC251

    with pytest.raises(SimulationRefused, match=r"at test_boundary\.py:\d+: it holds up"):
        run_fast(main)


def test_outside_a_simulated_loop_nothing_is_refused():
    run_fast(lambda: asyncio.sleep(0))

    async def main() -> None:
        time.sleep(0)  # noqa: ASYNC251
        await asyncio.to_thread(int)

    asyncio.run(main())
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        assert own.getsockname()[1]


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed modules."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


def test_a_library_may_start_a_child_while_it_is_imported(library: Path):
    """As ctypes does when trio looks for libpthread."""
    library.joinpath("looking_for_libpthread.py").write_text(
        "import subprocess\nanswer = subprocess.run(['true']).returncode\n"
        "def ask(): return subprocess.run(['true'])\n"
    )

    async def main() -> None:
        import looking_for_libpthread  # type: ignore[import-not-found]

        assert looking_for_libpthread.answer == 0
        with pytest.raises(SimulationRefused):
            looking_for_libpthread.ask()

    run_fast(main)


def test_a_library_whose_import_runs_the_loop_starts_no_child_in_it(library: Path):
    library.joinpath("running_at_import.py").write_text(
        "import asyncio, subprocess\nfrom twice.simulation.loop import SimulatedLoop\n"
        "async def main(): subprocess.run(['true'])\n"
        "with asyncio.Runner(loop_factory=SimulatedLoop) as runner: runner.run(main())\n"
    )

    with pytest.raises(SimulationRefused):
        importlib.import_module("running_at_import")
