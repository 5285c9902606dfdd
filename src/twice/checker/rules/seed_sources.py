"""What a file seeds, what its functions take, and which calls may leave a seed out: facts, for ``seed_callers``.

Invariant: nothing of a test is gathered: who tests may choose any seed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final

from twice.checker.analysis.ownership import owners_in
from twice.checker.rules.absence import default_of
from twice.checker.rules.project_names import callee_of
from twice.checker.rules.seed_ways import (
    MAKERS,
    OPEN,
    WORDS,
    Way,
    Ways,
    is_record,
    place_of,
    seed_in,
)
from twice.checker.rules.seeding import is_none
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import about, last_name

_COMMANDS: Final = frozenset(
    ["argument", "callback", "click", "command", "fixture", "group", "hydra", "main", "option", "task", "typer"]
)  # fmt: skip
_FIELDS: Final = frozenset({"attrib", "field", "Field", "ib"})
_COPIES: Final = frozenset({"replace", "evolve", "model_copy", "_replace"})
_COMPOUND: Final = (ast.BoolOp, ast.IfExp, ast.BinOp, ast.Call, ast.Subscript)


def gather(module: Module) -> dict[str, Any] | None:
    """Give the facts of a file, as plain JSON values."""
    sources = _Sources(module)
    facts: dict[str, Any] = {
        **owners_in(module, sources.ways),
        "made": list(sources.made()),
        "names": dict(sources.names()),
        "classes": dict(sources.classes()),
        "assigned": sorted(set(sources.assigned())),
        "imports": dict(sources.imports()),
        "stars": module.survey.stars if module.path.endswith("__init__.py") else [],
    }
    calls = list(sources.calls())
    facts["takes"] = dict(sources.takes())  # Of the functions that the others speak of.
    own = {LOCAL + each for each in (*facts["takes"], *facts["classes"])}
    own |= {each.removesuffix(".__init__") for each in own}
    facts["calls"] = [
        each for each in calls if each["to"][0] != LOCAL or "super" in each or each["to"] in own
    ]
    return {"module": module.name, **facts} if any(facts.values()) else None


class _Sources:
    """Reads the facts of one file."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self.ways = Ways(module)
        """What reads single expressions."""

    def made(self) -> Iterator[dict[str, Any]]:
        """Give every call that seeds, with the ways of its seed."""
        catalogue = self._module.catalogue
        asked = catalogue.together("library-draws", "draws-by-default", "seeding", *MAKERS)
        for node, scope, called in self._module.calls:
            if called not in asked and not catalogue.has_method("seeding", last_name(node)):
                continue
            site = self._module.site(node, scope)
            seed = self._seed(site, called)
            if seed is None or is_none(seed):
                continue
            ways = self._as_default(node, scope)
            if ways is None:
                ways = self.ways.of(seed, scope)
                ways = self.ways.fallback(node, scope, of=ways)
            if any(each != OPEN for each in ways):
                yield {"at": place_of(site), "ways": ways}

    def _seed(self, site: Site, called: str | None) -> ast.expr | None:
        """Return the seed of a call that makes a generator, seeds one, or makes a library draw."""
        catalogue = self._module.catalogue
        for group in ("library-draws", "draws-by-default"):
            library = catalogue.names(group).get(called or "")
            if library:
                return site.keyword(library.partition(" ")[0])
        if catalogue.has("key-derivations", called):
            return None
        return seed_in(site)

    def _as_default(self, node: ast.Call, scope: Scope) -> list[Way] | None:
        """Return the way of a generator that is a default itself: of a parameter, or of a field."""
        parents = self._module.survey.parents
        above = parents.get(node)
        if isinstance(above, ast.arguments):
            inner = next(
                (each for each in scope.inner if getattr(each.node, "args", None) is above), None
            )
            for each in [*above.posonlyargs, *above.args, *above.kwonlyargs]:
                if inner is not None and default_of(above, each.arg) is node:
                    return self.ways.parameter(each.arg, inner)
        while isinstance(above, (ast.Lambda, ast.keyword, ast.Call)):
            above = parents.get(above)
        owner = scope.owner
        if (
            isinstance(above, ast.AnnAssign)
            and owner is not None
            and above in getattr(owner.node, "body", ())
        ):
            return [["field", LOCAL + self._module.in_function(owner), last_name(above.target), ""]]
        return None

    def calls(self) -> Iterator[dict[str, Any]]:
        """Give the calls of what the project may define, with the seeds that they hand over."""
        module = self._module
        for node, scope, _ in module.calls:
            name, is_super = callee_of(module, self.ways, node, scope)
            if not name:
                continue
            site = module.site(node, scope)
            given = [(str(at), each) for at, each in enumerate(node.args)]
            given += [(each.arg or "", each.value) for each in node.keywords]
            slots = {
                slot: self.ways.of(value, scope)
                for slot, value in given
                if _may_seed(module, slot, value, name)
            }
            rest = {
                "super": is_super,
                "star": site.has_star,
                "named": [each.arg for each in node.keywords],
                "slots": {slot: ways for slot, ways in slots.items() if ways != [OPEN]},
            }
            kept = {key: value for key, value in rest.items() if value}
            yield {"to": name, "count": len(node.args), "at": place_of(site), **kept}

    def names(self) -> Iterator[tuple[str, list[Way]]]:
        """Give names of the file, and seeds that its classes keep, with their ways."""
        module = self._module
        for name, bindings in module.survey.root.bindings.items():
            is_one = len(bindings) == 1 and _is_number(bindings[0].node)
            if is_one or (
                about(name, WORDS) and {each.kind for each in bindings} <= {"assign", "annotated"}
            ):
                yield name, self.ways.bound(bindings, module.survey.root, name)
        for scope in module.survey.scopes:
            if scope.is_class and not is_record(scope):
                for name in module.attributes.of(scope):
                    if about(name, WORDS):
                        yield f"{module.in_function(scope)}.{name}", self.ways.own(scope, name)

    def classes(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give what classes inherit, and the fields that a constructor is made of."""
        module = self._module
        for scope in module.survey.scopes:
            node = scope.node
            if not isinstance(node, ast.ClassDef):
                continue
            outer = scope.parent or scope
            bases = [
                each for each in (module.names.qualified(one, outer) for one in node.bases) if each
            ]
            fields: dict[str, Any] = {}
            for each in node.body if is_record(scope) else ():
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                    fields[each.target.id] = (
                        None if each.value is None else self._default(each.value, scope)
                    )
            if bases or fields:
                yield (
                    module.in_function(scope),
                    {"bases": bases, "fields": fields, "init": "__init__" in scope.bindings},
                )

    def assigned(self) -> Iterator[str]:
        """Give the attributes that are set in other objects, or replaced in a copy."""
        for node, _ in self._module.survey.nodes.get(ast.Assign, ()):
            for target in getattr(node, "targets", ()):
                if isinstance(target, ast.Attribute) and last_name(target.value) not in {
                    "self",
                    "cls",
                }:
                    yield target.attr
        for call, _, _ in self._module.calls:
            if last_name(call) in _COPIES:
                yield from (each.arg for each in call.keywords if each.arg)

    def imports(self) -> Iterator[tuple[str, str]]:
        """Give the names that a package lends from its modules."""
        if self._module.path.endswith("__init__.py"):
            for name, bindings in self._module.survey.root.bindings.items():
                if bindings[0].kind == "import":
                    yield name, bindings[0].target

    def takes(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give the parameters of the functions that a way speaks of."""
        known: set[str] = set()
        while len(known) < len(self.ways.functions):  # A default may speak of further ones.
            for path, scope in list(self.ways.functions.items()):
                if path not in known:
                    known.add(path)
                    yield path, self._signature(scope)

    def _signature(self, scope: Scope) -> dict[str, Any]:
        node, outer = scope.node, scope.parent or scope
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)), "only those are kept"
        arguments = node.args
        places = [each.arg for each in [*arguments.posonlyargs, *arguments.args]]
        names = [last_name(each) for each in node.decorator_list]
        defaults = {
            each: None if is_none(value) else self._default(value, outer)
            for each in [*places, *(one.arg for one in arguments.kwonlyargs)]
            if (value := default_of(arguments, each)) is not None
        }
        return {
            "places": places[outer.is_class and "staticmethod" not in names :],
            "defaults": defaults,
            "command": any(about(each, _COMMANDS) for each in names),
        }

    def _default(self, value: ast.expr, scope: Scope) -> list[Way]:
        """Return the ways of a default, through a field's default and a default factory."""
        if isinstance(value, ast.Call) and last_name(value) in _FIELDS:
            given = {each.arg: each.value for each in value.keywords}
            inner = given.get("default", given.get("default_factory"))
            return [OPEN] if inner is None else self._default(inner, scope)
        if isinstance(value, ast.Lambda):
            return self.ways.of(value.body, scope)
        return self.ways.of(value, scope)


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _may_seed(module: Module, slot: str, value: ast.expr, callee: str) -> bool:
    """Whether an argument may be a seed: a number, something that is called so, a word for a function beside it."""
    if isinstance(value, ast.Constant):
        return value.value is None or _is_number(value) or callee.startswith(LOCAL)
    if isinstance(value, (ast.Name, ast.Attribute)):
        return about(slot, WORDS) or about(last_name(value), WORDS)
    if not isinstance(value, _COMPOUND) or not module.speaks_of_seeds:
        return False
    return "seed" in module.source(value).lower()
