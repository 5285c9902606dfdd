"""A simulation takes its time step from the clock.

A loop that sleeps, reads the clock and steps by the time that went by makes every run another one: the
scheduler of the machine decides how long each step is. Step by a fixed time, and let the clock decide only
when a step is shown.

Nothing is said of a loop that sleeps between steps whose length it does not measure.

Bad:
    import time

    def run(world):
        last = time.monotonic()
        while world.running:
            now = time.monotonic()
            dt = now - last
            last = now
            world.step(dt)
            time.sleep(0.01)

or:
    import time

    def fly(ship):
        then = time.time()
        while True:
            ship.update(time.time() - then)
            then = time.time()
            time.sleep(1 / 60)

Good:
    import time

    def run(world, dt=0.01):
        while world.running:
            world.step(dt)
            time.sleep(dt)

or:
    import time

    def run(world, dt=0.01):
        last = time.monotonic()
        while world.running:
            world.step(dt)
            spent = time.monotonic() - last
            last = time.monotonic()
            time.sleep(max(0.0, dt - spent))
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule, mentions
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "sleep-paced-tick"
_STEPPING = frozenset({"step", "update", "tick", "advance", "integrate", "simulate", "move"})


def look(site: Site) -> Iterator[Found]:
    """Look at a loop."""
    loop = site.node
    assert isinstance(loop, ast.While), "asked for"
    if not site.module.imported & {"time", "asyncio", "pygame"}:
        return
    calls = [each for one in loop.body for each in ast.walk(one) if isinstance(each, ast.Call)]
    if not any(last_name(each) == "sleep" for each in calls):
        return
    clocks = {each for each in calls if site.catalogue.has("clock", site.qualified(each.func))}
    if not clocks:
        return
    spans = _spans(loop, clocks)
    for call in calls:
        if about(last_name(call), _STEPPING):
            for given in [*call.args, *(each.value for each in call.keywords)]:
                if _mentions(given, spans, clocks):
                    yield site.found(
                        NAME,
                        f"{site.module.shown(call.func)}() is given the time that went by on the clock.",
                        "The scheduler of the machine decides how long each step is.",
                        node=call,
                    )
                    return


def _spans(loop: ast.While, clocks: set[ast.Call]) -> set[str]:
    """Names in a loop that hold a time or the difference of two."""
    found: set[str] = set()
    for one in loop.body:
        for each in ast.walk(one):
            if isinstance(each, ast.Assign) and _mentions(each.value, found, clocks):
                found |= {name.id for name in each.targets if isinstance(name, ast.Name)}
    return found


def _mentions(node: ast.AST, names: set[str], clocks: set[ast.Call]) -> bool:
    return any(
        (isinstance(each, ast.Name) and each.id in names) or each in clocks
        for each in ast.walk(node)
    )


RULE = Rule(
    name=NAME,
    channel=Channel.CONCURRENCY,
    breaks=Breaks.LOGICAL,
    severity=Severity.HIGH,
    remedy="Step by a fixed time, as often as is needed to catch up with the clock.",
    nodes=(ast.While,),
    look=look,
    applies=mentions("sleep"),
)
