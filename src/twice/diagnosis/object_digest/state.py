"""What is read of one value: the form that readers of classes hand to the walk.

Invariant: a state holds what was read, and nothing that is read later.
"""

from __future__ import annotations

from twice.foundation.dataclass import dataclass


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
