"""numpy's generators: streams with one owner, positions by view, states as plain values.

numpy copies a state into C memory unchecked: a position past the end of a table makes the next draw read foreign
memory. A record may come from a stranger, so shape and range are checked here.

Loaded while numpy is still being imported: ``numpy.random`` is there, what numpy imports after it is not.

Invariant: a stream draws the very numbers of ``np.random.Generator(np.random.PCG64(seed.value))``.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Mapping
from functools import cache, partial
from typing import Any, NoReturn

import numpy as np

from twice.foundation.printable import pluralize
from twice.foundation.seeds import Seed
from twice.recorder.streams.governed import (
    Governed,
    Unshareable,
    Views,
    follows,
    refuse_sharing,
    refuse_state,
    view_memory,
)

_Bits = np.random.BitGenerator
_PCG64 = (np.random.PCG64, np.random.PCG64DXSM)
_VIEWABLE = (*_PCG64, np.random.MT19937)
_TABLE = struct.Struct("<624Ii")
_HALF_WORD = struct.Struct("<II")
_GAUSS = struct.Struct("<i4xd")
# ``RandomState``, numpy/random/mtrand.pyx: head, method table, bit generator, ``bitgen_t`` of five pointers,
# ``aug_bitgen_t`` of a pointer, ``has_gauss`` and ``gauss``. Cython shows no address for it.
_GAUSS_OFFSET = object.__basicsize__ + 8 * ctypes.sizeof(ctypes.c_void_p)
_LIMITS = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "has_gauss": 1, "uinteger": 2**32 - 1}
_WORD_MAX = 2**128 - 1


class StreamSeedSequence(np.random.SeedSequence):
    """A seed sequence without children: their seeds would depend on the order of spawning."""

    stream_name = ""

    def spawn(self, n_children: int) -> NoReturn:
        """Refuse: E-RNG-002."""
        raise refuse_sharing(self.stream_name, f"asked to spawn {n_children} children")


class PCG64(Unshareable, np.random.PCG64):
    """The bits under a stream, which cannot be copied, pickled or jumped away from.

    Named as numpy's own: numpy writes the class name into the state and asks for it back.
    """

    def jumped(self, jumps: int = 1) -> NoReturn:
        """Refuse: E-RNG-002."""
        raise refuse_sharing(
            self.stream_name, f"asked for a generator {pluralize(jumps, 'jump')} ahead"
        )


class NumpyStream(Unshareable, np.random.Generator):
    """A numpy ``Generator`` that cannot be copied, pickled or spawned from.

    Nothing that draws is overridden, so a draw costs what numpy's own costs.
    """

    def spawn(self, n_children: int) -> NoReturn:
        """Refuse: E-RNG-002."""
        raise refuse_sharing(self.stream_name, f"asked to spawn {n_children} children")


def open_numpy(name: str, seed: Seed) -> NumpyStream:
    """Make the stream of a name from its sub-seed."""
    sequence = StreamSeedSequence(seed.value)
    bits = PCG64(sequence)
    stream = NumpyStream(bits)
    sequence.stream_name = bits.stream_name = stream.stream_name = name
    return stream


class GovernedBits(Governed):
    """Any numpy ``Generator`` or bit generator: PCG64 and MT19937 by view, others by state."""

    kind = "numpy"

    def __init__(self, generator: np.random.Generator | _Bits) -> None:
        self.generator = generator
        self.bits = generator if isinstance(generator, _Bits) else generator.bit_generator
        self._show(view_bits(self.bits), lambda: pack_bits(self.bits))

    def source(self) -> object:
        """Return the bit generator, which two generators may share."""
        return self.bits

    def read(self) -> dict[str, object]:
        """Return numpy's state, with arrays as labelled bytes."""
        return {"kind": self.kind, **to_plain(self._state())}

    def _state(self) -> Mapping[str, Any]:
        return self.bits.state

    def _put(self, state: Mapping[str, object]) -> None:
        self.bits.state = from_plain(state, like=self._state(), kind=self.kind)


class GovernedRandomState(GovernedBits):
    """A ``RandomState``, the global one among them: its bits and the second Gaussian that it keeps."""

    kind = "numpy-legacy"

    def __init__(self, generator: np.random.RandomState) -> None:
        self.generator = self._legacy = generator
        self.bits = generator._bit_generator  # its public getter is global
        if isinstance(self.bits, _VIEWABLE):
            views = (*view_bits(self.bits), *view_gauss(generator))
            self._show(views, self._pack, self._read_replacement)
        else:
            self.moving = lambda: pack_plain(to_plain(self._state()))

    def _pack(self) -> bytes:
        return pack_bits(self.bits) + pack_gauss(self._legacy)

    def _read_replacement(self) -> bytes:
        """Return the state if ``set_bit_generator`` has replaced the bits since, else nothing."""
        same = self._legacy._bit_generator is self.bits
        return b"" if same else pack_plain(self.read())

    def _state(self) -> Mapping[str, Any]:
        return _read_legacy(self._legacy)

    def _put(self, state: Mapping[str, object]) -> None:
        if type(state.get("gauss")) is not float:
            raise refuse_state(f"holds the Gaussian {state.get('gauss')!r}", self.kind)
        self._legacy.set_state(from_plain(state, like=self._state(), kind=self.kind))


def _read_legacy(legacy: np.random.RandomState) -> dict[str, Any]:
    state: Any = legacy.get_state(legacy=False)
    return dict(state)


# Positions -----------------------------------------------------------------------------------


def pack_bits(bits: _Bits) -> bytes:
    """Pack the state of a bit generator: what its view shows, or the slow way for any other."""
    state: Mapping[str, Any] = bits.state
    inner = state["state"]
    if isinstance(bits, _PCG64):
        whole = inner["state"].to_bytes(16, "little") + inner["inc"].to_bytes(16, "little")
        return bytes(whole + _HALF_WORD.pack(state["has_uint32"], state["uinteger"]))
    if isinstance(bits, np.random.MT19937):
        return _TABLE.pack(*map(int, inner["key"]), inner["pos"])
    return pack_plain(to_plain(state))


def pack_gauss(legacy: np.random.RandomState) -> bytes:
    """Pack the second Gaussian that ``RandomState`` keeps; 16 bytes."""
    state = _read_legacy(legacy)
    return _GAUSS.pack(state["has_gauss"], state["gauss"])


def view_bits(bits: _Bits) -> Views:
    """View the position of a bit generator: nothing where its memory is not as known."""
    known = (kind for kind in _VIEWABLE if isinstance(bits, kind) and _has_known_struct(kind))
    return _view_struct(bits) if any(known) else ()


def _view_struct(bits: _Bits) -> Views:
    """View the struct at numpy's public ``state_address``, as numpy/random/src declares it."""
    address: int = bits.ctypes.state_address
    if isinstance(bits, np.random.MT19937):  # ``uint32_t key[624]; int pos;``
        return (view_memory(address, _TABLE.size),)
    # ``pcg64_random_t *; int has_uint32; uint32_t uinteger;``
    inner = ctypes.c_void_p.from_address(address).value
    half = view_memory(address + ctypes.sizeof(ctypes.c_void_p), _HALF_WORD.size)
    return () if inner is None else (view_memory(inner, 32), half)


@cache
def _has_known_struct(kind: type[Any]) -> bool:
    """See the views move with half words, whole words and a whole table, on a scratch generator."""
    bits = kind(20)
    scratch = np.random.Generator(bits)
    draws = (
        lambda: scratch.integers(0, 2**31, dtype=np.uint32),
        scratch.random,
        lambda: scratch.integers(0, 2**31, dtype=np.uint32),
        lambda: bits.random_raw(700),
    )
    return follows(_view_struct(bits), lambda: pack_bits(bits), draws)


def view_gauss(legacy: np.random.RandomState) -> Views:
    """View the second Gaussian of a ``RandomState``: nothing where its memory is not as known."""
    return (_view_gauss(legacy),) if _has_known_gauss() else ()


def _view_gauss(legacy: np.random.RandomState) -> memoryview:
    return view_memory(id(legacy) + _GAUSS_OFFSET, _GAUSS.size)


@cache
def _has_known_gauss() -> bool:
    """See the second Gaussian come and go in two scratch objects."""
    if sys.implementation.name != "cpython":  # elsewhere an id is no address
        return False
    if np.random.RandomState.__basicsize__ < _GAUSS_OFFSET + _GAUSS.size:
        return False
    return all(
        follows((_view_gauss(each),), partial(pack_gauss, each), [each.standard_normal] * 3)
        for each in (np.random.RandomState(20), np.random.RandomState(21))
    )


# States --------------------------------------------------------------------------------------


def to_plain(value: Any) -> Any:
    """Convert a state dictionary: arrays become ``{"dtype", "bytes"}``, little-endian."""
    if isinstance(value, Mapping):
        return {key: to_plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        little = value.astype(value.dtype.newbyteorder("<"))
        return {"dtype": little.dtype.str, "bytes": little.tobytes()}
    return value.item() if isinstance(value, np.generic) else value


def pack_plain(state: Mapping[str, Any]) -> bytes:
    """Pack a plain state of any generator, sorted by key: the slow way to a position."""
    packed = b""
    for key in sorted(state):
        value = state[key]
        raw = pack_plain(value) if isinstance(value, Mapping) else value
        raw = raw if isinstance(raw, bytes) else repr(raw).encode()
        packed += f"{key}:{len(raw)}:".encode() + raw
    return packed


def from_plain(state: Mapping[str, object], *, like: Mapping[str, Any], kind: str) -> Any:
    """Convert a plain state to numpy's form, checked against a state of the same generator.

    Raises:
        StreamStateRefused: E-RNG-004, when algorithm, shape or range differ.
    """
    if state.get("bit_generator") != like["bit_generator"]:
        raise refuse_state(f"is of algorithm {state.get('bit_generator')!r}", kind)
    return _convert({key: state[key] for key in state if key != "kind"}, like, "state", kind)


def _convert(value: Any, like: Any, key: str, kind: str) -> Any:
    if isinstance(like, Mapping):
        if not isinstance(value, Mapping) or sorted(value) != sorted(like):
            raise refuse_state(f"has other fields under {key!r}", kind)
        return {inner: _convert(value[inner], like[inner], inner, kind) for inner in like}
    if isinstance(like, np.ndarray):
        dtype = like.dtype.newbyteorder("<")
        match value:
            case {"dtype": dtype.str, "bytes": bytes(raw)} if len(raw) == like.nbytes:
                return np.frombuffer(raw, dtype).astype(like.dtype).reshape(like.shape)
        raise refuse_state(f"has another table under {key!r}", kind)
    if isinstance(like, str):
        return value
    is_float = isinstance(like, float)
    if type(value) is not (float if is_float else int) or not (
        is_float or 0 <= value <= _LIMITS.get(key, _WORD_MAX)
    ):
        raise refuse_state(f"holds {value!r} under {key!r}", kind)
    return value
