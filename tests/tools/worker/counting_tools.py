"""A registry with a state that counts, and tools that misbehave; imported by workers from this file."""

from __future__ import annotations

import faulthandler
from collections.abc import Mapping
from typing import Any

from twice.tools import Context, Registry, tool


class Count:
    """One number."""

    name = "count"

    def __init__(self) -> None:
        self.n = 0

    def profile(self) -> Mapping[str, str]:
        """Versions."""
        return {"version": "1"}

    def state(self) -> Mapping[str, Any]:
        """Return the number."""
        return {"n": self.n}

    def fingerprint(self) -> str:
        """Return the number, labelled as a digest would be."""
        return f"sha256:{self.n:064x}"

    def reset(self) -> None:
        """Back to nothing."""
        self.n = 0

    def holds(self, name: str) -> bool:
        """Nothing has a name."""
        del name
        return False

    def checkpoint(self) -> int:
        """Return the number, which is its own checkpoint."""
        return self.n

    def rollback(self, checkpoint: int) -> None:
        """Back to it."""
        self.n = checkpoint

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over a state."""
        self.n = state["n"]


@tool("add", determinism="deterministic", version="1.0.0")
def add(context: Context, n: int) -> int:
    """Add to the number."""
    context.backend.n += n
    return int(context.backend.n)


@tool("twice_add", determinism="deterministic", version="1.0.0")
def twice_add(context: Context, n: int) -> int:
    """Add to the number two times."""
    context.call("add", n=n, step="once")
    return int(context.call("add", n=n, step="again"))


@tool("draw", determinism="seeded", version="1.0.0")
def draw(context: Context) -> float:
    """Draw a number."""
    return float(context.rng("draw").random())


@tool("steps", determinism="deterministic", version="1.0.0")
def steps(context: Context, count: int) -> int:
    """Add one after the other, and tell how far it is."""
    for at in range(count):
        context.progress(at / count, f"step {at}")
        context.backend.n += 1
    return int(context.backend.n)


@tool("die", determinism="deterministic", version="1.0.0")
def die(context: Context) -> int:
    """Take the process down in the middle of a change."""
    context.backend.n += 100
    faulthandler._sigsegv()  # as a library in C would
    return 0


@tool("hang", determinism="deterministic", version="1.0.0", seconds=0.3)
def hang(context: Context) -> int:
    """Never come back, whatever is raised."""
    context.backend.n += 100
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue


@tool("lie", determinism="deterministic", version="1.0.0")
def lie(context: Context) -> int:
    """Give what nobody declared: where the system put something in memory."""
    number = id(context)
    context.backend.n += number
    return int(context.backend.n)


registry = Registry([add, twice_add, draw, steps, die, hang, lie], "counting", backend=Count)
