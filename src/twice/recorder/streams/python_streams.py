"""Streams of the standard library: ``random.Random`` with one owner and a position to read.

Neither ``random()`` nor ``getrandbits()`` is overridden: that would cost 200 nanoseconds a draw,
and overriding ``random()`` alone changes what ``randrange`` returns.

Invariant: a stream draws the very numbers of ``random.Random(seed.value)``.
"""

from __future__ import annotations

import _random
import functools
import random
import struct
import sys
from collections.abc import Mapping
from typing import Any, NoReturn, Self

from twice.foundation.seeds import Seed
from twice.recorder.streams.governed import Governed, follows, refuse_state, view_memory
from twice.recorder.streams.ownership import Unshareable, refuse_reseeding

WORDS = struct.Struct("<624I")
WORDS_VERSION = 3
_INDEX = struct.Struct("<i")
_GAUSS = struct.Struct("<?d")
_NO_GAUSS = _GAUSS.pack(False, 0.0)
# ``struct { PyObject_HEAD int index; uint32_t state[624]; }``, Modules/_randommodule.c of CPython
_HEAD_BYTES = object.__basicsize__
_STATE_BYTES = _INDEX.size + WORDS.size


class PythonStream(Unshareable, random.Random):
    """A ``random.Random`` that cannot be copied, pickled or re-seeded."""

    def __init__(self, stream_name: str, seed: Seed) -> None:
        self.stream_name = stream_name
        super().seed(seed.value)

    def __new__(cls, *_for_init: object) -> Self:
        """Leave the arguments to ``__init__``: on Python 3.11 the base would seed from them."""
        return super().__new__(cls)

    def seed(self, *_args: object, **_keywords: object) -> NoReturn:
        """Refuse: E-RNG-005."""
        raise refuse_reseeding(self.stream_name)


class GovernedRandom(Governed):
    """Any ``random.Random`` whose state can be read: a stream, the global one, a foreign one."""

    kind = "python"

    def __init__(self, generator: random.Random) -> None:
        self.generator = self._random = generator
        self.moving = self._whole
        if _is_viewable():
            views = (view_memory(id(generator) + _HEAD_BYTES, _STATE_BYTES),)
            if follows(views, lambda: pack_random(generator.getstate())):
                self.views, self.moving = views, self._gauss

    def _whole(self) -> bytes:
        return pack_random(self._random.getstate()) + self._gauss()

    def _gauss(self) -> bytes:
        kept = self._random.gauss_next  # type: ignore[attr-defined]  # typeshed leaves it out
        return _NO_GAUSS if kept is None else _GAUSS.pack(True, kept)

    def read(self) -> dict[str, object]:
        """Return 624 words as 2,496 little-endian bytes, the index, and the cached Gaussian."""
        version, words, gauss = self._random.getstate()
        return {
            "kind": self.kind,
            "algorithm": "MT19937",
            "version": version,
            "words": WORDS.pack(*words[:-1]),
            "index": words[-1],
            "gauss_next": gauss,
        }

    def _put(self, state: Mapping[str, object]) -> None:
        match dict(state):
            case {
                "algorithm": "MT19937",
                "version": 3,
                "words": bytes(words),
                "index": int(index),
                "gauss_next": None | float() as gauss,
            } if len(words) == WORDS.size and 0 <= index <= 624:
                self._random.setstate((WORDS_VERSION, (*WORDS.unpack(words), index), gauss))
            case _:
                raise refuse_state("has other fields, or values out of range", self.kind)


def pack_random(state: tuple[Any, ...]) -> bytes:
    """Pack ``random.Random.getstate()``: index, then 624 words; 2,500 bytes."""
    words = state[1]
    return _INDEX.pack(words[-1]) + WORDS.pack(*words[:-1])


@functools.cache
def _is_viewable() -> bool:
    """Try the declared layout on a scratch generator, over three kinds of draw."""
    if sys.implementation.name != "cpython":  # elsewhere an id is no address
        return False
    if _random.Random.__basicsize__ < _HEAD_BYTES + _STATE_BYTES:
        return False
    scratch = random.Random(20)  # noqa: S311 - a known generator to measure, not a secret
    views = (view_memory(id(scratch) + _HEAD_BYTES, _STATE_BYTES),)
    draws = (scratch.random, lambda: scratch.getrandbits(700 * 32), scratch.random)
    return follows(views, lambda: pack_random(scratch.getstate()), draws)
