"""Many requests at once, from threads and tasks: each is answered as it was, in the order in which answers came."""

from __future__ import annotations

import http.server
import ssl
import threading
from pathlib import Path

import pytest

from httpservers import serving
from programs import cli
from twice.replayer.output_difference import compare_outputs
from twice.replayer.verify import verify

TASKS = """
import asyncio

async def ask(word):
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    writer.write(f"GET /{word} HTTP/1.0\\r\\n\\r\\n".encode())
    answer = (await reader.read()).split(b"\\r\\n\\r\\n")[1].decode()
    writer.close()
    return answer
"""
THREADS = """
import concurrent.futures, threading, urllib.request

def ask(word):
    with urllib.request.urlopen(f"http://127.0.0.1:PORT/{word}") as answer:
        return answer.read().decode()
"""
PROGRAMS = {
    "as completed": TASKS + """
async def main():
    for done in asyncio.as_completed([ask(f"later{n % 3}/{n}") for n in range(8)]):
        print(await done)

asyncio.run(main())
""",
    "sets of tasks": TASKS + """
async def main():
    left = {asyncio.create_task(ask(f"later{n % 2}/{n}")) for n in range(8)}
    while left:
        done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
        print(*[each.result() for each in done], sep=", ")

asyncio.run(main())
""",
    "deadlines": TASKS + """
async def main():
    async def one(n):
        try:
            return await asyncio.wait_for(ask(f"later{n}/{n}"), 0.05)
        except asyncio.TimeoutError:
            print("late", n)
    print(await asyncio.gather(*(one(n) for n in range(5))))

asyncio.run(main())
""",
    "an answer that nobody reads": TASKS + """
import select

async def main():
    asyncio.get_running_loop().call_later(60, print)
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    writer.write(b"GET /later5/0 HTTP/1.0\\r\\n\\r\\n")
    answer = asyncio.ensure_future(reader.read())
    for _ in range(3):
        await asyncio.sleep(0)
    print(answer.done())
    select.select([writer.get_extra_info("socket")], [], [], 60)
    answer.cancel()
    writer.transport.abort()

asyncio.run(main())
""",
    "semaphore": TASKS + """
async def main():
    few = asyncio.Semaphore(2)
    async def one(n):
        async with few:
            print(await ask(f"later{n % 3}/{n}"))
    async with asyncio.TaskGroup() as group:
        for n in range(7):
            group.create_task(one(n))

asyncio.run(main())
""",
    "a pool of threads": THREADS + """
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    asked = [pool.submit(ask, f"later{n % 3}/{n}") for n in range(8)]
    print(*pool.map(ask, (f"later{n % 2}/again{n}" for n in range(4))), sep=", ")
    print(*[each.result() for each in concurrent.futures.wait(asked).done], sep=", ")
""",
    "a deadline of threads": THREADS + """
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    slow = pool.submit(ask, "later9/slow")
    try:
        print(slow.result(timeout=0.02))
    except concurrent.futures.TimeoutError:
        print("late")
    print(slow.result(timeout=60))
""",
    "retries": THREADS + """
def again(n):
    for attempt in range(9):
        answer = ask(f"flaky/{n}/{attempt}")
        if not answer.startswith("busy"):
            return attempt, answer

with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(*pool.map(again, range(6)), sep=", ")
""",
}  # fmt: skip


class Slow(http.server.BaseHTTPRequestHandler):
    """Answers later, where the path says so; a flaky path is answered with a count of all requests."""

    def do_GET(self) -> None:
        """Answer."""
        kind, _, word = self.path[1:].partition("/")
        if kind.startswith("later"):
            threading.Event().wait(0.02 * int(kind[5:]))
        number = self.server.count()  # type: ignore[attr-defined]
        body = f"busy {number}" if kind == "flaky" and number % 3 else f"{word} {number}"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sample(4)
def test_answers_come_as_they_came(tmp_path: Path, name: str) -> None:
    with serving(handler=Slow) as server:
        (tmp_path / "program.py").write_text(PROGRAMS[name].replace("PORT", str(server.port)))
        done = cli("record", "program.py", "--seed", 1, "-o", "a.twice", cwd=tmp_path)
    assert done.returncode == 0, done.stderr

    for _ in range(3):
        statement = verify(tmp_path / "a.twice")
        assert statement.result == "PASS", done.stdout + statement.to_markdown()


OVER_TLS = """
import asyncio, ssl, httpx

async def main():
    context = ssl.create_default_context(cafile="authority.pem")
    async with httpx.AsyncClient(verify=context, base_url="https://localhost:PORT") as client:
        asked = await asyncio.gather(*(client.get(f"/later{n % 2}/{n}") for n in range(4)))
        print([each.text for each in asked])

asyncio.run(main())
"""


def test_answers_come_as_they_came_through_a_handshake_that_takes_other_rounds(
    tmp_path: Path,
) -> None:
    trustme, _ = pytest.importorskip("trustme"), pytest.importorskip("httpx")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    with serving(context, Slow) as server:
        (tmp_path / "program.py").write_text(OVER_TLS.replace("PORT", str(server.port)))
        done = cli("record", "program.py", "--seed", 1, "-o", "a.twice", cwd=tmp_path)
    assert done.returncode == 0, done.stderr

    for _ in range(3):
        statement = verify(tmp_path / "a.twice")
        assert statement.result == "PASS", done.stdout + statement.to_markdown()


IN_TURN = """
import sys, threading

def say(word, before, after):
    before.wait()
    print(word)
    after.set()

def main(run):
    first, second, last = (threading.Event() for _ in range(3))
    words = ["one", "two"]
    if "twice.replayer.compare_sink" in sys.modules:  # another schedule
        words.reverse()
    threads = [
        threading.Thread(target=say, args=(words[0], first, second)),
        threading.Thread(target=say, args=(words[1], second, last)),
    ]
    [each.start() for each in threads]
    first.set()
    [each.join() for each in threads]
    MORE
"""


@pytest.mark.integration
@pytest.mark.fresh
@pytest.mark.parametrize(
    ("more", "result"),
    [("", "UNKNOWN"), ('print("twice.replayer.compare_sink" in sys.modules)', "FAIL")],
)
def test_a_difference_of_order_alone_is_unknown(tmp_path: Path, more: str, result: str) -> None:
    (tmp_path / "program.py").write_text(IN_TURN.replace("MORE", more))
    assert (
        cli("record", "program.py:main", "-o", "a.twice", "--seed", 1, cwd=tmp_path).returncode == 0
    )

    statement = verify(tmp_path / "a.twice")

    assert statement.result == result, statement.to_markdown()
    said = "order: the same lines were printed in another order, by a run with threads or tasks"
    assert any(each.startswith(said) for each in statement.headline) == (result == "UNKNOWN")


def test_another_end_of_line_is_no_order() -> None:
    def is_order(one: bytes, other: bytes) -> bool:
        return compare_outputs((one, b""), (other, b""), (), ())[1]

    assert is_order(b"a\nb\n", b"b\na\n")
    assert not is_order(b"a\r\nb\n", b"a\nb\n")
    assert not is_order(b"a\nb\n", b"b\na\na\n")
