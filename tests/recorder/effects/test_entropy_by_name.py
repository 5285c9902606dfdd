"""An integer of entropy has as many random bits as were asked for, or none is drawn."""

from __future__ import annotations

from typing import Any

import pytest

from twice.errors import UsageError
from twice.recorder.effects.entropy import Entropy


class Drawing:
    """Stands for a layer, and notes how many bytes are read."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.entropy = None

    def require_actor(self, _op: object) -> None:
        return None

    def read(self, _actor: object, _op: object, live: Any, size: int) -> bytes:
        self.sizes.append(size)
        return bytes([255]) * size


@pytest.mark.parametrize("bits", [4, 12, 1, -8])
def test_bits_that_are_no_whole_bytes_are_refused_before_anything_is_drawn(bits: int) -> None:
    layer: Any = Drawing()

    with pytest.raises(UsageError, match=f"An integer of {bits} bits") as refused:
        Entropy(layer).integer(bits)
    assert refused.value.fields == {"bits": bits}
    assert layer.sizes == []


@pytest.mark.parametrize("bits", [0, 8, 64, 128])
def test_an_integer_has_all_of_its_bits(bits: int) -> None:
    layer: Any = Drawing()

    assert Entropy(layer).integer(bits) == 2**bits - 1
    assert layer.sizes == [bits // 8]
