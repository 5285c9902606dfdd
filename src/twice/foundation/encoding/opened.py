"""One step into a value: the bytes it begins with, the values that follow, how each is reached.

Every type that has parts is described by one ``Opener``. The reference walk, the fast writer of
uncommon types, the Merkle tree and the diff all stand on it.

Invariant: canonical form is ``parts`` followed by the canonical forms of ``children``, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Buffer = bytes | memoryview

Sub = Callable[[object], bytes]
"""Encodes a key or a set element, whose bytes are needed before the next one's."""


def no_label(_index: int) -> str:
    """The label of children that do not exist."""
    return ""


def key_text(key: object) -> str:
    """A key as it stands in a path, at most 40 characters; its type when it cannot be printed."""
    try:
        text = repr(key)
    except Exception:  # noqa: BLE001  # a key's repr is the user's, or an int of too many digits
        return f"<{type(key).__qualname__}>"
    return text if len(text) <= 40 else f"{text[:37]}..."


class Opened(NamedTuple):
    """A value taken apart by one level.

    Args:
        parts: what stands before the children; for a leaf, everything.
        children: the values inside, in the order in which they are written.
        label: child index to the text that reaches it: ``[3]``, ``['key']``, ``.field``.
        keys: one per child: its index, key or field name.
        kind: the container's type, as a word.
        key_forms: the canonical forms of ``keys`` where opening needed them anyway; else empty.
    """

    parts: tuple[Buffer, ...]
    children: Sequence[object] = ()
    label: Callable[[int], str] = no_label
    keys: Sequence[object] = ()
    kind: str = "leaf"
    key_forms: Sequence[bytes] = ()


Opener = Callable[[Any, Sub], Opened]
