"""Tools that are offered together, each under one name.

Invariant: the fingerprint does not depend on the order in which tools are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from twice.tools.backend import Backend
from twice.tools.errors import RegistryRefused
from twice.tools.plain import fingerprint
from twice.tools.tool import Tool


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
