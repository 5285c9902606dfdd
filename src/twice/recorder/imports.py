"""Imports of a program: reported, for patches of modules that a session must not load itself, and made from the source.

A program may ask for a spec without importing (``find_spec("torch")``, to see whether it is installed), and an import
may fail. So a module is watched until its body has run.

Not for: anything that a program imports by another importer than Python's own.

Invariant: a module is told of once, after it ran, and before its importer sees it. Its spec and its loader are then
the ones that Python would have made.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import cache_from_source, find_spec
from io import FileIO
from marshal import dumps, loads
from types import CodeType, ModuleType
from typing import Any

from twice.foundation.source_files import is_user_file
from twice.recorder.effects.patches import Patch

_SETTLED_S = 2
_stat = os.stat  # the real one: bound before anything is patched


class ImportWatch(MetaPathFinder):
    """Calls back for each watched module by its name, at once for those that are loaded already."""

    def __init__(self, told: Mapping[str, Callable[[ModuleType], None]]) -> None:
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

    def __init__(self, loader: Loader, told: dict[str, Callable[[ModuleType], None]]) -> None:
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


def source_patches() -> list[Patch]:
    """Return patches that let one source be one code, whether its bytecode is there already or not.

    Python takes compiled code for that of a source by its size and its time in whole seconds. A program that was
    executed, changed and executed again within one second would run as it was before. And a set of constants iterates
    in another order when it was read from bytecode than when it was compiled just now.

    Not for: bytecode that is older than the second in which its source was written, or that names its source by
    a hash, or by nothing; installed packages.
    """
    real, compiled = SourceFileLoader.path_stats, SourceFileLoader.source_to_code

    def path_stats(self: SourceFileLoader, path: Any) -> Mapping[str, Any]:
        if is_user_file(os.fspath(path)):
            # Where there is none this is an OSError too, with which the loader goes on.
            cache = cache_from_source(path)
            is_settled = _stat(cache).st_mtime >= int(_stat(path).st_mtime) + _SETTLED_S
            if not is_settled and names_source_by_time(cache):
                raise OSError("its bytecode is not trusted")
        return real(self, path)

    def source_to_code(self: SourceFileLoader, data: Any, path: Any, **options: Any) -> CodeType:
        code: CodeType = compiled(self, data, path, **options)
        if not is_user_file(os.fspath(path)):
            return code
        again: CodeType = loads(dumps(code))  # noqa: S302  (what this process compiled just now)
        return again

    def names_source_by_time(cache: str) -> bool:
        with FileIO(cache) as file:
            return int.from_bytes(file.read(8)[4:], "little") == 0  # PEP 552

    return [
        Patch(SourceFileLoader, "path_stats", path_stats),
        Patch(SourceFileLoader, "source_to_code", source_to_code),
    ]
