"""One stream, one owner: two that draw from one generator shift each other's numbers.

``Unshareable`` refuses copies; ``find_owners`` looks for a generator that stands in an attribute of several tracked
objects, or in a list, tuple or dict there, once, when the ticks begin.

Not for: a generator that a component gets later, is handed for one call, or reaches through another object: a world
that lends its generator to its agents is one owner, and so is each agent with a way back to its world.

Invariant: no line of the user's code runs, and nothing is looked through that is deeper or longer than said here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NoReturn, cast

from twice.errors import StreamReseeded, StreamShared, StreamTaken
from twice.foundation.object_attributes import attributes, class_facts

_ITEMS_MAX = 1_000


class Unshareable:
    """A stream that cannot be copied or pickled: the copy would draw the same numbers."""

    stream_name = ""

    def __copy__(self) -> NoReturn:
        raise refuse_sharing(self.stream_name, "copied")

    def __deepcopy__(self, _memo: object) -> NoReturn:
        raise refuse_sharing(self.stream_name, "deep-copied")

    def __reduce__(self) -> NoReturn:
        raise refuse_sharing(self.stream_name, "pickled")


def find_owners(
    streams: Mapping[int, str], components: Mapping[str, object]
) -> dict[str, list[str]]:
    """Return the owners of each stream, by its name; an object tracked twice is one owner.

    Args:
        streams: names of streams by ``id`` of the generator that the program draws from.
        components: tracked objects by name.
    """
    owners: dict[str, list[str]] = {}
    seen: set[int] = set()
    for name, target in components.items():
        if id(target) in seen:
            continue
        seen.add(id(target))
        held = {streams[id(each)] for each in _walk(target, depth=2) if id(each) in streams}
        for stream in sorted(held):
            owners.setdefault(stream, []).append(name)
    return owners


def _walk(value: object, depth: int) -> Iterator[object]:
    """Yield the values in an object, and in plain containers in it."""
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


def refuse_taken(name: str, kind: str) -> StreamTaken:
    """Build the error for a name that has an owner."""
    return StreamTaken(
        f"The stream {name!r} was taken before (kind {kind}).",
        "Each stream has one owner, so that no component shifts another's draws.",
        f"Pass the generator you have, or take another path, such as {name + '/2'!r}.",
        name=name,
    )


def refuse_sharing(name: str, act: str) -> StreamShared:
    """Build the error for a stream that would get a second owner by an act, such as being copied."""
    return StreamShared(
        f"The stream {name!r} was {act}.",
        "A stream has one owner: two that draw from it depend on each other's order.",
        f"Take a stream of its own for the other owner, such as {name + '/copy'!r}.",
        name=name,
    )


def refuse_reseeding(name: str) -> StreamReseeded:
    """Build the error for a stream that would get another seed."""
    return StreamReseeded(
        f"The stream {name!r} was given a new seed.",
        "A stream keeps the seed that its name derives, for the whole run.",
        f"Take another name for fresh numbers, such as {name + '/2'!r}.",
        name=name,
    )
