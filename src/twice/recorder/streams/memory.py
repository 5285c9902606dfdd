"""Generator positions as raw memory: what makes a compare-point cost nanoseconds, not microseconds.

Public state costs 10 to 30 microseconds a generator; a view of the same bytes costs 30 nanoseconds.
Each layout below is first a function of the public state; a view is used only where its bytes are
those of that function, on scratch generators and on the very object viewed. Elsewhere (another
interpreter, byte order or numpy) the caller computes the layout from the public state instead.

Invariant: a position has the same bytes whether it was viewed or computed.
"""

from __future__ import annotations

import _random
import ctypes
import functools
import random
import struct
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_WORDS = struct.Struct("<624I")
_INDEX = struct.Struct("<i")
_HALF_WORD = struct.Struct("<II")
_GAUSS = struct.Struct("<i4xd")

RANDOM_BYTES = _INDEX.size + _WORDS.size


def random_layout(state: tuple[Any, ...]) -> bytes:
    """Pack ``random.Random.getstate()``: index, then 624 words; 2,500 bytes."""
    words = state[1]
    return _INDEX.pack(words[-1]) + _WORDS.pack(*words[:-1])


def pcg64_layout(state: Mapping[str, Any]) -> bytes:
    """Pack the state of PCG64 or PCG64DXSM: state, increment, half word; 40 bytes."""
    inner: Mapping[str, int] = state["state"]
    whole = inner["state"].to_bytes(16, "little") + inner["inc"].to_bytes(16, "little")
    return whole + _HALF_WORD.pack(state["has_uint32"], state["uinteger"])


def mt19937_layout(state: Mapping[str, Any]) -> bytes:
    """Pack the state of numpy's MT19937: 624 words, then position; 2,500 bytes."""
    inner = state["state"]
    return _WORDS.pack(*map(int, inner["key"])) + _INDEX.pack(inner["pos"])


def gauss_layout(has_gauss: int, gauss: float) -> bytes:
    """Pack the second Gaussian that ``RandomState`` keeps; 16 bytes."""
    return _GAUSS.pack(has_gauss, gauss)


def random_view(generator: random.Random) -> memoryview | None:
    """View the position of a ``random.Random``, or None where its memory is not as known."""
    offset = _random_offset()
    if offset is None:
        return None
    view = _view(id(generator) + offset, RANDOM_BYTES)
    return view if view == random_layout(generator.getstate()) else None


def bits_layout(bits: np.random.BitGenerator) -> Callable[[Mapping[str, Any]], bytes] | None:
    """Return the layout for a kind of numpy bit generator, or None where there is none."""
    import numpy as np

    if isinstance(bits, np.random.PCG64 | np.random.PCG64DXSM):
        return pcg64_layout
    return mt19937_layout if isinstance(bits, np.random.MT19937) else None


def bits_views(bits: np.random.BitGenerator) -> tuple[memoryview, ...] | None:
    """View the position of a numpy bit generator, or None where its memory is not as known."""
    import numpy as np

    if isinstance(bits, np.random.PCG64 | np.random.PCG64DXSM):
        return _pcg64_views(bits) if _pcg64_is_known() else None
    if isinstance(bits, np.random.MT19937):
        return _mt19937_views(bits) if _mt19937_is_known() else None
    return None


def gauss_view(generator: np.random.RandomState) -> memoryview | None:
    """View the second Gaussian of a ``RandomState``, or None where its memory is not as known."""
    offset = _gauss_offset()
    if offset is None:
        return None
    view = _view(id(generator) + offset, _GAUSS.size)
    state: Any = generator.get_state(legacy=False)
    return view if view == gauss_layout(state["has_gauss"], state["gauss"]) else None


def _view(address: int, length: int) -> memoryview:
    return memoryview((ctypes.c_ubyte * length).from_address(address)).cast("B").toreadonly()


def _addresses_are_ids() -> bool:
    return sys.implementation.name == "cpython"


@functools.cache
def _random_offset() -> int | None:
    """Find where ``random.Random`` keeps its state, and see it move with three kinds of draw."""
    if not _addresses_are_ids():
        return None
    scratch = random.Random(20)  # noqa: S311 - a known generator to measure, not a secret
    whole = _view(id(scratch), _random.Random.__basicsize__)
    offset = bytes(whole).find(random_layout(scratch.getstate()))
    if offset < 0:
        return None
    for draw in (scratch.random, lambda: scratch.getrandbits(700 * 32), scratch.random):
        draw()
        if whole[offset : offset + RANDOM_BYTES] != random_layout(scratch.getstate()):
            return None
    return offset


def _pcg64_views(bits: np.random.PCG64 | np.random.PCG64DXSM) -> tuple[memoryview, ...] | None:
    """View ``struct { pcg64_random_t *; int; uint32_t; }``, numpy/random/src/pcg64/pcg64.h."""
    address = bits.ctypes.state_address
    inner = ctypes.c_void_p.from_address(address).value
    if inner is None:
        return None
    half = address + ctypes.sizeof(ctypes.c_void_p)
    views = (_view(inner, 32), _view(half, _HALF_WORD.size))
    return views if b"".join(views) == pcg64_layout(bits.state) else None


@functools.cache
def _pcg64_is_known() -> bool:
    """See the views move with whole and half words, on a scratch generator of each kind."""
    import numpy as np

    for kind in (np.random.PCG64, np.random.PCG64DXSM):
        bits = kind(20)
        scratch = np.random.Generator(bits)
        views = _pcg64_views(bits)
        if views is None:
            return False
        for _ in range(3):
            scratch.integers(0, 2**31, dtype=np.uint32)
            scratch.random()
            if b"".join(views) != pcg64_layout(bits.state):
                return False
    return True


def _mt19937_views(bits: np.random.MT19937) -> tuple[memoryview, ...] | None:
    """View ``struct { uint32_t key[624]; int pos; }``, numpy/random/src/mt19937/mt19937.h."""
    view = _view(bits.ctypes.state_address, RANDOM_BYTES)
    return (view,) if view == mt19937_layout(bits.state) else None


@functools.cache
def _mt19937_is_known() -> bool:
    import numpy as np

    bits = np.random.MT19937(20)
    views = _mt19937_views(bits)
    if views is None:
        return False
    for count in (1, 700):
        bits.random_raw(count)
        if b"".join(views) != mt19937_layout(bits.state):
            return False
    return True


@functools.cache
def _gauss_offset() -> int | None:
    """Find where ``RandomState`` keeps its second Gaussian: one place, in two scratch objects."""
    import numpy as np

    if not _addresses_are_ids():
        return None
    found: list[int] = []
    for seed in (20, 21):
        scratch = np.random.RandomState(seed)
        whole = _view(id(scratch), np.random.RandomState.__basicsize__)
        scratch.standard_normal()
        state: Any = scratch.get_state(legacy=False)
        kept = gauss_layout(state["has_gauss"], state["gauss"])
        memory = bytes(whole)
        if not state["has_gauss"] or memory.count(kept) != 1:
            return None
        found.append(memory.index(kept))
        scratch.standard_normal()
        if bytes(whole[found[-1] : found[-1] + _GAUSS.size]) != gauss_layout(0, 0.0):
            return None
    return found[0] if found[0] == found[1] else None
