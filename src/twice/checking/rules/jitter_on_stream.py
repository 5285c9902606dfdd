"""The delay before a retry is drawn from a stream that results are drawn from.

How often something is retried depends on the world: the network, the load, a lock. Each retry takes a number
out of the stream, and every number after it is another one, so a run that met one more time-out
differs from there on although the delay itself is harmless.

Nothing is said of a generator that is made for the purpose and called so (``jitter_rng``). A delay
from a process-wide stream is a note where nothing else is seen to draw from it or to seed it.

Bad:
    import time

    class Client:
        def __init__(self, rng):
            self.rng = rng

        def send(self, message):
            for attempt in range(5):
                try:
                    return message.send()
                except OSError:
                    time.sleep(2**attempt + self.rng.uniform(0, 1))

or:
    import random
    import time

    random.seed(7)

    def send(message):
        try:
            return message.send()
        except OSError:
            time.sleep(random.uniform(0, 1))

or:
    import asyncio

    async def call(model, rng):
        delay = rng.random() * 3
        await asyncio.sleep(delay)
        return await model.ask()

Good:
    import random
    import time

    class Client:
        def __init__(self):
            self.jitter = random.SystemRandom()

        def wait(self, attempt):
            time.sleep(2**attempt + self.jitter.uniform(0, 1))

or:
    import time

    def wait(attempt):
        time.sleep(2**attempt)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, Final

from twice.checking.findings import Found, Reach
from twice.checking.rule import Breaks, Rule
from twice.checking.rules import streams
from twice.checking.rules.seeding import is_delay, is_generator
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.words import TIMING, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME: Final = "jitter-on-stream"
_OWN: Final = TIMING | {"jitter", "noise", "network", "io"}
_WHY: Final = (
    "Each one takes a number out of the stream, so the world's delays decide all later ones."
)


def look(site: Site) -> Iterator[Found]:
    """Look at a draw from a generator."""
    func = site.call.func
    assert isinstance(func, ast.Attribute), "methods are asked for"
    if about(last_name(func.value), _OWN) or not is_generator(site, func.value):
        return
    kind = site.kind(func.value)
    if kind is not None and kind.origin == "random.SystemRandom":
        return
    if not is_delay(site):
        return
    yield site.found(NAME, f"A delay is drawn from {site.module.shown(func.value)}.", _WHY)


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Found]]:
    """Report the delays that are drawn from process-wide streams."""
    for path, found, is_shared in streams.delays(facts):
        yield path, streams.renamed(found, NAME, _WHY, Reach.LOUD if is_shared else Reach.UNSEEN)


RULE = Rule(
    name=NAME,
    channel=Channel.RNG,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Draw delays from a generator of their own that results never use: random.SystemRandom().",
    methods=("draws",),
    look=look,
    gather=streams.gather,
    conclude=conclude,
)
