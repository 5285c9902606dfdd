"""Fuzzes the compiled twin by coverage: values made from bytes have the form, the parts and the digest of the reference.

Usage: python tests/foundation/fuzz_twin.py [options of libFuzzer] CORPUS

It needs atheris (``pip install atheris``), and stops at the first value that is written otherwise. No test runs it.
"""

from __future__ import annotations

import random
import sys
from typing import Any, Self

import atheris
from blake3 import blake3

with atheris.instrument_imports(include=["twice.foundation.encoding", "test_compiled_twin"]):
    from test_compiled_twin import draw, make_registry, outcome

    from twice.foundation.encoding import encode, encode_parts
    from twice.foundation.encoding.reference_walk import walk


class GivenBytes(random.Random):
    """Makes each choice from the next given bytes; zeros follow them."""

    def __new__(cls, _data: bytes) -> Self:
        """Leave the bytes to ``__init__``."""
        return super().__new__(cls)

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def getrandbits(self, k: int) -> int:
        """Return the next bits."""
        size = (k + 7) // 8
        taken = self._data[self._at : self._at + size]
        self._at += size
        return int.from_bytes(taken, "little") & (1 << k) - 1

    def random(self) -> float:
        """Return the next number in [0, 1)."""
        return self.getrandbits(53) / 2**53


def compare(data: bytes) -> None:
    """Write one value in each way."""
    registry: Any = make_registry()
    value = draw(GivenBytes(data))
    expected = outcome(lambda: b"".join(walk(value, registry)))
    assert outcome(lambda: encode(value, registry=registry)) == expected
    if isinstance(expected, bytes):
        parts = encode_parts(value, registry=registry, threshold=data[-1] if data else 1)
        assert b"".join(parts) == expected
        if len(expected) <= 1024:
            assert registry.encoder.digest(value, 4096) == blake3(expected).digest()[:16]


if __name__ == "__main__":
    atheris.Setup(sys.argv, compare)
    atheris.Fuzz()
