"""What every kind of stream offers the registry: a lean position, a public state, a way back. And the streams of Python and JAX.

Positions are read at every compare-point, where a view of memory costs far less than the public state. So a position is
defined as bytes of the public state, and a view is used where it was seen to show those very bytes; elsewhere (another
interpreter, byte order or numpy) the public state is read.

Rejected: public state alone. ``random``'s and numpy's shared generators stand in every point (``benchmarks/overhead.py``
shows what a tick costs). Rejected, too: a subclass that overrides ``random()`` or ``getrandbits()``. It would cost 200
nanoseconds a draw, and overriding ``random()`` alone changes what ``randrange`` returns.

JAX has no generators to keep a position in, so its stream counts the keys it gave. Of the libraries, only numpy's and
torch's generators are classes to derive from: those streams lie in files that import the library.

Invariant: ``write(read())`` changes nothing, and works in place, so that every alias of the generator rewinds with it.
"""

from __future__ import annotations

import _random
import ctypes
import random
import struct
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, Self

from twice.errors import StreamReseeded, StreamShared, StreamStateRefused
from twice.foundation.seeds import Seed

Views = tuple[memoryview, ...]
WORDS = struct.Struct("<624I")
WORDS_VERSION = 3
_INDEX = struct.Struct("<i")
_GAUSS = struct.Struct("<?d")
_NO_GAUSS = _GAUSS.pack(False, 0.0)
# ``struct { PyObject_HEAD int index; uint32_t state[624]; }``, Modules/_randommodule.c of CPython
_HEAD_BYTES = object.__basicsize__
_STATE_BYTES = _INDEX.size + WORDS.size
# An id is an address in CPython alone.
_CAN_VIEW = (
    sys.implementation.name == "cpython"
    and _random.Random.__basicsize__ >= _HEAD_BYTES + _STATE_BYTES
)
_JAX_ALGORITHM = "threefry2x32"
_JAX_LIMIT = 2**64


class Governed(ABC):
    """One generator under a name.

    Attributes:
        kind: what it is, for example ``numpy`` or ``torch:cpu``; a state of another kind is refused.
        generator: the object that the program draws from.
        views: raw memory that is the position, or part of it.
        moving: gives the rest of the position when asked; None where the views say it all.
    """

    kind: str
    generator: object
    views: Views = ()
    moving: Callable[[], bytes] | None = None

    @abstractmethod
    def read(self) -> dict[str, object]:
        """Return the public state as plain values, with its ``kind``."""

    def write(self, state: Mapping[str, object]) -> None:
        """Put a state back, in place; refuse one that does not fit (E-RNG-004)."""
        if state.get("kind") != self.kind:
            raise refuse_state(f"is of kind {state.get('kind')!r}", self.kind)
        self._put(state)

    @abstractmethod
    def _put(self, state: Mapping[str, object]) -> None:
        """Put a state of this kind back, or refuse it."""

    def _show(
        self, views: Views, pack: Callable[[], bytes], rest: Callable[[], bytes] | None = None
    ) -> None:
        """Use the views where they show the packed public state, and pack it at each question elsewhere."""
        if follows(views, pack):
            self.views, self.moving = views, rest
        else:
            self.moving = (lambda: pack() + rest()) if rest else pack

    def source(self) -> object:
        """Return the object that has the state: two streams with the same one have one position."""
        return self.generator

    def position(self) -> bytes:
        """Return the whole position, views and moving part."""
        return b"".join((*self.views, self.moving() if self.moving else b""))


class Unshareable:
    """A stream that cannot be copied or pickled: the copy would draw the same numbers."""

    stream_name = ""

    def __copy__(self) -> NoReturn:
        raise refuse_sharing(self.stream_name, "copied")

    def __deepcopy__(self, _memo: object) -> NoReturn:
        raise refuse_sharing(self.stream_name, "deep-copied")

    def __reduce__(self) -> NoReturn:
        raise refuse_sharing(self.stream_name, "pickled")


class PythonStream(Unshareable, random.Random):
    """A ``random.Random`` that cannot be copied, pickled or re-seeded; it draws the numbers of ``Random(seed.value)``."""

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
        self._show(
            (view_memory(id(generator) + _HEAD_BYTES, _STATE_BYTES),) if _CAN_VIEW else (),
            lambda: pack_random(generator),
            self._gauss,
        )

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


def pack_random(generator: random.Random) -> bytes:
    """Pack the public state of a ``random.Random`` without its Gaussian: index, then 624 words; 2,500 bytes."""
    words = generator.getstate()[1]
    return _INDEX.pack(words[-1]) + WORDS.pack(*words[:-1])


class JaxStream(Unshareable):
    """A counter over the keys of one base key: key ``n`` is ``fold_in(base, n)``.

    The base is 64 bits of the sub-seed under an algorithm named here, so that ``jax_default_prng_impl`` and the 64-bit
    switch change nothing.

    Args:
        stream_name: the name it was taken under.
        seed: its sub-seed.
    """

    def __init__(self, stream_name: str, seed: Seed) -> None:
        import jax
        import numpy as np

        words = np.array([seed.value >> 32 & 0xFFFFFFFF, seed.value & 0xFFFFFFFF], dtype=np.uint32)
        self.stream_name = stream_name
        self.position = 0
        # An attribute, because recorded states that hold a stream have it.
        self._fold_in = jax.random.fold_in
        self._base = jax.random.wrap_key_data(words, impl=_JAX_ALGORITHM)

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
        return {"kind": self.kind, "algorithm": _JAX_ALGORITHM, "position": self._stream.position}

    def _put(self, state: Mapping[str, object]) -> None:
        position, algorithm = state.get("position"), state.get("algorithm")
        if not isinstance(position, int) or not 0 <= position < _JAX_LIMIT:
            raise refuse_state(f"holds the counter {position!r}", self.kind)
        if algorithm != _JAX_ALGORITHM:
            raise refuse_state(f"is of algorithm {algorithm!r}", self.kind)
        self._stream.position = position


def view_memory(address: int, size_bytes: int) -> memoryview:
    """Return a read-only view of memory; it keeps nothing alive."""
    return memoryview((ctypes.c_ubyte * size_bytes).from_address(address)).cast("B").toreadonly()


def follows(
    views: Views, pack: Callable[[], bytes], draws: Iterable[Callable[[], object]] = ()
) -> bool:
    """Return whether views show the bytes of the public state, now and after each of the draws."""
    for draw in (lambda: None, *draws):
        draw()
        if b"".join(views) != pack():
            return False
    return True


def refuse_state(why: str, kind: str) -> StreamStateRefused:
    """Build the error for a state that does not fit a generator."""
    return StreamStateRefused(
        f"The stored position {why}.",
        f"A generator of kind {kind!r} takes back what it gave.",
        "Restore it into the run that recorded it, with the same stream under the same name.",
        kind=kind,
    )


def refuse_sharing(name: str, act: str) -> StreamShared:
    """Build the error for a stream that would get a second owner by an act, such as being copied."""
    return StreamShared(
        f"The stream {name!r} was {act}.",
        "A stream has one owner: two that draw from it depend on each other's order.",
        f"Take a stream of its own for the other owner, such as {name + '/copy'!r}.",
        name=name,
    )


def refuse_reseeding(name: str) -> StreamReseeded:
    """Build the error for a stream that would get another seed."""
    return StreamReseeded(
        f"The stream {name!r} was given a new seed.",
        "A stream keeps the seed that its name derives, for the whole run.",
        f"Take another name for fresh numbers, such as {name + '/2'!r}.",
        name=name,
    )
