"""One stream, one owner: which tracked objects hold a generator.

A generator is looked for in the attributes of each tracked object, and in a list, tuple or dict there, once, when the ticks
begin. Not for: a generator that a component gets later, is handed for one call, or reaches through another object. A world
that lends its generator to its agents is one owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, cast

from twice.foundation.object_attributes import attributes, class_facts

_ITEMS_MAX = 1_000


def find_owners(
    streams: Mapping[int, str], components: Mapping[str, object]
) -> dict[str, list[str]]:
    """Return the owners among the components, by stream; an object tracked twice is one owner.

    Args:
        streams: names of streams by ``id`` of the generator that the program draws from.
        components: tracked objects by name.
    """
    owners: dict[str, list[str]] = {}
    first_names: dict[int, str] = {}
    for name, target in components.items():
        if first_names.setdefault(id(target), name) == name:
            held = {streams[id(each)] for each in _walk(target, depth=2) if id(each) in streams}
            for stream in sorted(held):
                owners.setdefault(stream, []).append(name)
    return owners


def _walk(value: object, depth: int) -> Iterator[object]:
    """Yield the values in an object, and in plain containers in it; no line of the user's code runs."""
    kind, plain = type(value), cast("Any", value)  # isinstance would ask the object for its class
    if kind is dict:
        inside: Iterator[object] = iter(list(islice(plain.values(), _ITEMS_MAX)))
    elif kind is list or kind is tuple:
        inside = iter(plain[:_ITEMS_MAX])
    elif depth == 2:
        inside = (held for _, held in attributes(value, class_facts(kind)))
    else:
        return
    for each in inside:
        yield each
        if depth > 1:
            yield from _walk(each, depth - 1)
