"""Known first draws: what a stream gives first, from the master seed and its name alone.

Invariant: these are the numbers that ``run.rng`` and ``run.streams.python`` give under that name.
"""

from __future__ import annotations

from typing import Final

from twice.foundation.seeds import Seed
from twice.recording.streams.registry import Streams

_COUNT: Final = 4


def first_draws(kind: str, master: Seed, name: str) -> list[str]:
    """Give the first four 64-bit words as hexadecimal digits; [] for a kind that is not drawn here.

    Args:
        kind: ``numpy`` or ``python``, as sheet 03 says it.
        master: the run's seed.
        name: the stream's.
    """
    streams = Streams(master)
    if kind == "numpy":
        words = streams.numpy(name).bit_generator.random_raw(_COUNT)
        return [f"{int(word):016x}" for word in words]
    if kind == "python":
        generator = streams.python(name)
        return [f"{generator.getrandbits(64):016x}" for _ in range(_COUNT)]
    return []
