"""Four kinds of run for the page: a swarm, an environment with pictures, an asyncio service, a tool session.

The two records of a kind part in tick 30.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import twice
from programs import write
from twice.recorder.cadence import Cadence
from twice.tools.worker.host import HostedSession

PARTING = 30
SWARM = """
    def main(run):
        rng = run.rng("steps")
        swarm = run.track("swarm", {"x": 0.0, "energy": 10.0})
        for tick in run.ticks(40):
            push = run.input("push", lambda: 0.5)
            if tick >= 30:
                push += run.config["gust"]
            swarm["x"] += push + rng.normal()
            swarm["energy"] -= 0.01 * push
"""
CART = """
    import gymnasium
    from twice.integrations import gymnasium as tg

    def main(run):
        env = tg.wrap(run, gymnasium.make("CartPole-v1", render_mode="rgb_array"), name="cart")
        env.reset()
        for tick in run.ticks(40):
            action = int(env.observation[2] > 0) if tick < 30 else run.config["gust"]
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
"""
ANT = """
    import os
    os.environ["MUJOCO_GL"] = "egl"
    import gymnasium
    import numpy
    from twice.integrations import gymnasium as tg

    def main(run):
        ant = gymnasium.make("Ant-v5", render_mode="rgb_array", width=160, height=120)
        env = tg.wrap(run, ant, name="ant")
        env.reset()
        for tick in run.ticks(40):
            action = numpy.full(8, 0.5 if tick < 30 else run.config["gust"] / 2)
            env.step(action)
"""
SERVICE = """
    import asyncio
    from twice.integrations import asgi

    stock = {"apples": 100, "sold": 0}

    async def application(scope, receive, send):
        if scope["type"] != "http":
            return
        wanted = int((await receive())["body"] or 5)
        await asyncio.sleep(0)
        stock["sold"] += 1
        stock["apples"] -= wanted if stock["sold"] <= 30 else wanted + gust
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"%d left" % stock["apples"]})

    async def order(service):
        async def receive():
            return {"type": "http.request", "body": b"2", "more_body": False}
        async def send(message):
            pass
        scope = {"type": "http", "method": "POST", "path": "/apples", "raw_path": b"/apples", "scheme": "http"}
        scope |= {"query_string": b"", "headers": [], "http_version": "1.1", "server": None, "client": None}
        await service(scope, receive, send)

    def start(service):
        for _ in range(40):
            asyncio.run(order(service))

    def main(run):
        global gust
        gust = run.config["gust"]
        run.track("stock", stock)
        asgi.record(application, run, name="shop").serve(start, requests=40)
"""
TOOLS = """
    import time
    from twice.tools import Context, Registry, tool

    class Sum:
        name = "sum"

        def __init__(self):
            self.total, self.calls = 0, 0

        def profile(self):
            return {"version": "1"}

        def state(self):
            return {"total": self.total, "calls": self.calls}

        def fingerprint(self):
            return f"sha256:{self.total:064x}"

        def checkpoint(self):
            return self.state()

        def restore(self, state):
            self.total, self.calls = state["total"], state["calls"]

        rollback = restore

        def reset(self):
            self.__init__()

    @tool("number.add", determinism="nondeterministic")
    def add(n: int, context: Context) -> int:
        context.backend.calls += 1
        context.backend.total += n if n < 30 else time.time_ns()
        return context.backend.total

    registry = Registry([add], backend=Sum)
"""


def record_programs(folder: Path, source: str) -> list[Path]:
    """Record a program twice, calm and with a gust."""
    program, paths = write(folder, source), [folder / "calm.twice", folder / "gust.twice"]
    for gust, path in enumerate(paths):
        twice.record(
            program, seed=7, out=path, cadence=Cadence("tick", 4), config={"gust": gust}
        ).close()
    return paths


def record_tools(folder: Path, source: str) -> list[Path]:
    """Record two sessions of 40 calls."""
    registry = write(folder, source, name="sums.py").replace(":main", ":registry")
    paths = [folder / "first.twice", folder / "second.twice"]
    for path in paths:
        offer = {"permissions": {"nondeterministic": True}}
        with HostedSession(registry, path, offer=offer) as session:
            for n in range(40):
                session.call("number.add", {"n": n})
    return paths


@dataclass(frozen=True)
class ShownKind:
    """A kind of run, and the particulars of a walk through its page.

    Attributes:
        line: a part of the line that the diagnosis names.
        plots: two paths.
        change: name and new value of an input.
        draws: whether a replay has a picture.
        needs: libraries.
    """

    source: str
    line: str
    plots: tuple[str, str]
    change: tuple[str, str]
    draws: bool = False
    needs: tuple[str, ...] = ()
    record: Callable[[Path, str], list[Path]] = record_programs


KINDS = {
    "swarm": ShownKind(SWARM, 'run.config["gust"]', ("swarm.x", "swarm.energy"), ("push", "0.75")),
    "cart": ShownKind(
        CART, 'run.config["gust"]', ("cart.progress.returned", "cart.environment.state[2]"),
        ("cart/action", "1"), draws=True, needs=("gymnasium", "pygame"),
    ),
    "ant": ShownKind(
        ANT, 'run.config["gust"]', ("ant.progress.returned", "ant.progress.observation[0]"),
        ("ant/action", "0.0"), draws=True, needs=("gymnasium", "mujoco"),
    ),
    "service": ShownKind(
        SERVICE, "asgi.record", ("stock.apples", "stock.sold"),
        ("shop/request", '{method = "POST", path = "/pears"}'),
    ),
    "tools": ShownKind(
        TOOLS, "context.backend.total", ("backend.total", "backend.calls"),
        ("call", '{tool = "number.add", arguments = {n = 99}}'), needs=("pydantic",),
        record=record_tools,
    ),
}  # fmt: skip
