"""What a file certainly does that a specification asks about: run things at once, round, use a GPU, ask the world.

An import shows nothing: what is imported may never be called. A call shows that the code can.

Invariant: a channel without a place here is not known to be absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from twice.checker.auditing.effects import Ask
from twice.checker.auditing.facing import Evidence
from twice.checker.syntax.module import Module
from twice.foundation.channels import Channel

_GROUPS: Final = (
    ("thread", Channel.CONCURRENCY),
    ("executor", Channel.CONCURRENCY),
    ("pool", Channel.CONCURRENCY),
    ("starting-beside", Channel.CONCURRENCY),
    ("tolerant", Channel.FLOATING_POINT),
    ("transcendental", Channel.FLOATING_POINT),
    ("linear-algebra", Channel.FLOATING_POINT),
)
_ONLY_ASKS: Final = ("is_available", "device_count", "is_initialized", "is_built")


def presence(module: Module, asks: Iterable[Ask], faced: Iterable[Evidence]) -> Iterator[Evidence]:
    """Give the places, channel by channel.

    Args:
        module: the file.
        asks: its questions to the world.
        faced: where it touches which channel.
    """
    for node, _, name in module.calls:
        for group, channel in _GROUPS:
            if module.catalogue.has(group, name):
                yield Evidence(channel.value, module.path, node.lineno, str(name))
                break
    for each in faced:
        if each.channel == Channel.GPU.value and not each.what.endswith(_ONLY_ASKS):
            yield each
    for ask in asks:
        yield Evidence(Channel.EFFECTS.value, ask.path, ask.line, ask.call)
