"""What a file seeds, what its functions take, and which calls hand a seed over or leave it out: facts, for ``seed_flow``.

Invariant: facts are plain JSON values, and say nothing of what another file may change.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final

from twice.checker.analysis.owners import owners_in
from twice.checker.analysis.project_names import callee_of
from twice.checker.analysis.seed_expressions import (
    find_missing,
    is_lazy,
    is_named_seed,
    is_none_branch,
    is_unseeded,
    refuses_none,
)
from twice.checker.analysis.seeds import (
    MAKERS,
    OPEN,
    WORDS,
    Origin,
    SeedReader,
    is_argument,
    is_record,
    place_of,
    seed_in,
)
from twice.checker.syntax.kind import is_none
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.nodes import parameter_defaults
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import SEED, about, last_name

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
        **owners_in(module),
        "made": list(sources.list_made()),
        "names": dict(sources.list_names()),
        "fields": dict(sources.list_fields()),
        "assigned": sorted(set(sources.list_assigned())),
        "chosen": sorted(sources.list_chosen()),
        "choices": list(sources.list_choices()),
    }
    calls = list(sources.list_calls())
    facts["takes"] = dict(sources.list_signatures())  # Of the functions that the others speak of.
    derived = (each for each in module.survey.scopes if getattr(each.node, "bases", ()))
    own = {LOCAL + each for each in (*facts["takes"], *facts["fields"])}
    own.update(LOCAL + module.in_function(each) for each in derived)
    own |= {each.removesuffix(".__init__") for each in own}
    facts["calls"] = [
        each for each in calls if each["to"][0] != LOCAL or "super" in each or each["to"] in own
    ]
    return facts if any(facts.values()) else None


class _Sources:
    """Reads the facts of one file."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self.reader = SeedReader(module)

    def list_made(self) -> Iterator[dict[str, Any]]:
        """Yield every call that seeds, with the origins of its seed and the parameter whose None it may get."""
        catalogue = self._module.catalogue
        asked = catalogue.together("library-draws", "draws-by-default", "seeding", *MAKERS)
        for node, scope, name in self._module.calls:
            called = name if name in asked else self._chosen_name(node, scope)
            if called not in asked and not catalogue.has_method("seeding", last_name(node)):
                continue
            site = self._module.site(node, scope)
            seed = self._seed(site, called)
            none: dict[str, Any] = {}
            if seed is None or is_none(seed):
                missing = find_missing(site) if is_unseeded(site) else None
                if not isinstance(missing, ast.Name) or not is_argument(missing.id, scope):
                    continue
                ways = self.reader.of_parameter(missing.id, scope)
                none = {"none": ways[0][1:3], "fresh": True} if ways != [OPEN] else {}
                ways = []
            else:
                given = self.reader.of_none(seed, scope)
                if given is not None and called in asked and not refuses_none(site, seed):
                    none = {"none": given, "said": [called, self._module.shown(seed)]}
                origins = self._as_default(node, scope)
                ways = self.reader.of(seed, scope) if origins is None else origins
                ways = self.reader.of_fallback(node, scope, of=ways) if origins is None else ways
            if none and not self._is_read(site):
                none["unread"] = True
            if none or any(each != OPEN for each in ways):
                yield {"at": place_of(site), "ways": ways, **none}

    def _chosen_name(self, node: ast.Call, scope: Scope) -> str | None:
        """Return the first name of a callee that is one of two: ``kind = ShuffleSplit if shuffled else KFold``."""
        names, func = self._module.names, node.func
        bindings = names.bindings(func.id, scope) if isinstance(func, ast.Name) else []
        made = bindings[0].node if len(bindings) == 1 else None
        return names.qualified(made.body, scope) if isinstance(made, ast.IfExp) else None

    def _is_read(self, site: Site) -> bool:
        """Whether anything in the file reads the attribute that keeps what is made."""
        module, owner = self._module, site.scope.owner
        statement = module.survey.statement(site.node)
        target = next(iter(getattr(statement, "targets", ())), None)
        kept = next(iter(getattr(target, "elts", [target])))
        if owner is None or not isinstance(kept, ast.Attribute) or last_name(kept.value) != "self":
            return True
        loads = module.loads.of_attribute(kept.attr, owner)
        above = [(module.survey.parents[load], load) for load, _ in loads]
        return any(not isinstance(each, ast.Call) or each.func is not load for each, load in above)

    def _seed(self, site: Site, called: str | None) -> ast.expr | None:
        """Return the seed of a call that makes a generator, seeds one, or makes a library draw."""
        catalogue = self._module.catalogue
        for group in ("library-draws", "draws-by-default"):
            library = catalogue.names(group).get(called or "")
            if library:
                names = library.partition(" when ")[0].split()
                return next((one for each in names if (one := site.keyword(each))), None)
        if catalogue.has("key-derivations", called):
            return None
        return seed_in(site)

    def _as_default(self, node: ast.Call, scope: Scope) -> list[Origin] | None:
        """Return the origin of a generator that is a default itself: of a parameter, or of a field."""
        parents = self._module.survey.parents
        above = parents.get(node)
        if isinstance(above, ast.arguments):
            inner = (each for each in scope.inner if getattr(each.node, "args", None) is above)
            defaults = parameter_defaults(above).items()
            name = next((name for name, default in defaults if default is node), "")
            if name and (function := next(inner, None)) is not None:
                return self.reader.of_parameter(name, function)
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

    def list_chosen(self) -> Iterator[str]:
        """Yield the functions called after seeds that return a draw of a process-wide stream, or of the world."""
        module = self._module
        for scope in module.survey.scopes if module.speaks_of_seeds else ():
            if scope.is_function and about(scope.name, SEED):
                kinds = {each[0] for each in self.reader.of_results(scope)}
                if kinds & {"drawn", "world"}:
                    yield module.in_function(scope)

    def list_choices(self) -> Iterator[dict[str, Any]]:
        """Yield the calls of the project's functions that choose a seed where none was given."""
        module = self._module
        for node, scope, called in module.calls if module.speaks_of_seeds else ():
            if called is not None and about(called.rpartition(".")[2], SEED):
                site = module.site(node, scope)
                if is_named_seed(site) and is_none_branch(site):
                    yield {"to": called, "at": place_of(site)}

    def list_calls(self) -> Iterator[dict[str, Any]]:
        """Yield the calls of what the project may define, with the seeds that they hand over."""
        module = self._module
        for node, scope, _ in module.calls:
            name, is_super = callee_of(module, node, scope)
            args, keywords = node.args, node.keywords
            if last_name(node) in {"Process", "Thread"}:  # They call their target later.
                inner = {each.arg: each.value for each in keywords}
                handed, named = inner.get("args"), inner.get("kwargs")
                work = inner.get("target", node.func)
                name = module.names.qualified(work, scope) or ""
                name = name or callee_of(module, ast.Call(work, [], []), scope)[0]
                args, keywords = list(getattr(handed, "elts", ())), _read_keywords(named)
            if not name:
                continue
            site = module.site(node, scope)
            given = [(str(at), each) for at, each in enumerate(args)]
            given += [(each.arg or "", each.value) for each in keywords]
            given = [each for each in given if _may_seed(module, *each, name)]
            slots = {slot: self.reader.of(value, scope) for slot, value in given}
            nones = {
                slot: its
                for slot, value in given
                if isinstance(value, (ast.Name, ast.Attribute))
                and (its := self.reader.of_none(value, scope))
            }
            function = scope.method
            rest = {
                "super": is_super,
                "star": any(isinstance(each, ast.Starred) for each in args)
                or any(each.arg is None for each in keywords),
                "named": [each.arg for each in keywords],
                "slots": {slot: ways for slot, ways in slots.items() if ways != [OPEN]},
                "nones": nones,
                "holds": self._holds_seed(scope),
                "begins": function is not None and function.name == "__init__",
                "lazy": is_lazy(site) is not None,
            }
            kept = {key: value for key, value in rest.items() if value}
            yield {"to": name, "count": len(args), "at": place_of(site), **kept}

    def _holds_seed(self, scope: Scope) -> bool:
        """Whether a function has a seed or a generator of its own to hand over."""
        function = scope.method
        if function is None or not self._module.speaks_of_seeds:
            return False
        return any(
            about(name, SEED) and any(each.kind == "argument" for each in bindings)
            for name, bindings in function.bindings.items()
        )

    def list_names(self) -> Iterator[tuple[str, list[Origin]]]:
        """Yield names of the file, and seeds that its classes keep, with their origins."""
        module = self._module
        for name, bindings in module.survey.root.bindings.items():
            is_one = len(bindings) == 1 and _is_number(bindings[0].node)
            if is_one or (
                about(name, WORDS) and {each.kind for each in bindings} <= {"assign", "annotated"}
            ):
                yield name, self.reader.of_bindings(bindings, module.survey.root, name)
        for scope in module.survey.scopes:
            if scope.is_class and not is_record(scope):
                for name in module.attributes.of(scope):
                    if about(name, WORDS):
                        yield f"{module.in_function(scope)}.{name}", self.reader.of_own(scope, name)

    def list_fields(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the classes whose constructor is made of fields."""
        for scope in self._module.survey.scopes:
            if is_record(scope) and (fields := dict(self._list_fields(scope))):
                yield self._module.in_function(scope), fields

    def _list_fields(self, scope: Scope) -> Iterator[tuple[str, Any]]:
        """Yield the fields of a class with the origins of their defaults: open where there is none, None for None."""
        for each in getattr(scope.node, "body", ()):
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                is_nothing = each.value is not None and is_none(each.value)
                its = [OPEN] if each.value is None else self._default(each.value, scope)
                yield each.target.id, None if is_nothing else its

    def list_assigned(self) -> Iterator[str]:
        """Yield the attributes that are set in other objects, or replaced in a copy."""
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

    def list_signatures(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the parameters of the functions that an origin speaks of."""
        known: set[str] = set()
        while len(known) < len(self.reader.functions):  # A default may speak of further ones.
            for path, scope in list(self.reader.functions.items()):
                if path not in known:
                    known.add(path)
                    yield path, self._signature(scope)

    def _signature(self, scope: Scope) -> dict[str, Any]:
        node, outer = scope.node, scope.parent or scope
        if isinstance(node, ast.ClassDef):
            fields = dict(self._list_fields(scope))
            kept = {name: its for name, its in fields.items() if its != [OPEN]}
            return {"places": list(fields), "defaults": kept, "seeds": {}, "command": False}
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)), "only those are kept"
        arguments = node.args
        places = [each.arg for each in [*arguments.posonlyargs, *arguments.args]]
        names = [last_name(each) for each in node.decorator_list]
        defaults = parameter_defaults(arguments).items()
        every = {each: value for each, value in defaults if value is not None}
        return {
            "places": places[outer.is_class and "staticmethod" not in names :],
            "defaults": {
                each: None if is_none(value) else self._default(value, outer)
                for each, value in every.items()
            },
            "seeds": {
                each: place_of(self._module.site(value, scope))
                for each, value in every.items()
                if _is_number(value) and about(each, SEED)
            },
            "command": any(about(each, _COMMANDS) for each in names),
        }

    def _default(self, value: ast.expr, scope: Scope) -> list[Origin]:
        """Return the origins of a default, through a field's default and a default factory."""
        if isinstance(value, ast.Call) and last_name(value) in _FIELDS:
            given = {each.arg: each.value for each in value.keywords}
            inner = given.get("default", given.get("default_factory"))
            return [OPEN] if inner is None else self._default(inner, scope)
        return self.reader.of(value.body if isinstance(value, ast.Lambda) else value, scope)


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


def _read_keywords(node: ast.expr | None) -> list[ast.keyword]:
    """Return what a dictionary of keyword arguments hands over."""
    if not isinstance(node, ast.Dict):
        return []
    pairs = zip(node.keys, node.values, strict=True)
    return [
        ast.keyword(str(key.value), value) for key, value in pairs if isinstance(key, ast.Constant)
    ]
