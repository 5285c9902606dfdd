"""Count the words drawn between two positions, from the positions alone.

Nothing counts while the program runs: a counting subclass makes ``random()`` six times slower. A
word is what the algorithm makes in one step: 64 bits for PCG64 and Philox; 32 for MT19937, which is
under Python's generator (``random()`` takes two words), ``RandomState`` and torch's CPU generator;
one key for JAX. A half word kept for later counts when its word was made.

Invariant: a count is exact, or None for "could not tell"; it is never an estimate.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Mapping
from typing import Any, Final

from twice.recorder.streams.governed import WORDS, WORDS_VERSION, GovernedRandom

MT19937_WORDS_MAX: Final = 2**24
"""How far MT19937 is stepped in search of a state (a fraction of a second) before None."""

_PCG_MULTIPLIERS: Final = {
    "PCG64": 0x2360ED051FC65DA44385DF649FCCF645,
    "PCG64DXSM": 0xDA942042E4DD58B5,
}
_MASK: Final = 2**128 - 1
_LENGTH: Final = 624
_TORCH_TABLE: Final = struct.Struct(f"<Qiiq{_LENGTH}Q")
_TORCH_CPU_BYTES: Final = 5056


def draws(
    before: Mapping[str, Mapping[str, object]], after: Mapping[str, Mapping[str, object]]
) -> dict[str, int | None]:
    """Count the words drawn between two results of ``Streams.snapshot``, by stream.

    Returns:
        Every name in either, sorted; None where the algorithm or the distance does not let it be
        told, or where the stream is in one of the two only.
    """
    return {
        name: words_between(before[name], after[name]) if name in before and name in after else None
        for name in sorted(before.keys() | after.keys())
    }


def words_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> int | None:
    """Count the words between two states of one generator, or None."""
    if before == after:
        return 0
    kinds = [(s.get("kind"), s.get("algorithm", s.get("bit_generator"))) for s in (before, after)]
    if kinds[0] != kinds[1]:
        return None
    match kinds[0]:
        case ("numpy", "PCG64" | "PCG64DXSM" as algorithm):
            return _count_pcg(before["state"], after["state"], _PCG_MULTIPLIERS[algorithm])
        case ("numpy", "Philox"):
            if before["state"]["key"] != after["state"]["key"]:
                return None
            first, last = (
                int.from_bytes(state["state"]["counter"]["bytes"], "little") * 4
                + state["buffer_pos"]
                for state in (before, after)
            )
            return _forward(last - first)
        case ("numpy" | "numpy-legacy", "MT19937"):
            first, last = before["state"], after["state"]
            return _count_mt(first["key"]["bytes"], first["pos"], last["key"]["bytes"], last["pos"])
        case ("python", "MT19937"):
            return _count_mt(before["words"], before["index"], after["words"], after["index"])
        case ("torch:cpu", _):
            tables = [_read_torch(state["state"]) for state in (before, after)]
            return None if None in tables else _count_mt(*tables[0], *tables[1])  # type: ignore[misc]
        case ("jax", _):
            return _forward(after["position"] - before["position"])
        case _:
            return None


def _count_pcg(before: Mapping[str, int], after: Mapping[str, int], multiplier: int) -> int | None:
    """Solve ``after = step^n(before)`` for n, one bit at a time.

    Source: Melissa O'Neill, pcg-cpp, ``engine::distance`` in pcg_random.hpp (2014); the low k bits
    of a linear congruential generator modulo 2**128 have period 2**k.
    """
    if before["inc"] != after["inc"]:
        return None
    state, increment, target = before["state"], before["inc"], after["state"]
    words, bit = 0, 1
    while state != target:
        if (state ^ target) & bit:
            state = (state * multiplier + increment) & _MASK
            words |= bit
        increment = (multiplier + 1) * increment & _MASK
        multiplier = multiplier * multiplier & _MASK
        bit <<= 1
    return words if words < 2**127 else None


def _count_mt(table: bytes, index: int, target: bytes, target_index: int) -> int | None:
    """Step from one state, a table at a time, until the other's table comes up."""
    if table == target:
        return _forward(target_index - index)
    scratch = random.Random(0)  # noqa: S311 - stepping a known algorithm, not making a secret
    scratch.setstate((WORDS_VERSION, (*WORDS.unpack(table), index), None))
    stepped = GovernedRandom(scratch)
    words = 0
    step = _LENGTH - index + 1
    while words + step <= MT19937_WORDS_MAX:
        scratch.getrandbits(32 * step)
        words += step
        step = _LENGTH
        if stepped.position()[4:-9] == target:  # without index and Gaussian
            return words + target_index - 1
    return None


def _read_torch(raw: bytes) -> tuple[bytes, int] | None:
    """Read table and index out of torch's CPU state: MT19937 with its words in 64 bits each.

    Source: pytorch, aten/src/ATen/CPUGeneratorImpl.cpp, ``CPUGeneratorImplStateLegacy``; before a
    table is first used ``left`` is 1, which other implementations write as an index of 624.
    """
    if len(raw) != _TORCH_CPU_BYTES:
        return None
    _, left, _, used, *words = _TORCH_TABLE.unpack_from(raw)
    return WORDS.pack(*words), _LENGTH if left == 1 else used


def _forward(words: int) -> int | None:
    return words if words >= 0 else None
