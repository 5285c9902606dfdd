"""Tools that lie, one lie each, and some that do not: what verification is held against; ``labels.json`` says by what."""

from __future__ import annotations

import itertools
import locale
import os
import random
import socket
import time
from pathlib import Path
from typing import Any

import numpy as np
from shelf import START, Shelf
from shelf import put as put_thing

from twice.tools import Case, Context, Registry, macro, tool

STARTED = [Case({}, start=START)]


def put(context: Context, name: str, *cells: Any) -> None:
    """Put a thing into the state."""
    context.backend.things[name] = [*cells]


# -- lies ----------------------------------------------------------------------------------------


@tool("lie.global_random", determinism="seeded")
def global_random(context: Context) -> None:
    """Draws from the global generator."""
    put(context, "drawn", random.random())


@tool("lie.seconds", determinism="deterministic")
def seconds(context: Context) -> None:
    """Write the second down."""
    put(context, "made", int(time.time()))


@tool("lie.c_clock", determinism="deterministic")
def c_clock() -> str:
    """Read a clock that C code reads by itself."""
    return str(np.datetime64("now"))


@tool("lie.date", determinism="deterministic")
def date() -> str:
    """Differs once a day."""
    return time.strftime("%Y-%m-%d")


@tool("lie.mapped_date", determinism="deterministic")
def mapped_date() -> list[int]:
    """Differs once a day, and C calls the clock: enforcement does not see it."""
    return [int(each) // 86_400 for each in map(time.clock_gettime, [time.CLOCK_REALTIME])]


@tool("lie.set_order", determinism="deterministic", cases=STARTED)
def set_order(context: Context) -> list[str]:
    """Return a set in its own order."""
    return list({f"tag {at}" for at in range(9)} | set(context.backend.state()))


@tool("lie.object_hash", determinism="deterministic")
def object_hash() -> int:
    """Return a number that follows from an address."""
    return hash(object()) % 100_003


@tool("lie.identity", determinism="deterministic")
def identity() -> int:
    """Return an address."""
    return id([]) % 100_003


@tool("lie.counter_name", determinism="deterministic")
def counter_name(context: Context) -> str:
    """Count names up until one is free."""
    number = 1
    while context.backend.holds(f"thing.{number:03}"):
        number += 1
    put(context, f"thing.{number:03}", 1)
    return f"thing.{number:03}"


@tool("lie.link_order", determinism="deterministic", cases=STARTED)
def link_order(context: Context) -> list[str]:
    """Return things in the order in which they were made."""
    return list(context.backend.things)


_active: list[str] = []


@tool("lie.active", determinism="deterministic", cases=STARTED)
def active(context: Context) -> list[str]:
    """Acts on what was made last in this process."""
    _active.append("thing")
    return _active[-3:]


_ids = itertools.count(7)


@tool("lie.session_id", determinism="deterministic")
def session_id() -> int:
    """Return a number that belongs to the process."""
    return next(_ids)


@tool("lie.listing", determinism="deterministic")
def listing() -> list[str]:
    """Return a folder's names in the order of the system."""
    return os.listdir(Path(os.__file__).parent / "encodings")


@tool("lie.processors", determinism="deterministic")
def processors() -> int:
    """Count processors."""
    return len(os.sched_getaffinity(0))


@tool("lie.local_time", determinism="deterministic")
def local_time() -> str:
    """Write a fixed moment in local time; enforcement sees no clock, because none is read."""
    return time.strftime("%H:%M", time.localtime(0))


@tool("lie.home", determinism="deterministic")
def home() -> str:
    """Return a path below the home directory."""
    return str(Path.home())


@tool("lie.folder", determinism="deterministic")
def folder() -> str:
    """Return the working folder."""
    return os.path.realpath(".")


@tool("lie.network", determinism="deterministic")
def network() -> int:
    """Fetch something."""
    with socket.create_connection(("127.0.0.1", 9), timeout=2) as line:
        return len(line.recv(100))


@tool("lie.ignored_seed", determinism="seeded")
def ignored_seed(context: Context) -> None:
    """Draws from a seed of its own."""
    put(context, "drawn", random.Random(0).random())


@tool("lie.ignoring_part", determinism="seeded")
def ignoring_part(context: Context, name: str) -> None:
    """Is a part, and draws from a seed of its own."""
    put(context, name, random.Random(1).random())


@tool("lie.part", determinism="seeded")
def part(context: Context) -> float:
    """One of its parts ignores the seed."""
    context.call(ignoring_part, {"name": "part"})
    return float(context.rng("whole").random())


@tool("lie.locale", determinism="deterministic")
def in_locale() -> str:
    """Asks for the language that is set."""
    return str(locale.setlocale(locale.LC_ALL, ""))


@tool("lie.file_mode", determinism="deterministic")
def file_mode() -> int:
    """Return the mode of a new file."""
    path = Path("new")
    path.touch()
    return path.stat().st_mode & 0o777


@tool("lie.reads_only", determinism="deterministic", reads_only=True)
def reads_only(context: Context) -> None:
    """Says that it reads, and writes."""
    put(context, "written", 1)


@tool("lie.idempotent", determinism="deterministic", idempotent=True, cases=STARTED)
def idempotent(context: Context) -> None:
    """Says that it can be repeated, and adds a row each time."""
    context.backend.things["a"].append(0)


@tool("lie.needs", determinism="deterministic")
def swallowed() -> float:
    """Swallows the refusal, and gives a constant."""
    try:
        return time.monotonic() * 0.0
    except Exception:
        return 0.0


_kept: dict[str, float] = {}


@tool("lie.kept_draw", determinism="seeded")
def kept_draw(context: Context) -> float:
    """Keep the first draw for good, whatever the seed is later."""
    return _kept.setdefault("draw", float(context.rng("draw").random()))


@tool(
    "lie.kept_answer",
    determinism="deterministic",
    cases=[Case({"name": "a", "rows": 1}), Case({"name": "a", "rows": 2})],
)
def kept_answer(name: str, rows: int) -> float:
    """Keep answers under a key in which one of the arguments is missing."""
    return _kept.setdefault(name, float(rows))


@tool("lie.odd_seed", determinism="seeded", cases=[Case({}, seed_matters=False)])
def odd_seed(seed: int) -> int:
    """Return an address if the seed is none of the usual ones."""
    return seed if seed == 20_260_101 else hash(object())


# -- honest --------------------------------------------------------------------------------------


@tool("honest.grid", determinism="deterministic", cases=[Case({"n": 4}, start=START)])
def grid(context: Context, n: int) -> list[str]:
    """Make things under names that its parameters make."""
    names = [context.name("grid", {"n": n, "at": at}) for at in range(n)]
    for at, name in enumerate(names):
        put(context, name, at * 1.5)
    return sorted(names)


@tool("honest.scatter", determinism="seeded", cases=[Case({"n": 4})])
def scatter(context: Context, n: int) -> list[float]:
    """Draws from its seed."""
    drawn = [float(each) for each in context.rng("points").random(n)]
    put(context, context.name("points"), *drawn)
    return drawn


@tool("honest.names", determinism="deterministic", reads_only=True, cases=[Case({}, start=START)])
def names(context: Context) -> list[str]:
    """Return the names of the scene, sorted."""
    return sorted({*context.backend.state()})


@tool("honest.stamp", determinism="deterministic", idempotent=True, cases=STARTED)
def stamp(context: Context) -> str:
    """Write contract time into an existing thing."""
    context.backend.things["a"] = [context.time.isoformat()]
    return context.time.isoformat()


@tool("honest.sum", determinism="deterministic", cases=[Case({"name": "b"}, start=START)])
def total(context: Context, name: str) -> float:
    """Add the values of a thing up."""
    return float(sum(context.backend.things[name]))


@macro("honest.both", uses=[put_thing, scatter])
def both(context: Context, name: str) -> dict[str, Any]:
    """Take two honest steps."""
    made = context.call(put_thing, name=name, values=[1])
    return {"put": made, "scatter": context.call(scatter, n=3)}


registry = Registry(
    [
        global_random, seconds, c_clock, date, mapped_date, set_order, object_hash, identity,
        counter_name, link_order, active, session_id, listing, processors, local_time, home, folder,
        network, ignored_seed, ignoring_part, part, in_locale, file_mode, reads_only, idempotent,
        swallowed, kept_draw, kept_answer, odd_seed, grid, scatter, names, stamp, total, both,
    ],
    "lying",
    backend=Shelf,
)  # fmt: skip
