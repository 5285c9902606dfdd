"""What is read of one value: the form that readers of classes hand to the walk; and the hash that a diagnosis compares by.

Not for: anything that is stored or shown as a digest; those are labelled (``foundation.digests``).

Invariant: a state holds what was read, and nothing that is read later.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm, Buffer, short_digest


@dataclass(frozen=True, slots=True)
class State:
    """The state of one value: raw bytes, values to walk, pairs in order, members without order.

    Args:
        chunks: bytes that are part of the state as they are.
        values: objects to walk, in order.
        pairs: key and value pairs, in order, or None.
        members: members without order, or None.
        attributes: instance attributes belong to the state too.
        caveat: what cannot be seen, or empty.
    """

    chunks: tuple[bytes, ...] = ()
    values: tuple[object, ...] = ()
    pairs: list[tuple[object, object]] | None = None
    members: list[object] | None = None
    attributes: bool = False
    caveat: str = ""


def in_bytes(*words: str) -> tuple[bytes, ...]:
    """Words as chunks of a state."""
    return tuple(word.encode("utf-8", "surrogatepass") for word in words)


@functools.cache
def _hash() -> Callable[[Buffer], bytes]:
    return short_digest(Algorithm.XXH3_128)


def short_hash(data: Buffer) -> bytes:
    """Digest of 16 bytes."""
    return _hash()(data)
