"""What a name stands for in a project: through imports, packages that lend names, and bases of classes.

Invariant: a name that no file of the project defines stands for nothing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from twice.checker.analysis.seeds import SeedReader
from twice.checker.syntax.module import Module
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import last_name

_NAME_MAX: Final = 300
_RAISED: Final = ("Error", "Exception", "Warning")
_LIBRARIES: Final = frozenset(
    ["jax", "matplotlib", "numpy", "pandas", "pytest", "scipy", "sklearn", "tensorflow", "torch"]
)


def callee_of(module: Module, ways: SeedReader, node: ast.Call, scope: Scope) -> tuple[str, bool]:
    """Give what a call calls, where the project may define it, else ""; and whether it is a base's."""
    func, called = node.func, module.called.get(node)
    if called is not None:
        top = called.partition(".")[0]
        is_other = top in _LIBRARIES or top in sys.stdlib_module_names or top == "builtins"
        return ("" if is_other or called.endswith(_RAISED) else called), False
    if not isinstance(func, ast.Attribute):
        return "", False
    owner = scope.owner
    if isinstance(func.value, ast.Call) and last_name(func.value) == "super" and owner is not None:
        return f"{LOCAL}{module.in_function(owner)}.{func.attr}", True
    kind = ways.class_of(func.value, scope)
    return (f"{kind}.{func.attr}" if kind else ""), False


class ProjectNames:
    """Finds definitions.

    Args:
        facts: what ``seed_facts.gather`` gave, by path.
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts = facts
        self._found: dict[tuple[str, str], tuple[str, str] | None] = {}
        self._modules: dict[str, list[str]] = {}
        for path, one in facts.items():
            bits = path.removesuffix(".py").removesuffix("/__init__").split("/")
            for name in sorted({one["module"], *(".".join(bits[at:]) for at in range(len(bits)))}):
                self._modules.setdefault(name, []).append(path)

    def find(self, path: str, name: str) -> tuple[str, str] | None:
        """Give the file, and the dotted path in it, of what a name stands for in a file."""
        if name.startswith(LOCAL):
            return path, name[1:]
        key = (path.rpartition("/")[0], name)
        if len(name) > _NAME_MAX:
            return None  # A package that lends from itself.
        if key not in self._found:
            # While it is looked for: packages may lend from each other in a circle.
            self._found[key] = None
            self._found[key] = self._follow_import(path, name.split("."))
        return self._found[key]

    def _follow_import(self, path: str, bits: list[str]) -> tuple[str, str] | None:
        for at in range(len(bits) - 1, 0, -1):
            module = self._module(path, ".".join(bits[:at]))
            if module is not None:
                one, rest = self._facts[module], ".".join(bits[at:])
                lent = one["imports"].get(bits[at])
                if lent:
                    return self.find(module, ".".join([lent, *bits[at + 1 :]]))
                for star in one["stars"]:
                    found = (
                        self.find(module, f"{star}.{rest}") if self._module(module, star) else None
                    )
                    if found is not None and self._has(*found):
                        return found
                return module, rest
        return None

    def _module(self, path: str, name: str) -> str | None:
        found = self._modules.get(name, [])
        if len(found) > 1:
            folder = path.rpartition("/")[0]
            found = [each for each in found if each.rpartition("/")[0] == folder] or found
        return found[0] if found else None

    def _has(self, path: str, name: str) -> bool:
        one = self._facts[path]
        return any(
            name in one[each] or f"{name}.__init__" in one[each]
            for each in ("takes", "names", "classes", "keepers")
        )

    def lineage(self, path: str, name: str) -> Iterator[tuple[str, str]]:
        """Give a class and its bases, nearest first."""
        waiting, seen = [(path, name)], set()
        while waiting:
            each = waiting.pop(0)
            if each in seen:
                continue
            seen.add(each)
            yield each
            bases = self._facts[each[0]]["classes"].get(each[1], {}).get("bases", ())
            found = [self.find(each[0], base) for base in bases]
            waiting.extend(one for one in found if one is not None)
