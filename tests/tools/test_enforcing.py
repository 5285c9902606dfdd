"""What a tool does not declare is refused on the line that does it, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import datetime as dt
import gc
import logging
import os
import platform
import pwd
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import time as bound_early
from typing import Any

import numpy as np
import pytest
from table_tools import Tables
from table_tools import registry as tables

from twice.tools import Context, Needs, Registry, Session, Tool, negotiate, tool
from twice.tools.enforcement import pause_watch


def in_a_thread() -> float:
    out: list[float] = []
    thread = threading.Thread(target=lambda: out.append(time.monotonic()))
    thread.start()
    thread.join()
    return len(out)


def swallowed() -> int:
    try:
        return int(time.time())
    except Exception:
        return 0


def through_a_library() -> str:
    return str(uuid.uuid4())


def of_a_loop(wait: Callable[[], Any]) -> float:
    async def work() -> float:
        return float(await wait())

    return asyncio.run(work())


async def now() -> float:
    return asyncio.get_running_loop().time()


def in_a_task_of_a_library() -> float:
    names: dict[str, Any] = {}
    place = Path(np.__file__).parents[1] / "anything" / "asked.py"
    source = "import time\nasync def ask():\n    return time.time()\n"
    exec(compile(source, str(place), "exec"), names)
    return of_a_loop(lambda: asyncio.create_task(names["ask"]()))


def unprofiled() -> float:
    sys.setprofile(None)
    return time.time()


LIES: dict[str, tuple[str, Callable[[], object]]] = {
    "name of the machine": ("environment", lambda: platform.node()),
    "watch taken down": ("environment", unprofiled),
    "clock": ("clock", lambda: time.time()),
    "clock, bound early": ("clock", lambda: bound_early()),
    "monotonic": ("clock", lambda: time.monotonic_ns()),
    "now": ("clock", lambda: dt.datetime.now()),
    "now with a zone": ("clock", lambda: dt.datetime.now(dt.UTC)),
    "today": ("clock", lambda: dt.date.today()),
    "strftime": ("clock", lambda: time.strftime("%Y")),
    "localtime": ("clock", lambda: time.localtime()),
    "swallowed": ("clock", swallowed),
    "global random": ("entropy", lambda: random.random()),
    "global randint": ("entropy", lambda: random.randint(1, 6)),
    "global shuffle": ("entropy", lambda: random.shuffle([1, 2, 3])),
    "Random()": ("entropy", lambda: random.Random().random()),
    "numpy global": ("entropy", lambda: np.random.rand()),
    "numpy global, seeded by hand": ("entropy", lambda: np.random.seed(3)),
    "default_rng()": ("entropy", lambda: np.random.default_rng().random()),
    "urandom": ("entropy", lambda: os.urandom(4)),
    "uuid4": ("entropy", through_a_library),
    "/dev/urandom": ("entropy", lambda: open("/dev/urandom", "rb").read(2)),
    "/dev/urandom, as bytes": ("entropy", lambda: open(b"/dev/urandom", "rb").read(2)),
    "socket": ("network", lambda: socket.socket().close()),
    "connection": ("network", lambda: socket.create_connection(("127.0.0.1", 9))),
    "name of a host": ("network", lambda: socket.gethostbyname("localhost")),
    "subprocess": ("processes", lambda: subprocess.run(["true"], check=True)),
    "system": ("processes", lambda: os.system("true")),
    "fork": ("processes", lambda: os.fork()),
    "listdir": ("listing", lambda: os.listdir(".")),
    "scandir": ("listing", lambda: list(os.scandir("."))),
    "iterdir": ("listing", lambda: list(Path().iterdir())),
    "variable": ("environment", lambda: os.environ.get("HOME")),
    "getenv": ("environment", lambda: os.getenv("HOME")),
    "all variables": ("environment", lambda: dict(os.environ)),
    "number of variables": ("environment", lambda: len(os.environ)),
    "set a variable": ("environment", lambda: os.environ.__setitem__("TWICE_X", "1")),
    "cwd": ("environment", lambda: os.getcwd()),
    "pid": ("environment", lambda: os.getpid()),
    "room on a disk": ("environment", lambda: os.statvfs(".")),
    "name of the user": ("environment", lambda: pwd.getpwuid(0)),
    "references": ("environment", lambda: sys.getrefcount(None)),
    "a timer": ("clock", lambda: signal.getitimer(signal.ITIMER_REAL)),
    "processors": ("environment", lambda: os.cpu_count()),
    "name of this host": ("environment", lambda: socket.gethostname()),
    "in a thread": ("clock", in_a_thread),
    "time of an event loop": ("clock", lambda: of_a_loop(now)),
    "in a coroutine": ("clock", lambda: of_a_loop(lambda: asyncio.sleep(0, time.time()))),
    "in a task of a library": ("clock", in_a_task_of_a_library),
    "waiting so long": (
        "clock",
        lambda: of_a_loop(lambda: asyncio.wait_for(asyncio.ensure_future(asyncio.sleep(0, 1)), 9)),
    ),
}

HONEST: dict[str, Callable[[], object]] = {
    "arithmetic": lambda: sum(at * at for at in range(100)),
    "random.Random(3)": lambda: random.Random(3).random(),
    "default_rng(3)": lambda: np.random.default_rng(3).random(),
    "a given moment": lambda: time.strftime("%Y", time.gmtime(0)),
    "a moment of the past": lambda: dt.datetime(2020, 1, 1).isoformat(),
    "a log line": lambda: logging.getLogger("test").info("hello"),
    "a lazy import": lambda: __import__("colorsys").rgb_to_hls(0.1, 0.2, 0.3),
    "a method called time": lambda: type("T", (), {"time": lambda self: 3})().time(),
    "a read of a file": lambda: Path(__file__).read_text("utf-8")[:3],
    "uuid5": lambda: uuid.uuid5(uuid.NAMESPACE_DNS, "x").hex,
    "numpy": lambda: float(np.linalg.norm(np.ones(3))),
    "a pool of threads": lambda: [*ThreadPoolExecutor(2).map(str, range(4))],
    "an event loop": lambda: of_a_loop(lambda: asyncio.sleep(0.001, 3)),
    "an event loop beside a thread": lambda: of_a_loop(lambda: asyncio.to_thread(float, 3)),
}


LOOSE: dict[str, Any] = {"determinism": "nondeterministic"}


def wrapped(act: Callable[[], object], **declared: Any) -> Tool:
    def body(ctx: Context) -> int:
        ctx.call("table.create", name="left behind", columns=["x"])
        act()
        return 1

    return tool("suspect", **{"determinism": "deterministic", **declared})(body)


def called(suspect: Tool, **permissions: bool) -> tuple[dict[str, Any], Tables]:
    registry, backend = Registry([suspect, *tables]), Tables()
    contract = negotiate({"permissions": permissions, "session_seed": 1}, registry, backend)
    return Session(registry, backend, contract).call("suspect"), backend


@pytest.mark.parametrize("name", LIES)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_lie_is_refused_by_need_and_line_and_leaves_nothing(name: str) -> None:
    need, act = LIES[name]
    found, backend = called(wrapped(act))

    error = found["error"]
    assert error["code"] == "nondeterministic_refused"
    assert error["details"]["need"] == need
    place = error["details"]["place"]
    assert place.startswith(("tests/tools/test_enforcing.py:", "tools/test_enforcing.py:"))
    assert name != "swallowed" or place.endswith(f":{swallowed.__code__.co_firstlineno + 2}")
    assert backend.state() == {}
    assert "TWICE_X" not in os.environ


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_tool_is_not_accused(name: str) -> None:
    found, _ = called(wrapped(HONEST[name]))

    assert found["ok"], found


def test_global_generators_stand_where_they_stood() -> None:
    random.seed(5)
    np.random.seed(5)
    called(wrapped(lambda: (np.random.rand(7), None)))
    drawn = (random.random(), np.random.rand())
    random.seed(5)
    np.random.seed(5)

    assert (random.random(), np.random.rand()) == drawn


@pytest.mark.parametrize(
    ("name", "declared", "code"),
    [
        ("clock", {"determinism": "seeded"}, "nondeterministic_refused"),
        ("listdir", {"needs": Needs(listing=True)}, "nondeterministic_refused"),
        *((each, LOOSE, "ok") for each in ("clock", "urandom", "variable", "listdir")),
        *((each, LOOSE, "capability_missing") for each in ("socket", "subprocess")),
        ("socket", LOOSE | {"needs": Needs(network=True)}, "ok"),
        ("subprocess", LOOSE | {"needs": Needs(processes=True)}, "ok"),
    ],
)
def test_who_promises_nothing_may_read_and_declares_what_leaves_the_process(
    name: str, declared: dict[str, Any], code: str
) -> None:
    found, _ = called(wrapped(LIES[name][1], **declared), nondeterministic=True, network=True)

    assert ("ok" if found["ok"] else found["error"]["code"]) == code


def test_a_folder_is_listed_in_order_by_the_context(tmp_path: Path) -> None:
    for name in ("b", "a", "Z"):
        (tmp_path / name).touch()

    def body(ctx: Context) -> list[str]:
        return ctx.listing(tmp_path)

    declared = tool("suspect", determinism="deterministic", needs=Needs(listing=True))(body)
    silent = tool("suspect", determinism="deterministic")(body)

    assert called(declared)[0]["result"] == ["Z", "a", "b"]
    assert called(silent)[0]["error"]["code"] == "capability_missing"


def test_what_a_backend_does_in_its_own_methods_is_its_business() -> None:
    class Slow(Tables):
        def get(self, name: str) -> Any:
            time.time()
            return super().get(name)

    one = Session(Registry(list(tables)), Slow())
    one.call("table.create", {"name": "t", "columns": ["x"]})

    assert one.call("table.select", {"table": "t"})["ok"]


def test_whoever_profiled_before_goes_on_after() -> None:
    seen: list[str] = []

    def mine(frame: Any, event: str, arg: Any) -> None:
        seen.append(event)

    sys.setprofile(mine)
    try:
        called(wrapped(lambda: None))
        assert sys.getprofile() is mine
    finally:
        sys.setprofile(None)


def test_the_runtime_may_do_what_a_tool_may_not() -> None:
    def body() -> int:
        with pause_watch():
            return int(time.time() * 0)

    assert called(tool("suspect", determinism="deterministic")(body))[0]["result"] == 0


def test_sessions_on_other_threads_do_not_see_each_other() -> None:
    waiting, going = threading.Event(), threading.Event()
    found: list[dict[str, Any]] = []

    def body() -> int:
        going.set()
        waiting.wait(20)
        return 1

    suspect = tool("suspect", determinism="deterministic")(body)
    thread = threading.Thread(target=lambda: found.append(called(suspect)[0]))
    thread.start()
    going.wait(20)
    assert time.time() > 0
    os.listdir(".")
    waiting.set()
    thread.join(20)

    assert found[0]["ok"], found


def test_what_the_garbage_collector_calls_is_not_the_tools() -> None:
    def hears(phase: str, info: dict[str, int]) -> None:
        time.perf_counter()

    gc.callbacks.append(hears)
    try:
        found, _ = called(wrapped(gc.collect))
    finally:
        gc.callbacks.remove(hears)

    assert found["ok"], found
