"""Registries with a state that counts, and tools that misbehave; imported by workers from this file."""

from __future__ import annotations

import faulthandler
import os
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import pydantic

from twice.tools import Context, Needs, Registry, Tool, tool


class Tally:
    """One number, without a way to put it into another process.

    Attributes:
        dies_in: the place in which the process is killed; of the class, because it is set before a call has a backend.
    """

    name = "count"
    dies_in = ""

    def __init__(self) -> None:
        self.n = 0

    def profile(self) -> Mapping[str, str]:
        return {"version": "1"}

    def state(self) -> Mapping[str, Any]:
        die_in("state")
        return {"n": self.n}

    def fingerprint(self) -> str:
        die_in("fingerprint")
        return f"sha256:{self.n:064x}"

    def reset(self) -> None:
        self.n = 0

    def holds(self, name: str) -> bool:
        return not name

    def checkpoint(self) -> int:
        die_in("checkpoint")
        return self.n

    def rollback(self, checkpoint: int) -> None:
        die_in("rollback")
        self.n = checkpoint
        die_in("rolled back")


class Count(Tally):
    """One number, which another process can take over."""

    def restore(self, state: Mapping[str, Any]) -> None:
        self.n = state["n"]


PLACES = (
    "idle", "validate", "checkpoint", "body", "changed", "progress", "verify", "rollback",
    "rolled back", "fingerprint", "state",
)  # fmt: skip
"""Where a call of ``risk`` can die; ``idle`` is before it, and the test's business."""


def die_in(place: str) -> None:
    if Tally.dies_in == place:
        signal.raise_signal(signal.SIGKILL)


def arm(place: str) -> str:
    Tally.dies_in = place
    die_in("validate")
    return place


def checked(n: int) -> int:
    die_in("verify")
    return n


def declare(function: Callable[..., Any], **more: Any) -> Tool:
    given = {"determinism": "deterministic", "version": "1.0.0", **more}
    return tool(function.__name__, **given)(function)


@declare
def risk(
    context: Context, dies: Annotated[str, pydantic.AfterValidator(arm)]
) -> Annotated[int, pydantic.AfterValidator(checked)]:
    """Add 100, and die in a place."""
    die_in("body")
    context.backend.n += 100
    die_in("changed")
    if dies == "progress":
        context.progress(0.5, "half")
        die_in("progress")
    if dies.startswith("roll"):
        raise ValueError("back to the checkpoint")
    return int(context.backend.n)


def look(context: Context) -> int:
    return int(context.backend.n)


@declare
def add(context: Context, n: int) -> int:
    """Add to the number."""
    context.backend.n += n
    return int(context.backend.n)


@declare
def twice_add(context: Context, n: int) -> int:
    """Add to the number two times."""
    context.call("add", n=n, step="once")
    return int(context.call("add", n=n, step="again"))


def draw(context: Context) -> float:
    return float(context.rng("draw").random())


@declare
def steps(context: Context, count: int) -> int:
    """Add one after the other, and tell how far it is."""
    for at in range(count):
        context.progress(at / count, f"step {at}")
        context.backend.n += 1
    return int(context.backend.n)


@declare
def die() -> int:
    """Take the process down."""
    faulthandler._sigsegv()  # as a library in C would
    return 0


def hang(context: Context, *, tells: bool) -> int:
    """Never come back, whatever is raised; tell that it is at work or not."""
    context.backend.n += 100
    while True:
        try:
            while True:
                if tells:
                    context.progress(0.5, "at work")
        except BaseException:
            continue


def fork(context: Context) -> int:
    """Come out of it two times."""
    os.fork()
    context.backend.n += 1
    return int(context.backend.n)


@declare
def lie(context: Context) -> int:
    """Give what nobody declared: where the system put something in memory."""
    context.backend.n += id(context)
    return int(context.backend.n)


@declare
def clock() -> float:
    """Read the clock, which a run answers in the system's place."""
    return time.time()


@declare
def drift(context: Context, path: str) -> None:
    """Add how often it was called at all, which no answer tells."""
    file = Path(path)
    context.backend.n += len(file.read_text("utf-8"))
    with file.open("a") as more:
        more.write(".")


@declare
def once(path: str) -> None:
    """Come back the first time only."""
    file = Path(path)
    if file.exists():
        signal.pause()
    file.touch()


TOOLS = [
    add, twice_add, steps, risk, die, lie, clock, drift, once,
    declare(look, reads_only=True),
    declare(draw, determinism="seeded"),
    declare(hang, seconds=0.3),
    declare(fork, determinism="nondeterministic", needs=Needs(processes=True)),
]  # fmt: skip
registry = Registry(TOOLS, "counting", backend=Count)
unrestorable = Registry([add, die], "tally", backend=Tally)
stateless = Registry([die], "nothing")
