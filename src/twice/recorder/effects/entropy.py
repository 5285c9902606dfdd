"""Entropy: how it is read live, recorded, replayed, and what stays outside.

Covered: ``os.urandom``, and through ``random._urandom`` also ``secrets``, ``SystemRandom``,
``uuid4`` and numpy's unseeded constructors; ``os.getrandom``; ``random.Random()`` and
``random.seed()`` without a seed, which are given recorded entropy instead of the kernel's;
``uuid1``; ``ssl.RAND_bytes``; ``torch.seed`` and ``Generator.seed``.

Elsewhere: ``/dev/urandom`` opened as a file (``files.special_files``), names of ``tempfile`` (``files.temporary_names``).
Not covered: what other libraries draw in C (keys that ``cryptography`` makes).

A simulated run draws entropy from its seed, so that another run in the same order gets the same bytes.

Invariant: any other recording returns the bytes that the kernel gave.
"""

from __future__ import annotations

import os
import random
import time
import uuid
from collections.abc import Callable
from functools import partial
from operator import call
from pathlib import Path
from sys import _getframe
from types import FrameType
from typing import Any

from twice.errors import UsageError
from twice.recorder.effects import ops
from twice.recorder.effects.actors import Actor, asker_of, current, files_of
from twice.recorder.effects.compiled_reads import compile_read, follow_none
from twice.recorder.effects.events import RUN_READS_MAX
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.patches import Patch

_REAL_URANDOM = os.urandom
_SEED_BYTES = 32
_UUID_EPOCH = 0x01B21DD213814000
"""The first of January 1970, in steps of 100 ns, as a UUID counts."""
_LIBRARY = Path(random.__file__)
_WRAPPERS = frozenset(
    {
        *(str(_LIBRARY.with_name(f"{name}.py")) for name in ("random", "secrets", "uuid")),
        __file__,
        str(Path(__file__).with_name("files") / "special_files.py"),
    }
)


def patches(layer: EffectLayer) -> list[Patch]:
    """Return the patches of entropy's sources for a session."""
    urandom = governed_urandom(layer)
    seed = _governed_seed(layer)
    rows = [
        Patch(os, "urandom", urandom, _read_byte),
        Patch(random, "_urandom", urandom, _read_byte),
        Patch(random.Random, "seed", seed, lambda _seed: random.Random()),  # noqa: S311
        Patch(random, "seed", seed.__get__(random._inst)),
        Patch(uuid, "uuid1", _governed_uuid1(layer), call),
    ]
    if hasattr(os, "getrandom"):  # Linux alone has it
        getrandom = _governed_bytes(layer, ops.GETRANDOM, os.getrandom)
        rows.append(Patch(os, "getrandom", getrandom, _read_byte))
    return rows


def ssl_patches(layer: EffectLayer, ssl: Any) -> list[Patch]:
    """Return the patches of ``ssl``, once it is loaded."""
    rand_bytes = _governed_bytes(layer, ops.SSL_RANDOM, ssl.RAND_bytes)
    return [Patch(ssl, "RAND_bytes", rand_bytes, _read_byte)]


def torch_patches(layer: EffectLayer, torch: Any) -> list[Patch]:
    """Return the patches of ``torch``, whose generators seed themselves in C, once it is loaded."""
    kind = torch.Generator
    real, manual_seed = kind.seed, kind.manual_seed
    wrappers = files_of(torch.seed)

    def draw(self: Any) -> int:
        return int.from_bytes(layer.entropy(8), "little") if layer.entropy else int(real(self))

    def seed(self: Any) -> int:
        value = int(layer.ask(ops.TORCH_SEED, lambda: draw(self), asker_of(_getframe(1), wrappers)))
        manual_seed(self, value)
        return value

    return [Patch(kind, "seed", seed, lambda _seed: kind().seed())]


def _read_byte(read: Callable[[int], bytes]) -> bytes:
    return read(1)


def _governed_bytes(
    layer: EffectLayer, op: ops.Op, real: Callable[..., bytes]
) -> Callable[..., bytes]:
    def read(size: int, *flags: int, **named: int) -> bytes:
        asker = _getframe(1).f_code
        live = _prepare(layer, int(size)) if layer.entropy else lambda: real(size, *flags, **named)
        return bytes(layer.ask(op, live, asker, int(size)))

    return read


def _governed_uuid1(layer: EffectLayer) -> Callable[..., uuid.UUID]:
    real = uuid.uuid1

    def uuid1(node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:
        asked = (node, clock_seq)
        make = partial(_make_uuid1, _prepare(layer, 8)()) if layer.entropy else real
        live = lambda: make(node, clock_seq).bytes  # noqa: E731
        return uuid.UUID(bytes=layer.ask(ops.UUID1, live, _getframe(1).f_code, asked))

    return uuid1


def _make_uuid1(drawn: bytes, node: int | None, clock: int | None) -> uuid.UUID:
    """Make a UUID of the time that the clock shows, and of entropy in place of the machine's address."""
    moment, bits = time.time_ns() // 100 + _UUID_EPOCH, int.from_bytes(drawn, "little")
    clock = bits if clock is None else clock
    place = bits >> 16 | 1 << 40 if node is None else node  # the bit of a node that is no machine
    times = moment & 0xFFFFFFFF, moment >> 32 & 0xFFFF, moment >> 48 & 0xFFF
    return uuid.UUID(fields=(*times, clock >> 8 & 0x3F, clock & 0xFF, place), version=1)


def _prepare(layer: EffectLayer, size: int) -> Callable[[], bytes]:
    """Return what draws.

    Bytes that follow from the seed are drawn at once: those that a record answers are not drawn again past a fork.
    """
    if layer.entropy is None or layer.probing:  # Probes are no draws of the program.
        return lambda: _REAL_URANDOM(size)
    value = layer.entropy(size)
    return lambda: value


def governed_urandom(layer: EffectLayer) -> Callable[[int], bytes]:
    """Build a replacement for ``os.urandom`` and ``random._urandom``."""
    number, real = ops.URANDOM.number, layer.entropy or _REAL_URANDOM
    last: dict[str, Any] | None = None
    # While recording, what user code asks is noted here as ``layer.read`` would; its globals say who asks,
    # because to ask a frame for its code raises one more audit event.

    def urandom(size: int, /) -> bytes:
        nonlocal last
        frame = _getframe(1)
        module = frame.f_globals
        if module is last and type(size) is int and (actor := current()):
            value = real(size)
            values = actor.values
            if actor.number == number and len(values) < RUN_READS_MAX:
                values.append((size, value))
            else:
                actor.note(number, (size, value))
            return value
        own = layer.is_strict_in(module, frame.f_code) and not layer.probing
        last = module if own and layer.live and layer.active else None
        # Entropy that follows from the seed is drawn in a replay as well.
        is_served = own and layer.active and layer.entropy is None
        follow(module if is_served else last)
        return ask(size, frame)

    def ask(size: int, frame: FrameType) -> bytes:
        actor = layer.actor()
        if actor is None:
            layer.count_ungoverned(ops.URANDOM)
            return real(size)
        if layer.is_strict(asker_of(frame, _WRAPPERS)):
            return _read(layer, actor, size)
        draw = layer.entropy.read_for_library if layer.entropy else _REAL_URANDOM
        pair: Any = layer.read_lenient(actor, ops.URANDOM, lambda: (size, draw(size)))
        fits = isinstance(pair, tuple) and len(pair) == 2 and pair[0] == size
        return bytes(pair[1]) if fits else draw(size)

    made = compile_read(
        number,
        real,
        urandom,
        like=_REAL_URANDOM,
        holder=os.__name__,
        is_sized=True,
        is_served=not layer.live,
    )
    governed, follow = made or (urandom, follow_none)
    return governed


def _read(layer: EffectLayer, actor: Actor | None, size: int) -> bytes:
    value = layer.read(actor, ops.URANDOM, _prepare(layer, size), int(size))
    assert isinstance(value, bytes), "entropy is recorded as bytes"
    return value


def _governed_seed(layer: EffectLayer) -> Callable[..., None]:
    """Build a replacement for ``random.Random.seed``: without a seed it uses recorded entropy."""
    real, urandom = random.Random.seed, governed_urandom(layer)

    def seed(self: Any, a: Any = None, version: int = 2) -> None:
        if a is None and layer.actor() is not None:
            a = int.from_bytes(urandom(_SEED_BYTES), "little")
        real(self, a, version)

    return seed


class Entropy:
    """``run.effects.entropy``: recorded randomness from the system, asked by name.

    For reproducible draws use ``run.rng``; this is for identifiers and keys whose value is the
    world's to choose.
    """

    def __init__(self, layer: EffectLayer) -> None:
        self._layer = layer

    def bytes(self, size: int) -> bytes:
        """Return that many bytes, 0 or more."""
        return _read(self._layer, self._layer.require_actor(ops.URANDOM), size)

    def integer(self, bits: int = 64) -> int:
        """Return an integer from 0 to 2**bits - 1.

        Args:
            bits: 0 or a multiple of 8.

        Raises:
            UsageError: E-USE-001, for other bits: entropy comes in whole bytes.
        """
        if bits < 0 or bits % 8:
            raise UsageError(
                f"An integer of {bits} bits was asked of the system's entropy.",
                "Expected a multiple of 8, 0 or more: entropy comes in whole bytes.",
                "Ask for more bits and shift: run.effects.entropy.integer(16) >> 4",
                bits=bits,
            )
        return int.from_bytes(self.bytes(bits // 8), "little")
