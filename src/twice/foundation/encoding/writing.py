"""Value to canonical bytes: the fast path, and the reference walk where that gives up.

Invariant: equal state gives equal bytes, in every process, on every platform, under this
``VERSION``; a value that cannot keep that promise is refused.
"""

from __future__ import annotations

from twice.foundation.encoding.hot import GIVE_UP, Trail
from twice.foundation.encoding.opened import Buffer
from twice.foundation.encoding.registry import Registry
from twice.foundation.encoding.registry import registry as _default
from twice.foundation.encoding.walking import walk

ROOT = "state"


def _parts(value: object, registry: Registry | None) -> list[Buffer]:
    known = _default if registry is None else registry
    table = known.writers
    parts: list[Buffer] = []
    try:
        table[type(value)](value, parts.append, Trail(), table)
    except GIVE_UP:
        return walk(value, known, ROOT)
    return parts


def encode(value: object, *, registry: Registry | None = None) -> bytes:
    """The canonical form of a value.

    Args:
        value: plain values, arrays, enums, dataclasses, named tuples, registered types.
        registry: the users' types that are known; the default one when None.

    Returns:
        One byte string per state; see ``docs/format/canonical-form.md``.

    Raises:
        EncodingRefused: E-ENCODE-001, a value has no canonical form; the path is named.
        EncodingCycle: E-ENCODE-002, a value contains itself.
        EncodingTextRefused: E-ENCODE-003, a text holds lone surrogates.
    """
    return b"".join(_parts(value, registry))


def encode_parts(
    value: object, *, registry: Registry | None = None, threshold: int = 4096
) -> list[bytes | memoryview]:
    """The canonical form in parts, so that large buffers need not be copied.

    Arrays that are C-contiguous and little-endian, ``bytes`` and ``bytearray`` of at least
    ``threshold`` bytes stand alone as flat memoryviews of the value itself: use them before the
    value changes, and let go of them before a ``bytearray`` is resized.

    Args:
        value: as for ``encode``.
        registry: as for ``encode``.
        threshold: in bytes; what is smaller is joined with its neighbours.

    Returns:
        Parts that joined are ``encode(value)``; none is empty.

    Raises:
        EncodingRefused: E-ENCODE-001, and its leaves, as for ``encode``.
    """
    parts = _parts(value, registry)
    if max(map(len, parts)) < threshold:
        return [b"".join(parts)]
    joined: list[Buffer] = []
    small: list[Buffer] = []
    for part in parts:
        if len(part) < threshold:
            small.append(part)
            continue
        if small:
            joined.append(b"".join(small))
            small = []
        joined.append(part if isinstance(part, memoryview) else memoryview(part))
    if small:
        joined.append(b"".join(small))
    return [part for part in joined if len(part)]
