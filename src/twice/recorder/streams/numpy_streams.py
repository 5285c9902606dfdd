"""Streams of numpy: ``Generator(PCG64(seed))`` that refuses a second owner.

The subclasses refuse to be copied, pickled or spawned from, and override nothing that draws, so a
draw costs what numpy's own costs.

Invariant: a stream draws the very numbers of ``np.random.Generator(np.random.PCG64(seed.value))``.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from twice.foundation.printable import pluralize
from twice.foundation.seeds import Seed
from twice.recorder.streams.refusals import sharing_refused


class StreamSeedSequence(np.random.SeedSequence):
    """A seed sequence without children: their seeds would depend on the order of spawning."""

    stream_name = ""

    def spawn(self, n_children: int) -> NoReturn:
        """Refuse: E-RNG-002."""
        raise sharing_refused(self.stream_name, f"asked to spawn {n_children} children")


class PCG64(np.random.PCG64):
    """The bits under a stream, which cannot be copied, pickled or jumped away from.

    Named as numpy's own: numpy writes the class name into the state and asks for it back.
    """

    stream_name = ""

    def __copy__(self) -> NoReturn:
        raise sharing_refused(self.stream_name, "copied")

    def __deepcopy__(self, _memo: object) -> NoReturn:
        raise sharing_refused(self.stream_name, "deep-copied")

    def __reduce__(self) -> NoReturn:
        raise sharing_refused(self.stream_name, "pickled")

    def jumped(self, jumps: int = 1) -> NoReturn:
        """Refuse: E-RNG-002."""
        raise sharing_refused(
            self.stream_name, f"asked for a generator {pluralize(jumps, 'jump')} ahead"
        )


class NumpyStream(np.random.Generator):
    """A numpy ``Generator`` that cannot be copied, pickled or spawned from."""

    stream_name = ""

    def __copy__(self) -> NoReturn:
        raise sharing_refused(self.stream_name, "copied")

    def __deepcopy__(self, _memo: object) -> NoReturn:
        raise sharing_refused(self.stream_name, "deep-copied")

    def __reduce__(self) -> NoReturn:
        raise sharing_refused(self.stream_name, "pickled")

    def spawn(self, n_children: int) -> NoReturn:
        """Refuse: E-RNG-002."""
        raise sharing_refused(self.stream_name, f"asked to spawn {n_children} children")


def open_numpy(name: str, seed: Seed) -> NumpyStream:
    """Make the stream of a name from its sub-seed."""
    sequence = StreamSeedSequence(seed.value)
    bits = PCG64(sequence)
    stream = NumpyStream(bits)
    sequence.stream_name = bits.stream_name = stream.stream_name = name
    return stream
