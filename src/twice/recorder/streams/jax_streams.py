"""Streams of JAX: keys by number under one base key. Imports JAX: the extra ``jax``.

JAX has no generators to keep a position in, so the stream counts the keys it gave: key ``n`` is
``fold_in(base, n)``, and the base is 64 bits of the sub-seed under an algorithm named here, so that
``jax_default_prng_impl`` and the 64-bit switch change nothing.

Invariant: the key given depends on the stream's seed and the counter alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from twice.foundation.seeds import Seed
from twice.recorder.streams.governed import Governed, refuse_state
from twice.recorder.streams.ownership import Unshareable

ALGORITHM = "threefry2x32"
_COUNTER_LIMIT = 2**64


class JaxStream(Unshareable):
    """A counter over the keys of one base key.

    Args:
        stream_name: the name it was taken under.
        seed: its sub-seed.
    """

    def __init__(self, stream_name: str, seed: Seed) -> None:
        words = np.array([seed.value >> 32 & 0xFFFFFFFF, seed.value & 0xFFFFFFFF], dtype=np.uint32)
        self.stream_name = stream_name
        self.position = 0
        # An attribute, because recorded states that hold a stream have it.
        self._fold_in = jax.random.fold_in
        self._base = jax.random.wrap_key_data(words, impl=ALGORITHM)

    def key(self, index: int | None = None) -> Any:
        """Return key number ``index``, by default the next one; nothing moves."""
        number = self.position if index is None else index
        high, low = divmod(number, 2**32)  # ``fold_in`` takes 32 bits
        base = self._fold_in(self._base, high) if high else self._base
        return self._fold_in(base, low)

    def next(self) -> Any:
        """Return the next key, which this stream has never returned before."""
        key = self.key()
        self.position += 1
        return key


class GovernedJax(Governed):
    """The counter of a ``JaxStream``."""

    kind = "jax"

    def __init__(self, stream: JaxStream) -> None:
        self.generator = self._stream = stream
        self.moving = lambda: stream.position.to_bytes(8, "little")

    def read(self) -> dict[str, object]:
        """Return the algorithm and the number of keys returned."""
        return {"kind": self.kind, "algorithm": ALGORITHM, "position": self._stream.position}

    def _put(self, state: Mapping[str, object]) -> None:
        position, algorithm = state.get("position"), state.get("algorithm")
        if not isinstance(position, int) or not 0 <= position < _COUNTER_LIMIT:
            raise refuse_state(f"holds the counter {position!r}", self.kind)
        if algorithm != ALGORITHM:
            raise refuse_state(f"is of algorithm {algorithm!r}", self.kind)
        self._stream.position = position
