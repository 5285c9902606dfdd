"""Streams of the standard library: ``random.Random`` with one owner and a position to read.

Neither ``random()`` nor ``getrandbits()`` is overridden: that would cost 200 nanoseconds a draw,
and overriding ``random()`` alone changes what ``randrange`` returns.

Invariant: a stream draws the very numbers of ``random.Random(seed.value)``.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Mapping
from typing import NoReturn, Self

from twice.foundation.seeds import Seed
from twice.recorder.streams.governed import Governed
from twice.recorder.streams.memory import random_layout, random_view
from twice.recorder.streams.refusals import reseeding_refused, sharing_refused, state_refused

_GAUSS = struct.Struct("<?d")
_NO_GAUSS = _GAUSS.pack(False, 0.0)
WORDS = struct.Struct("<624I")
WORDS_VERSION = 3


class PythonStream(random.Random):
    """A ``random.Random`` that cannot be copied, pickled or re-seeded."""

    def __init__(self, stream_name: str, seed: Seed) -> None:
        self.stream_name = stream_name
        super().seed(seed.value)

    def __new__(cls, *_for_init: object) -> Self:
        """Leave the arguments to ``__init__``: on Python 3.11 the base would seed from them."""
        return super().__new__(cls)

    def seed(self, *_args: object, **_keywords: object) -> NoReturn:
        """Refuse: E-RNG-005."""
        raise reseeding_refused(self.stream_name)

    def __copy__(self) -> NoReturn:
        raise sharing_refused(self.stream_name, "copied")

    def __deepcopy__(self, _memo: object) -> NoReturn:
        raise sharing_refused(self.stream_name, "deep-copied")

    def __reduce__(self) -> NoReturn:
        raise sharing_refused(self.stream_name, "pickled")


class GovernedRandom(Governed):
    """Any ``random.Random`` whose state can be read: a stream, the global one, a foreign one."""

    kind = "python"

    def __init__(self, generator: random.Random) -> None:
        self.generator = self._random = generator
        view = random_view(generator)
        if view is None:
            self.moving = self._whole
        else:
            self.views = (view,)
            self.moving = self._gauss

    def _whole(self) -> bytes:
        return random_layout(self._random.getstate()) + self._gauss()

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

    def write(self, state: Mapping[str, object]) -> None:
        """Put a state back in place.

        Raises:
            StreamStateRefused: E-RNG-004, when the state does not fit.
        """
        match dict(state):
            case {
                "kind": self.kind,
                "algorithm": "MT19937",
                "version": 3,
                "words": bytes(words),
                "index": int(index),
                "gauss_next": None | float() as gauss,
            } if len(words) == WORDS.size and 0 <= index <= 624:
                self._random.setstate((WORDS_VERSION, (*WORDS.unpack(words), index), gauss))
            case _:
                raise state_refused(f"of kind {state.get('kind')!r} does not fit", self.kind)
