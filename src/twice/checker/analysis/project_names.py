"""What a name stands for in a project: through imports, packages that lend names, and bases of classes.

A module is known by its dotted name, and by the ends of its path, since a project may be started in any of its
folders; a name without a dot is a module beside the file that imports it, or at the top.

Invariant: a name that no file of the project defines stands for nothing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, Self

from twice.checker.syntax.annotations import classes_in
from twice.checker.syntax.module import Module
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.survey import Binding, Scope
from twice.checker.syntax.uses.words import last_name

FACTS: Final = "project_names.gather"
"""What the facts of a file for this are kept under."""
_OWN: Final = frozenset({"self", "cls"})
_NAME_MAX: Final = 300
_ALIASES_MAX: Final = 8
_RAISED: Final = ("Error", "Exception", "Warning")
_LIBRARIES: Final = frozenset(
    ["jax", "matplotlib", "numpy", "pandas", "pytest", "scipy", "sklearn", "tensorflow", "torch"]
)


def gather(module: Module) -> dict[str, Any]:
    """Give under which name a file is imported, what it imports, and what it defines."""
    survey, qualified = module.survey, module.names.qualified
    lent = {
        name: bindings[0].target
        for name, bindings in survey.root.bindings.items()
        if bindings[0].kind == "import"
    }
    inner = [scope for scope in survey.scopes if not scope.name.startswith("<") and scope.parent]
    classes = {}
    for scope in inner:
        outer = scope.parent
        if isinstance(scope.node, ast.ClassDef) and outer is not None:
            bases = [qualified(each, outer) for each in scope.node.bases]
            classes[module.in_function(scope)] = [each for each in bases if each]
    return {
        "module": module.name,
        "lent": lent,
        "stars": survey.stars,
        "imported": sorted({*survey.imported, *survey.stars}),
        "classes": classes,
        "defined": sorted({*survey.root.bindings.keys() - lent, *map(module.in_function, inner)}),
    }


def callee_of(module: Module, node: ast.Call, scope: Scope) -> tuple[str, bool]:
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
    kind = class_of(module, func.value, scope)
    return (f"{kind}.{func.attr}" if kind else ""), False


def bindings_of(module: Module, node: ast.AST, scope: Scope) -> list[tuple[Binding, Scope]]:
    """Give what binds a name, or an attribute of ``self``, each with the scope that it stands in."""
    owner = scope.owner
    if isinstance(node, ast.Name):
        holder = module.names.holder(node.id, scope)
        return [] if holder is None else [(each, holder) for each in holder.bindings[node.id]]
    if owner and isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in _OWN:
        every = module.attributes.of(owner).get(node.attr, ())
        return [(each, where) for each, where, _ in every]
    return []


def class_of(module: Module, node: ast.AST, scope: Scope, depth: int = 3) -> str:
    """Give the name of the class that an expression is an instance of; "" where nothing says so."""
    names, owner = module.names, scope.owner
    if isinstance(node, ast.Call):
        return names.qualified(node.func, scope) or ""
    if isinstance(node, ast.Name) and node.id in _OWN and owner is not None:
        return LOCAL + module.in_function(owner)
    for binding, where in bindings_of(module, node, scope) if depth > 0 else ():
        annotation = getattr(binding.node, "annotation", None)
        if annotation is not None:
            said = [names.qualified(each, where.parent or where) for each in classes_in(annotation)]
            return next((each for each in said if each), "")
        if binding.kind == "assign" and (found := class_of(module, binding.node, where, depth - 1)):
            return found
    return ""


class ProjectNames:
    """Finds modules and definitions."""

    def __init__(self, facts: Mapping[str, Mapping[str, Any]]) -> None:
        self._facts = facts
        self._found: dict[tuple[str, str], tuple[str, str] | None] = {}
        self._modules: dict[str, list[str]] = {}
        self._defined = {path: frozenset(one["defined"]) for path, one in facts.items()}
        for path, one in facts.items():
            bits = path.removesuffix(".py").removesuffix("/__init__").split("/")
            for name in sorted({one["module"], *(".".join(bits[at:]) for at in range(len(bits)))}):
                self._modules.setdefault(name, []).append(path)

    @classmethod
    def from_facts(cls, facts: Mapping[str, Mapping[str, Any]]) -> Self:
        """Read them among all facts of the files."""
        return cls({path: one[FACTS] for path, one in facts.items() if FACTS in one})

    def module(self, path: str) -> str:
        """Give the dotted name of a file."""
        name: str = self._facts[path]["module"]
        return name

    def package(self, path: str) -> str:
        """Give the top package of a file; "" if it is in none."""
        name = self.module(path)
        return name.partition(".")[0] if "." in name else ""

    def find(self, path: str, name: str) -> tuple[str, str] | None:
        """Give the file, and the dotted path in it, of what a name stands for in a file; a module's path is ""."""
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
        for at in range(len(bits), 0, -1):
            module = next(iter(self._files(".".join(bits[:at]), path)), None)
            if module is not None:
                return self._follow_in(module, bits[at:])
        return None

    def _follow_in(self, path: str, bits: list[str]) -> tuple[str, str]:
        """Go on in a file to where it has a name from."""
        one, rest = self._facts[path], ".".join(bits)
        if bits and bits[0] not in self._defined[path]:
            lent = one["lent"].get(bits[0])
            if lent:
                return self.find(path, ".".join([lent, *bits[1:]])) or (path, rest)
            for star in one["stars"]:
                module = self.find(path, star)
                # Of a module that is no file, each star would be asked within each other one.
                if module is not None and not module[1]:
                    found = self.find(path, ".".join([star, *bits]))
                    if found is not None and found[1] in self._defined[found[0]]:
                        return found
        return path, rest

    def _files(self, name: str, path: str) -> list[str]:
        """Return the files that a module's name may stand for in a file, those in the same folder first."""
        found, folder = self._modules.get(name, []), path.rpartition("/")[0]
        if "." not in name:
            beside = {f"{folder}/{name}".lstrip("/"), name}
            found = [
                each
                for each in found
                if each.endswith("/__init__.py") or each.removesuffix(".py") in beside
            ]
        if len(found) > 1:
            found = [each for each in found if each.rpartition("/")[0] == folder] or found
        return found

    def lineage(self, path: str, name: str) -> Iterator[tuple[str, str]]:
        """Give a class and its bases, nearest first."""
        waiting, seen = [(path, name)], set()
        while waiting:
            each = waiting.pop(0)
            if each in seen:
                continue
            seen.add(each)
            yield each
            found = [
                self.find(each[0], base)
                for base in self._facts[each[0]]["classes"].get(each[1], ())
            ]
            waiting.extend(one for one in found if one is not None)

    def callee(self, path: str, name: str, *, of_base: bool = False) -> tuple[str, str] | None:
        """Give the function, method or constructor that a call of a name calls in a file.

        A class that no base gives a constructor is given itself.
        """
        found = self.find(path, name)
        if found is None:
            return None
        where, called = found
        is_class = called in self._facts[where]["classes"] and not of_base
        owner, _, method = (f"{called}.__init__" if is_class else called).rpartition(".")
        if not owner:
            return found
        for at, (file, base) in enumerate(self.lineage(where, owner)):
            if f"{base}.{method}" in self._defined[file] and not (of_base and at == 0):
                return file, f"{base}.{method}"
        return (where, owner) if method == "__init__" else None

    def methods(self, name: str) -> list[tuple[str, str]]:
        """Give the methods of one name in all classes, each with its file."""
        return self._methods.get(name, [])

    @cached_property
    def _methods(self) -> dict[str, list[tuple[str, str]]]:
        found: dict[str, list[tuple[str, str]]] = {}
        for path, one in self._facts.items():
            for function in one["defined"]:
                owner, _, name = function.rpartition(".")
                if owner in one["classes"]:
                    found.setdefault(name, []).append((path, function))
        return found

    @cached_property
    def imports(self) -> dict[str, list[str]]:
        """The files that each file imports, packages that only lend a name among them."""
        found: dict[str, list[str]] = {}
        for path, one in self._facts.items():
            files: dict[str, None] = {}
            for each in one["imported"]:
                name = each
                while name and not (paths := self._files(name, path)):
                    name = name.rpartition(".")[0]
                files.update(dict.fromkeys(paths if name else ()))
                if name and (last := self.find(path, each)) is not None:
                    files[last[0]] = None
            files.pop(path, None)
            found[path] = list(files)
        return found

    @cached_property
    def users(self) -> dict[str, list[str]]:
        """The files that import each file."""
        found: dict[str, list[str]] = {path: [] for path in self._facts}
        for path, imported in self.imports.items():
            for each in imported:
                found[each].append(path)
        return found

    @cached_property
    def _aliases(self) -> dict[tuple[str, str], list[str]]:
        """The names under which files lend what another file defines."""
        found: dict[tuple[str, str], list[str]] = {}
        for path, one in self._facts.items():
            pairs = [(f"{one['module']}.{name}", target) for name, target in one["lent"].items()]
            for name, target in (*pairs, *((one["module"], each) for each in one["stars"])):
                origin = self.find(path, target)
                if origin is not None and origin[0] != path:
                    found.setdefault(origin, []).append(name)
        return found

    def names(self, path: str, function: str) -> Iterable[str]:
        """Give the dotted names under which a function of a file is imported anywhere, its own first."""
        found = dict.fromkeys([f"{self.module(path)}.{function}"])
        bits = function.split(".")
        for at in range(len(bits), -1, -1):
            for alias in self._aliases.get((path, ".".join(bits[:at])), ()):
                found[".".join([alias, *bits[at:]])] = None
        return list(found)[:_ALIASES_MAX]
