"""Every stream of a run, by name: taken once, read cheaply at each compare-point, put back.

A stream's sub-seed depends on the run's master seed and its name alone, so taking others, or in
another order, changes nothing. Drawing is not watched: a position is the generator's state, and how
much was drawn between two of them is computed from the states when somebody asks.

Invariant: ``restore(snapshot())`` changes nothing, and every alias of a stream rewinds with it.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from twice.errors import ExtraMissing, StreamOffThread, StreamShared, StreamTaken, UsageError
from twice.foundation.seeds import (
    RULE,
    SHARED_BY_MODULES,
    Seed,
    SeedLedger,
    derive,
    is_shared,
    path_segments,
)
from twice.recorder.streams.draw_counts import draws
from twice.recorder.streams.foreign import GovernedGetter, SharedGenerators, govern
from twice.recorder.streams.governed import (
    Governed,
    GovernedJax,
    GovernedRandom,
    JaxStream,
    PythonStream,
)
from twice.recorder.streams.owners import find_owners

if TYPE_CHECKING:
    import numpy as np
    import torch


class Streams:
    """The streams of one run, from its master seed by a rule; E-RECORD-001 when the rule is not known."""

    def __init__(self, master: Seed, *, rule: int = RULE) -> None:
        self._seeds = SeedLedger(master, rule=rule)
        self._thread = threading.get_ident()
        self._live: dict[str, Governed] = {}
        self._starts: dict[str, dict[str, object]] = {}
        self._given_back: dict[str, Governed] = {}
        self._pending: dict[str, Mapping[str, object]] = {}
        self._foreign: set[str] = set()
        self._declared: set[str] = set()
        self._is_restoring = False
        self._parts: list[bytes | memoryview] | None = None
        self._moving: list[tuple[int, Callable[[], bytes]]] = []
        self._shared: SharedGenerators | None = None

    # Taking ---------------------------------------------------------------------------------

    def numpy(self, name: str) -> np.random.Generator:
        """Take a numpy generator, which refuses to be copied, pickled or spawned from (E-RNG-002).

        Args:
            name: a path, such as ``env/3/reset``; see ``twice.foundation.seeds.derive``.

        Raises:
            StreamTaken: E-RNG-001, when the name was taken before.
            StreamOffThread: E-RNG-003, from another thread than the one that made this object.
            SeedNameRefused: E-SEED-002, when it cannot be a name.
        """
        import numpy.random  # noqa: F401  # first: its arrival is told to a module that needs the next one

        from twice.recorder.streams.numpy_streams import GovernedBits, open_numpy

        stream: np.random.Generator = self._take(
            name, "numpy", lambda seed: GovernedBits(open_numpy(name, seed))
        )
        return stream

    def python(self, name: str) -> random.Random:
        """Take a ``random.Random``, which refuses to be copied, pickled (E-RNG-002) or re-seeded (E-RNG-005)."""
        stream: random.Random = self._take(
            name, "python", lambda seed: GovernedRandom(PythonStream(name, seed))
        )
        return stream

    def torch(self, name: str, device: str = "cpu") -> torch.Generator:
        """Take a torch generator on a device; E-EXTRA-001 when torch is not installed."""
        try:
            import torch  # noqa: F401  # first, as numpy above

            from twice.recorder.streams.torch_streams import open_torch, torch_kind
        except ImportError:
            raise _extra_missing("torch") from None
        stream: torch.Generator = self._take(
            name, torch_kind(device), lambda seed: open_torch(name, seed, device)
        )
        return stream

    def jax(self, name: str) -> JaxStream:
        """Take a stream of JAX keys; E-EXTRA-001 when JAX is not installed."""
        try:
            import jax  # noqa: F401
        except ImportError:
            raise _extra_missing("JAX") from None
        stream: JaxStream = self._take(name, "jax", lambda seed: GovernedJax(JaxStream(name, seed)))
        return stream

    def adopt(self, name: str, generator: object) -> None:
        """Govern a generator that was made elsewhere: its position joins every snapshot.

        Args:
            name: a path of its own.
            generator: a ``random.Random``, a numpy or torch generator, or a function that gives one or None. The
                function is asked at each compare-point, for owners that replace their generator (``lambda: env.np_random``).

        Raises:
            ComponentRefused: E-TRACK-001, when the kind of generator is not known.
            StreamShared: E-RNG-002, when the generator is governed under another name.
        """
        self._refuse_taking(name)
        if name in self._live and not (self._is_restoring and name in self._foreign):
            raise self._refuse_again(name)
        made = GovernedGetter(name, generator) if callable(generator) else govern(name, generator)
        source = made.source()
        for other in self.names():
            if other != name and self._live[other].source() is source:
                raise StreamShared(
                    f"The generator adopted as {name!r} is governed as {other!r} already.",
                    "A generator has one owner and one name.",
                    f"Adopt it once, or give {name!r} a generator of its own.",
                    name=name,
                )
        self._foreign.add(name)
        self._join(name, made)

    def seed_for(self, name: str) -> Seed:
        """Derive the sub-seed of a name that ``adopt`` is about to govern, for the ledger to show."""
        if name in self._seeds:  # a name that was given back is in the ledger already
            return derive(self._seeds.master, name, rule=self._seeds.rule)
        return self._seeds.take(name)

    def share(self, *names: str) -> None:
        """Declare that several components draw from these streams; E-USE-001 for a name that was not taken."""
        for name in names:
            if name not in self._live:
                raise UsageError(
                    f"There is no stream {name!r} to be shared.",
                    f"Expected one of {', '.join(self.names()) or 'none: no stream was taken yet'}.",
                    "Take the stream first, and then declare it.",
                    name=name,
                )
        self._declared.update(names)

    def require_one_owner(self, components: Mapping[str, object]) -> None:
        """Refuse a stream that two tracked objects have, unless it was declared to be shared: E-RNG-002."""
        free = self._foreign | self._declared
        held = {
            id(each.generator): name
            for name, each in self._live.items()
            if name not in free and not is_shared(name)
        }
        for name, owners in sorted(find_owners(held, components).items()):
            if len(owners) > 1:
                method = "python" if self._live[name].kind == "python" else "rng"
                own = " and ".join(f"run.{method}({f'{owner}/{name}'!r})" for owner in owners[:2])
                raise StreamShared(
                    f"The stream {name!r} is held by the components {', '.join(map(repr, owners))}.",
                    "Each stream has one owner, so that no component shifts another's draws.",
                    f"Take one for each, {own}; or say that it is meant: run.streams.share({name!r})",
                    name=name,
                )

    def govern_globals(self) -> None:
        """Seed the generators everybody shares, and those of numpy and torch when they load."""
        if self._shared is None:
            self._shared = SharedGenerators(self._seeds.take, self._join)

    def release_globals(self) -> None:
        """Put the shared generators back where they were before they were governed."""
        if self._shared is not None:
            self._shared.release()

    # Reading --------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """Name every stream that is live now, sorted."""
        return sorted(self._live)

    def positions(self) -> bytes:
        """Return name, kind and position of all streams as bytes: equal where every later draw is equal.

        Called at every compare-point, so it reads memory and asks no generator for its state.
        """
        if self._parts is None:
            self._parts = self._lay_out()
        parts = self._parts
        for slot, read in self._moving:
            parts[slot] = read()
        return b"".join(parts)

    def moved_since(self, before: bytes) -> dict[str, dict[str, object]]:
        """Return the public states of the streams that were drawn from since ``positions`` gave these bytes.

        Of all of them, where streams came, went or changed their kind meanwhile.
        """
        now, start = self.positions(), 0
        if len(now) != len(before):
            return self.snapshot()
        found = {}
        for name, stream in sorted(self._live.items()) if now != before else ():
            stop = start + len(_make_head(name, stream.kind)) + len(stream.position())
            if now[start:stop] != before[start:stop]:
                found[name] = stream.read()
            start = stop
        return found

    def move(self, states: Mapping[str, Mapping[str, object]]) -> None:
        """Put some streams elsewhere; the rest stay."""
        for name in sorted(states.keys() & self._live.keys()):
            self._live[name].write(states[name])

    def snapshot(self) -> dict[str, dict[str, object]]:
        """Return every stream's public state as plain values, by name."""
        return {name: self._live[name].read() for name in sorted(self._live)}

    def generator(self, name: str) -> object:
        """Return the generator behind a live name, for experiments that draw from it."""
        held = self._live[name].generator
        return held() if name in self._foreign and callable(held) else held

    def starts(self) -> dict[str, dict[str, object]]:
        """Return the public state that every stream had when it was taken, by name."""
        return {name: dict(self._starts[name]) for name in sorted(self._starts)}

    def ledger(self) -> dict[str, dict[str, object]]:
        """Return ``seed``, ``kind`` and ``draws`` of every live stream.

        The seed is hexadecimal, or None for an adopted generator; the draws are words since the stream was taken, or
        None where that cannot be told.
        """
        seeds = self._seeds.as_map()
        drawn = draws(self._starts, self.snapshot())
        return {
            name: {"seed": seeds.get(name), "kind": self._live[name].kind, "draws": drawn[name]}
            for name in sorted(self._live)
        }

    def globals_used(self) -> list[str]:
        """Name the shared generators that were drawn from since they were governed."""
        shared = filter(is_shared, self.names())
        return [name for name in shared if self._live[name].read() != self._starts[name]]

    # Putting back ---------------------------------------------------------------------------

    def restore(self, states: Mapping[str, Mapping[str, object]]) -> None:
        """Put every stream where it was, in place; E-RNG-004 when a state does not fit its stream.

        A stream that is not taken yet gets its state when it is taken. One that was not taken yet
        at the time of the snapshot goes back to its beginning, and its name is free again.
        """
        for name in sorted(self._live):
            if name not in states:
                self._give_back(name)
        self._pending = {name: states[name] for name in sorted(states) if name not in self._live}
        self.move(states)

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Let components take again the streams they own, while they are being restored."""
        self._is_restoring = True
        try:
            yield
        finally:
            self._is_restoring = False

    # How ------------------------------------------------------------------------------------

    def _take(self, name: str, kind: str, make: Callable[[Seed], Governed]) -> Any:
        """Return the stream of a name: a new one, or the one that a restore put back."""
        self._refuse_taking(name)
        live = self._live.get(name)
        if live is not None:
            if self._is_restoring and live.kind == kind:
                return live.generator
            raise self._refuse_again(name)
        stream = self._given_back.get(name)
        if stream is None or stream.kind != kind:
            stream = make(self.seed_for(name))
        self._join(name, stream)
        return stream.generator

    def _join(self, name: str, stream: Governed) -> None:
        self._starts[name] = stream.read()
        state = self._pending.pop(name, None)
        if state is not None:
            stream.write(state)
        self._given_back.pop(name, None)
        self._live[name] = stream
        self._parts = None

    def _give_back(self, name: str) -> None:
        """Undo a taking: back to the beginning; the name is free, the object waits for it."""
        stream = self._live[name]
        if name in self._foreign:
            self._foreign.discard(name)
            del self._live[name]
        else:
            stream.write(self._starts[name])
            if not is_shared(name):
                self._given_back[name] = self._live.pop(name)
        self._parts = None

    def _lay_out(self) -> list[bytes | memoryview]:
        """List the parts of ``positions`` in order, and which of them must be read each time."""
        parts: list[bytes | memoryview] = []
        self._moving = []
        for name in sorted(self._live):
            stream = self._live[name]
            parts.append(_make_head(name, stream.kind))
            parts.extend(stream.views)
            if stream.moving is not None:
                self._moving.append((len(parts), stream.moving))
                parts.append(b"")
        return parts

    def _refuse_taking(self, name: str) -> None:
        if threading.get_ident() != self._thread:
            raise StreamOffThread(
                f"The stream {name!r} was taken on thread {threading.current_thread().name!r}.",
                "Streams are taken on the thread that the run began on, in the program's order.",
                "Take it before the thread starts and pass it in; no other may draw from it.",
                name=name,
            )
        if path_segments(name)[0] == SHARED_BY_MODULES:
            raise StreamTaken(
                f"The name {name!r} is reserved.",
                f"Names under '{SHARED_BY_MODULES}/' belong to the generators that modules share.",
                f"Take another path, such as {'my-' + name!r}.",
                name=name,
            )

    def _refuse_again(self, name: str) -> StreamTaken:
        return StreamTaken(
            f"The stream {name!r} was taken before (kind {self._live[name].kind}).",
            "Each stream has one owner, so that no component shifts another's draws.",
            f"Pass the generator you have, or take another path, such as {name + '/2'!r}.",
            name=name,
        )


def _make_head(name: str, kind: str) -> bytes:
    label, word = name.encode("utf-8"), kind.encode("ascii")
    return len(label).to_bytes(4, "little") + label + bytes((len(word),)) + word


def _extra_missing(library: str) -> ExtraMissing:
    extra = library.lower()
    return ExtraMissing(
        f"A {library} stream was asked for, and {library} is not installed.",
        f"Streams of {library} need the extra twice[{extra}].",
        f"pip install 'twice[{extra}]'",
        extra=extra,
    )
