"""The only module that patches the standard library.

Why: a program that calls ``time.time()`` or ``os.urandom()`` reads the world behind the back of
any interface, and its past could not be told. While a session runs, the names that the files in
``effects/`` list for this Python version stand for governed ones; ``close`` puts the very same
objects back. Every row that reads the world is probed when the session begins.

What it misses: names bound before installation (``late_aliases`` finds them in the user's modules;
sessions in a child process install first), C code that reads by itself, and the sources that the
files in ``effects/`` name as not covered.

Invariant: after ``close`` every patched attribute is the object it was.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import Token
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

from twice.errors import InterceptionRefused
from twice.foundation.source_files import is_user_file
from twice.foundation.with_blocks import Closing
from twice.recorder.effects import (
    clock,
    entropy,
    environ,
    environment,
    lineage,
    listing,
    loop_clocks,
    process,
    sqlite,
    standard_input,
)
from twice.recorder.effects.actors import Actor, Outside, enter, leave
from twice.recorder.effects.files import functions, open_functions, temporary_names
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.patches import Patch
from twice.recorder.effects.sources import LiveSource
from twice.recorder.environment.libraries import impose_counts
from twice.recorder.imports import ImportWatch, source_patches

if TYPE_CHECKING:
    from twice.recorder.effects.clock import ClockPolicy
    from twice.recorder.effects.network.connections import Connections

_NETWORK = ("socket", "ssl", "asyncio.base_events", "asyncio.selector_events")


class Interception(Closing):
    """Patches that hold from ``install`` to ``close``; without a ``policy`` the clock is the real one."""

    def __init__(
        self,
        files: Files,
        policy: ClockPolicy | None,
        tick: Callable[[], int],
        records_loop: bool = False,
    ) -> None:
        self._files = files
        layer = self._layer = files.layer
        self._policy = policy
        self._tick, self._records_loop = tick, records_loop
        if records_loop:  # before anything is patched, so that it has the real functions
            import_module("twice.recorder.effects.loops.recorded_loops")
        self._saved: list[tuple[Patch, Any]] = []
        self._connections: Connections | None = None
        self._main: Token[Actor | Outside | None] | None = None

        def put(*makers: Callable[[EffectLayer, Any], list[Patch]]) -> Callable[[ModuleType], None]:
            return lambda module: self._put([p for make in makers for p in make(layer, module)])

        self._watch = ImportWatch(
            {
                "scipy.linalg": lambda _module: impose_counts(),
                "torch": put(entropy.torch_patches),
                "resource": put(environment.resource_patches),
                "multiprocessing.util": lambda module: self._put(lineage.spawn_patches(module)),
                "getpass": put(environment.user_patches, standard_input.password_patches),
                "sqlite3": put(sqlite.patches),
                **dict.fromkeys(_NETWORK, self._patch_network),
                "platform": put(environment.platform_patches),
                "concurrent.futures.thread": put(lineage.pool_patches),
                "trio._core._run": self._patch_trio,
            }
        )

    def install(self) -> Self:
        """Replace every target, and see that each reads the world through the layer (E-EFFECT-004); return this object."""
        assert not self._saved, "an interception is installed once"
        layer = self._layer
        self._main = enter(layer.main)
        try:
            self._put(
                [
                    *source_patches(),
                    *clock.patches(layer, self._policy, self._tick),
                    *entropy.patches(layer),
                    *listing.patches(self._files),
                    *lineage.patches(layer),
                    *environ.patches(layer),
                    *environment.patches(layer),
                    *process.patches(layer),
                    *standard_input.patches(layer),
                    *open_functions.patches(self._files),
                    *functions.patches(self._files),
                    *temporary_names.patches(self._files),
                ]
            )
            self._watch.install()
        except BaseException:
            self.close()
            raise
        return self

    def _patch_network(self, module: ModuleType) -> None:
        """Patch a module of the network: ``socket``, or one that imports it."""
        from twice.recorder.effects.network import resolver, sockets, turns, within_run
        from twice.recorder.effects.network.connections import Connections

        layer = self._layer
        held = self._connections = self._connections or Connections(layer)
        match module.__name__:
            case "socket":
                self._put(environment.socket_patches(layer, module))
                self._put(resolver.patches(layer, module))
                self._put(sockets.patches(held, module))
                self._put(within_run.patches(held, module))
            case "ssl":
                from twice.recorder.effects.network import tls

                self._put(entropy.ssl_patches(layer, module))
                self._put(tls.patches(held, module))
            case "asyncio.base_events":
                self._put(lineage.loop_patches(layer, module))
                self._put(loop_clocks.asyncio_patches(layer, self._policy, self._tick, module))
                if not self._records_loop:
                    self._put(turns.loop_patches(held.turns, module))
            case _ if not self._records_loop:
                self._put(turns.selector_patches(held.turns, module))

    def _patch_trio(self, module: ModuleType) -> None:
        layer = self._layer
        self._put(lineage.trio_patches(layer, module))
        self._put(loop_clocks.trio_patches(layer, self._policy, self._tick, module))

    def close(self) -> None:
        """Put every patched attribute back, last one first."""
        self._watch.remove()
        while self._saved:
            patch, original = self._saved.pop()
            patch.restore(original)
        if self._main is not None:
            leave(self._main)
            self._main = None

    def late_aliases(self) -> list[str]:
        """Return names in the user's modules that were bound to an original before this session."""
        originals = {id(original) for _, original in self._saved}
        return sorted(
            f"{module.__name__}.{name}"
            for module in list(sys.modules.values())
            if is_user_file(getattr(module, "__file__", None) or "<")
            for name, value in vars(module).items()
            if id(value) in originals
        )

    def _put(self, patches: list[Patch]) -> None:
        for patch in patches:
            self._saved.append((patch, patch.install()))
        for patch in patches:
            if patch.probe is not None:
                self._prove(patch, patch.probe)

    def _prove(self, patch: Patch, probe: Callable[[Any], object]) -> None:
        """Read the world once as a program would, as an actor of its own that nobody keeps."""
        prober = Actor("probe", self._layer, LiveSource())
        token = enter(prober)
        self._layer.probing = True
        try:
            with self._layer.owners.assign_thread(prober):
                probe(getattr(patch.holder, patch.name))
        finally:
            self._layer.probing = False
            leave(token)
        read = bool(prober.runs or prober.lenient.runs)
        self._layer.forget(prober)
        if not read and self._policy is None:
            raise InterceptionRefused(
                f"{patch.full_name} does not go through the effects layer on Python {sys.version.split()[0]}.",
                "Expected every name that reads the world to be replaced while a run is recorded.",
                "Something else replaces it, or this Python is unknown: see docs/internals/effects.md.",
                name=patch.full_name,
            )
