"""Tells when a module has just been imported, before the line after the import runs.

numpy and torch bring generators that seed themselves from the operating system when they are
imported. Importing both in every run to be first would cost 100 milliseconds and more; asking at
each compare-point would miss what a module draws while it is being imported. So one finder stands
first in ``sys.meta_path``, finds nothing itself, and has the found loader say when it is done.
``withdraw`` takes it away.

It misses modules imported before it was placed (the caller looks in ``sys.modules`` first) and
loaders whose attributes cannot be set.

Invariant: the module, its spec and its loader are the ones Python would have made without it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Arrivals(MetaPathFinder):
    """Calls back once for each awaited module, after its body has run.

    Args:
        awaited: full module name to what is to be called.
    """

    def __init__(self, awaited: dict[str, Callable[[], None]]) -> None:
        self._awaited = dict(awaited)

    def watch(self) -> None:
        """Begin as the first of the finders."""
        if self._awaited:
            sys.meta_path.insert(0, self)

    def withdraw(self) -> None:
        """End the watch, and leave the changes of others to ``sys.meta_path``."""
        self._awaited.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find an awaited module through the other finders, and let its loader report."""
        if fullname not in self._awaited:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                self._ask(spec)
                return spec
        return None

    def _ask(self, spec: ModuleSpec) -> None:
        loader: Any = spec.loader
        run_body = getattr(loader, "exec_module", None)
        if run_body is None:
            return

        def run_body_and_tell(module: ModuleType) -> None:
            del loader.exec_module
            run_body(module)
            parent, _, child = spec.name.rpartition(".")
            if parent:  # importlib does this next; numpy finds its submodule in no other way
                setattr(sys.modules[parent], child, module)
            tell = self._awaited.pop(spec.name, None)
            if tell is not None:
                tell()

        with suppress(AttributeError):
            loader.exec_module = run_body_and_tell
