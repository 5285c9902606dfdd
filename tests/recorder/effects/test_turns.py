"""An event loop is given replies in the order of their arrival, in replay as while recording."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from programs import recorded, write
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

ORDER = (2, 0, 3, 1)

PROGRAM = """
    import asyncio

    async def one(port, number, came):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"%d\\n" % number)
        reply = await reader.readline()
        came.append(reply.decode().strip())
        writer.write(b"taken\\n")
        await writer.drain()
        await reader.read()
        writer.close()

    async def everyone(port):
        came = []
        await asyncio.gather(*(one(port, number, came) for number in range(4)))
        return came

    def main(run):
        run.compare("came", asyncio.run(everyone(run.config["port"])))
    """


@contextmanager
def in_turn() -> Iterator[int]:
    """Yield the port of a server that answers four clients one after another, in an order of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        served = threading.Thread(target=serve, args=(listening,))
        served.start()
        yield int(listening.getsockname()[1])
        served.join()


def serve(listening: socket.socket) -> None:
    clients = {}
    for _ in ORDER:
        client, _ = listening.accept()
        file = client.makefile("rwb", buffering=0)
        clients[int(file.readline())] = (client, file)
    for number in ORDER:
        file = clients[number][1]
        file.write(b"reply %d\n" % number)
        assert file.readline() == b"taken\n"
    for client, file in clients.values():
        file.close()
        client.close()


def test_replies_come_in_their_order(tmp_path: Path) -> None:
    with in_turn() as port, recorded(tmp_path, PROGRAM, config={"port": port}) as record:
        points = record.reader.points
        assert len(points) > 1

    for _ in range(5):
        statement = verify(tmp_path / "a.twice")
        assert statement.result == "PASS", statement.to_json()


def test_a_program_that_never_takes_what_is_next_is_told_apart_and_does_not_wait_for_ever(
    tmp_path: Path,
) -> None:
    with in_turn() as port:
        recorded(tmp_path, PROGRAM, config={"port": port}).close()
    changed = "await (reader.readline() if number != 2 else asyncio.sleep(0, b'no'))"
    write(tmp_path, PROGRAM.replace("await reader.readline()", changed))

    statement = verify(tmp_path / "a.twice", informational=True)

    assert statement.result == "FAIL"
