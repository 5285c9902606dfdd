"""The hash that a diagnosis compares states by.

Not for: anything that is stored or shown as a digest; those are labelled (``foundation.digests``).

Invariant: used within one diagnosis only, so an accident is all it must find.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from twice.foundation.digests import Algorithm, Buffer, short_digest


@functools.cache
def _hash() -> Callable[[Buffer], bytes]:
    return short_digest(Algorithm.XXH3_128)


def short_hash(data: Buffer) -> bytes:
    """Digest of 16 bytes."""
    return _hash()(data)
