"""Tools that are offered together, each under one name, and registries by theirs.

Finding a registry imports the module that it stands in, which runs that module's code.

Invariant: the fingerprint does not depend on the order in which tools are given.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Final

from twice.errors import TwiceError
from twice.tools.backend import Backend
from twice.tools.canonical_json import fingerprint
from twice.tools.declaration import Tool
from twice.tools.errors import RegistryRefused

BUILT_IN: Final = {
    "blender": "twice.tools.scenes:BLENDER",
    "memory": "twice.tools.scenes:MEMORY",
}
"""Registries that come with twice."""


class Registry:
    """A fixed set of tools and macros.

    Args:
        tools: each once; a macro brings the tools of its steps.
        name: how it is called in messages.
        backend: makes what the tools act on, in its empty state; None for tools that act on nothing.

    Raises:
        RegistryRefused: E-TOOL-002, for what is no tool, and for two tools of one name.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        name: str = "tools",
        *,
        backend: Callable[[], Backend] | None = None,
    ) -> None:
        self.name = name
        self._backend = backend
        self._tools: dict[str, Tool] = {}
        for each in tools:
            if not isinstance(each, Tool):
                raise RegistryRefused(
                    f"{each!r:.80} in the registry {name} is no tool.",
                    "Expected what @tool and macro make.",
                    'Declare it: @tool("its.name", determinism="deterministic")',
                )
            self._add(each)
        self._tools = dict(sorted(self._tools.items()))

    def _add(self, tool: Tool) -> None:
        if self._tools.setdefault(tool.name, tool) is not tool:
            raise RegistryRefused(
                f"Two tools of the registry {self.name} are called {tool.name}.",
                "Expected every name once.",
                "Rename one of them.",
            )
        for each in tool.uses:
            self._add(each)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def get(self, name: str) -> Tool | None:
        """Return the tool of a name, or None."""
        return self._tools.get(name)

    def open_backend(self) -> Backend | None:
        """Make a new backend for the tools, in its empty state."""
        return None if self._backend is None else self._backend()

    @property
    def names(self) -> list[str]:
        """Every name, in code point order."""
        return list(self._tools)

    @cached_property
    def fingerprint(self) -> str:
        """The labelled digest of all tools' fingerprints, sorted by name."""
        return fingerprint(["twice.registry/1", [[t.name, t.fingerprint] for t in self]])

    @cached_property
    def macro_fingerprint(self) -> str:
        """The same over the macros alone."""
        macros = [[each.name, each.fingerprint] for each in self if each.is_macro]
        return fingerprint(["twice.macros/1", macros])


def find_registry(text: str) -> Registry:
    """Give the registry of a name: a built-in one, ``module:name`` or ``file.py:name``.

    Raises:
        RegistryRefused: E-TOOL-002, when there is none.
        ExtraMissing: E-EXTRA-001, when a built-in one needs what is not installed.
    """
    place, colon, name = BUILT_IN.get(text, text).rpartition(":")
    if not colon or not place or not name:
        raise RegistryRefused(
            f"{text!r:.200} names no registry.",
            f"Expected one of {', '.join(sorted(BUILT_IN))}, module:name or file.py:name.",
            f"For example: twice tools list {text if text.endswith('.py') else 'my/tools.py'}:registry",
        )
    module = _load(place)
    found = getattr(module, name, None)
    if isinstance(found, Registry) and len(found):
        return found
    there = [key for key, each in sorted(vars(module).items()) if isinstance(each, Registry)]
    said = "not there" if found is None else f"of type {type(found).__name__}"
    raise RegistryRefused(
        f"{name} in {place} {'has no tools' if isinstance(found, Registry) else f'is {said}'}.",
        f"Expected a registry with a tool{f'; there is {there[0]}' if there else ''}.",
        f"Write there: {name} = Registry([your, tools])",
    )


def _load(place: str) -> ModuleType:
    """Import a module from the current folder or from where Python finds it, or execute a file."""
    try:
        if not place.endswith(".py"):
            here = str(Path.cwd())
            if here not in sys.path and "" not in sys.path:
                sys.path.insert(0, here)
            return importlib.import_module(place)
        path = Path(place)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None, "a name that ends with .py has a loader"
        assert spec.loader is not None, "as above"
        module = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(path.resolve().parent))
        sys.modules.setdefault(path.stem, module)  # Types that it defines are looked up there.
        spec.loader.exec_module(module)
    except TwiceError:
        raise
    except (Exception, SystemExit) as error:
        raise RegistryRefused(
            f"{place} cannot be loaded: {type(error).__name__}: {error}.",
            "Expected a file, or a module that Python finds from here, that is imported without an error.",
            "Import it in Python to see where it fails, or give the file: path/to/file.py:name",
        ) from error
    return module
