"""Report the import of a module, for patches of modules that a session must not load itself.

A program may ask for a spec without importing (``find_spec("torch")``, to see whether it is installed), and an import
may fail. So a module is watched until its body has run.

Not for: anything that a program imports by another importer than Python's own.

Invariant: a module is told of once, after it ran, and before its importer sees it. Its spec and its loader are then
the ones that Python would have made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

Told = Callable[[ModuleType], None]


class ImportWatch(MetaPathFinder):
    """Calls back for each watched module, at once for those that are loaded already.

    Args:
        told: what to call, by the module's name.
    """

    def __init__(self, told: dict[str, Told]) -> None:
        self._told = dict(told)
        self._looking: set[str] = set()

    def install(self) -> None:
        """Begin to watch."""
        for name in list(self._told):
            module = sys.modules.get(name)
            if module is not None:
                self._told.pop(name)(module)
        sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Watch no longer."""
        self._told.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Find the spec that others find, and give it a loader that reports the import."""
        del path, target
        if fullname not in self._told or fullname in self._looking:
            return None
        self._looking.add(fullname)
        try:
            spec = find_spec(fullname)
        finally:
            self._looking.discard(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Telling(spec.loader, self._told)
        return spec


class _Telling(Loader):
    """A loader that calls back when the module has run, and else does what the real one does."""

    def __init__(self, loader: Loader, told: dict[str, Told]) -> None:
        self._loader, self._told = loader, told

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module as the loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, with its own loader in its spec again, and report the import."""
        assert module.__spec__ is not None, "a module that is loaded has a spec"
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        parent, _, child = module.__name__.rpartition(".")
        if parent:  # importlib does this next; ``numpy.random`` is found in no other way
            setattr(sys.modules[parent], child, module)
        told = self._told.pop(module.__name__, None)
        if told is not None:
            told(module)
