"""Which objects keep the generator that they are handed, and which one generator several of them keep.

An object keeps a generator when its constructor stores the parameter on ``self``, has it as a field, or passes it on
to a base or to an object of its own that does. A function keeps one when it returns an object that does.

Invariant: a file says only what it does itself; whose class keeps what is settled over all files. Of a class that is
in no file only the name of the argument is known; alone it is never enough.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from twice.checker.analysis.project_names import callee_of
from twice.checker.analysis.seed_expressions import is_generator
from twice.checker.analysis.seeds import is_argument, is_record, place_of
from twice.checker.rule import ProjectFacts
from twice.checker.syntax.module import Module
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.nodes import own_attribute
from twice.checker.syntax.reaching import latest
from twice.checker.syntax.survey import COMPREHENSIONS, FUNCTIONS, Scope
from twice.checker.syntax.uses.words import GENERATOR, SEED, about, last_name

Facts: TypeAlias = dict[str, Any]

_COLLECTING: Final = frozenset({"add", "append", "appendleft", "insert", "register", "setdefault"})
_DEPTH: Final = 6
HOLDERS: Final = GENERATOR | {"generators", "randoms", "streams"}
"""What is there to hold generators for others, by its name."""
_SEEDS: Final = SEED | {"state"}
_ASKING: Final = frozenset({"has", "is", "use", "uses"})
_LENDERS: Final = HOLDERS | {"args", "config", "context", "ctx", "options", "run", "self"}


def owners_in(module: Module) -> Facts:
    """Give who keeps generators in a file, and what it hands to whom."""
    if not module.speaks_of(*GENERATOR):
        return {"keepers": {}, "handed": [], "shared": [], "accessors": [], "taken": []}
    shared = [
        str(each.value)
        for call, _, _ in module.calls
        if last_name(call) == "share" and isinstance(call.func, ast.Attribute)
        for each in call.args
        if isinstance(each, ast.Constant)
    ]
    owners = _Owners(module)
    return {
        "keepers": dict(owners.keepers()),
        "handed": list(owners.groups()),
        "shared": shared,
        "accessors": list(owners.list_accessors()),
        "taken": list(owners.list_taken()),
    }


class _Owners:
    def __init__(self, module: Module) -> None:
        self._module = module
        self._passed: dict[Scope, dict[str, list[Facts]]] = {}
        self._groups: dict[tuple[Any, ...], tuple[Facts, list[ast.AST]]] = {}
        self._drawn = {
            (scope.owner, call.func.value.attr)
            for call, scope, _ in module.calls
            if isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Attribute)
            and last_name(call.func.value.value) == "self"
            and module.catalogue.has_method("drawing", call.func.attr)
        }
        for call, scope, _ in module.calls:
            given = [(str(at), each) for at, each in enumerate(call.args)]
            for slot, value in [*given, *((each.arg or "", each.value) for each in call.keywords)]:
                if self._is_one(value, scope):
                    self._hand_over(call, scope, slot, value)
        for node, scope in module.survey.nodes.get(ast.Assign, ()):
            assert isinstance(node, ast.Assign), "assignments are asked for"
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    self._lend(node, target, scope)

    def keepers(self) -> Iterator[tuple[str, Facts]]:
        """Give functions that store a parameter in an object, or pass it on, and classes with such fields."""
        for scope in self._module.survey.scopes:
            node, path = scope.node, self._module.in_function(scope)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                places = [each.arg for each in [*node.args.posonlyargs, *node.args.args]]
                places = places[scope.parent is not None and scope.parent.is_class :]
                kept, passed = sorted(set(self._list_stored(scope))), self._passed.get(scope, {})
                if kept or passed:
                    yield path, {"places": places, "kept": kept, "passed": passed}
            elif isinstance(node, ast.ClassDef) and is_record(scope):
                fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
                kept = [last_name(each.target) for each in fields if self._is_held(each, scope)]
                places = [last_name(each.target) for each in fields]
                if kept:
                    yield path, {"places": places, "kept": kept, "passed": {}}

    def _list_stored(self, scope: Scope) -> Iterator[str]:
        """Yield a method's parameters that become an attribute of ``self``, and are generators."""
        owner = scope.owner
        bound = {} if owner is None else self._module.attributes.of(owner)
        for name, bindings in bound.items():
            for binding, where, _ in bindings if scope.parent is owner else ():
                for each in ast.walk(binding.node) if where is scope else ():
                    if (
                        isinstance(each, ast.Name)
                        and is_argument(each.id, scope)
                        and self._is_alternative(each, binding.node)
                        and (
                            is_generator(self._module.site(each, scope), each)
                            or about(name, GENERATOR)
                            or (owner, name) in self._drawn
                        )
                    ):
                        yield each.id

    def _is_alternative(self, node: ast.AST, whole: ast.AST) -> bool:
        """Whether a value is a whole one, or one of its alternatives: ``rng or other``, ``rng if rng else other``."""
        while node is not whole:
            node, below = self._module.survey.parents[node], node
            if not isinstance(node, (ast.BoolOp, ast.IfExp, ast.AnnAssign)) or below is getattr(
                node, "test", 0
            ):
                return False
        return True

    def _is_held(self, field: ast.AnnAssign, scope: Scope) -> bool:
        kind = self._module.kinds.annotation(field.annotation, scope)
        return kind.is_generator if kind is not None else about(last_name(field.target), GENERATOR)

    def list_accessors(self) -> Iterator[str]:
        """Yield the methods that hand out their object's generator."""
        for scope in self._module.survey.scopes:
            last = scope.node.body[-1] if isinstance(scope.node, ast.FunctionDef) else None
            given = last.value if isinstance(last, ast.Return) else None
            if given is not None and own_attribute(given) and self._is_one(given, scope):
                yield scope.name

    def list_taken(self) -> Iterator[list[Any]]:
        """Yield what objects keep of another one's method: the method, the object, and the place."""
        for call, scope, _ in self._module.calls:
            func, parent = call.func, self._module.survey.parents.get(call)
            name = own_attribute(parent.targets[0]) if isinstance(parent, ast.Assign) else ""
            is_one = about(name, GENERATOR) or (scope.owner, name) in self._drawn
            if name and is_one and not call.args and isinstance(func, ast.Attribute):
                site = self._module.site(call, scope)
                yield [func.attr, self._module.shown(func.value), place_of(site)]

    def groups(self) -> Iterator[Facts]:
        """Give what each generator is handed to; by name, with the places."""
        for group, nodes in self._groups.values():
            for at, each in enumerate(group["to"]):
                others = enumerate(group["to"][:at])
                each["excludes"] = [
                    one
                    for one, other in others
                    if (each["own"] and other["own"]) or self._are_exclusive(nodes[one], nodes[at])
                ]
            yield group

    def _hand_over(self, call: ast.Call, scope: Scope, slot: str, value: ast.expr) -> None:
        module = self._module
        name, is_super = callee_of(module, call, scope)
        is_base = last_name(call) == "__init__"
        if is_base and not is_super:
            name = name.removesuffix(".__init__")
            slot = str(int(slot) - 1) if slot.isdigit() else slot
        name = name or module.called.get(call) or ""
        if not name or name.startswith(("builtins.", "numpy.", "copy.")):
            return
        holder = module.names.holder(value.id, scope) if isinstance(value, ast.Name) else None
        if holder is not None and is_argument(last_name(value), holder) and self._is_kept(call):
            into = {"to": name, "slot": slot, "super": is_super, "says": False}
            self._passed.setdefault(holder, {}).setdefault(last_name(value), []).append(into)
        if not is_super or is_base:
            word = last_name(value) if slot.isdigit() else slot
            says = about(word, GENERATOR) and not about(word, _SEEDS)
            into = {"to": name, "slot": slot, "super": is_super, "says": says}
            self._put(call, scope, value, {**into, "own": is_base, "lasting": self._is_kept(call)})

    def _lend(self, node: ast.Assign, target: ast.Attribute, scope: Scope) -> None:
        """``policy.rng = rng``: the object is known by its name; ``self`` keeps one when it draws from it."""
        value = node.value
        is_own = last_name(target.value) in {"self", "cls"}
        is_kept = (scope.owner, target.attr) in self._drawn and not isinstance(value, ast.Attribute)
        if (is_kept or not is_own) and self._is_one(value, scope):
            self._put(node, scope, value, {"to": "", "own": is_own, "lasting": True})

    def _is_one(self, value: ast.expr, scope: Scope) -> bool:
        """Whether a name or an attribute is a generator, by its kind, or by its name."""
        if not isinstance(value, (ast.Name, ast.Attribute)) or about(last_name(value), _ASKING):
            return False
        kind = self._module.kinds.of(value, scope)
        is_object = kind is not None and kind.name == "object"
        return not is_object and is_generator(self._module.site(value, scope), value)

    def _put(self, node: ast.AST, scope: Scope, value: ast.expr, into: Facts) -> None:
        module = self._module
        key, made, owned = self._identity(value, scope)
        args = getattr(made, "args", None) or [None]
        stream = str(getattr(args[0], "value", "")) if isinstance(args, list) else ""
        group, nodes = self._groups.setdefault(
            key, ({"name": module.shown(value), "stream": stream, "owned": owned, "to": []}, [])
        )
        many = self._is_many(node, made, is_lent=into["to"] == "")
        group["to"].append({**into, "at": place_of(module.site(node, scope)), "many": many})
        nodes.append(node)

    def _identity(
        self, value: ast.expr, scope: Scope, depth: int = _DEPTH
    ) -> tuple[tuple[Any, ...], ast.AST | None, bool]:
        """Which generator an expression is, what bound it, and whether an object owns it already."""
        module = self._module
        if isinstance(value, ast.Attribute):
            if last_name(value.value) in {"self", "cls"} and isinstance(value.value, ast.Name):
                key = scope.owner, value.attr
                return key, None, key in self._drawn
            return (scope, module.source(value)), None, not about(last_name(value.value), _LENDERS)
        assert isinstance(value, ast.Name), "names and attributes are asked for"
        holder = module.names.holder(value.id, scope)
        bindings = [] if holder is None else holder.bindings[value.id]
        last = latest(module.survey, bindings, value) if holder is scope else None
        if last is None and len(bindings) == 1:
            last = bindings[0]
        if last is None or last.kind == "argument" or holder is None:
            return (holder, value.id), None, False
        if last.kind == "assign" and isinstance(last.node, (ast.Name, ast.Attribute)) and depth:
            return self._identity(last.node, holder, depth - 1)
        return (holder, value.id, last.node), last.node, False

    def _is_many(self, node: ast.AST, made: ast.AST | None, *, is_lent: bool) -> bool:
        """Whether a loop that begins after the generator was made keeps an object of each round."""
        survey = self._module.survey
        around = set() if made is None else {made, *survey.above(made)}
        calls = (each for each in survey.above(node) if isinstance(each, ast.Call))
        is_kept = is_lent or last_name(next(calls, node)) in _COLLECTING
        below = node
        for each in survey.above(node):
            if isinstance(each, FUNCTIONS):
                return False
            if isinstance(each, COMPREHENSIONS) and around.isdisjoint({each, *each.generators}):
                return below not in each.generators
            is_loop = isinstance(each, (ast.For, ast.AsyncFor, ast.While)) and each not in around
            if is_loop and is_kept and below in getattr(each, "body", ()):
                return True
            below = each
        return False

    def _are_exclusive(self, first: ast.AST, second: ast.AST) -> bool:
        """Whether one place comes in the other's stead: in another branch, another return, or the same target."""
        survey = self._module.survey
        one, two = survey.statement(first), survey.statement(second)
        if isinstance(one, ast.Return) and isinstance(two, ast.Return):
            return one is not two and self._module.loads.scope(one) is self._module.loads.scope(two)
        branches = dict(self._branches(first))
        return self._target(one, first) == self._target(two, second) != "" or any(
            branches.get(each, branch) is not branch for each, branch in self._branches(second)
        )

    def _target(self, statement: ast.stmt, value: ast.AST) -> str:
        if isinstance(statement, ast.Assign) and statement.value is value:
            return ast.dump(statement.targets[0])
        return ""

    def _branches(self, node: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
        """Yield the conditions around a place, each with whether the place is where it holds."""
        below = node
        for each in self._module.survey.above(node):
            if isinstance(each, (ast.If, ast.IfExp)):
                yield each, below in (each.body if isinstance(each.body, list) else [each.body])
            below = each

    def _is_kept(self, call: ast.AST) -> bool:
        """Whether what a call makes is returned, or stored in an object."""
        statement, above = (
            self._module.survey.statement(call),
            self._module.survey.parents.get(call),
        )
        targets = statement.targets if isinstance(statement, ast.Assign) else ()
        return (
            any(isinstance(each, (ast.Attribute, ast.Subscript)) for each in targets)
            or isinstance(statement, ast.Return)
            or last_name(call) == "__init__"
            or (isinstance(above, ast.Call) and last_name(above) in _COLLECTING)
        )


def find_shared(facts: ProjectFacts) -> Iterator[tuple[str, list[Any], str]]:
    """Give every generator that two objects keep: the file, the place of the second object, and a sentence."""
    shared = {each for one in facts.values() for each in one["shared"]}
    accessors = {each for one in facts.values() for each in one["accessors"]}
    for path, one in facts.items():
        for method, owner, at in one["taken"]:
            if method in accessors and owner not in {"self", "cls"}:
                yield path, at, f"{owner} hands out its generator, and this object keeps it too."
        for group in one["handed"]:
            kept = [] if group["stream"] in shared else _list_kept(facts, path, group)
            sure = [each for each, is_sure in kept if is_sure]
            several = [each for each in sure if each["many"]]
            lasting = [each for each in sure if each["lasting"]]
            apart: list[Facts] = []
            for each, _ in kept if sure or len(kept) > 1 else ():
                if not any(group["to"].index(other) in each["excludes"] for other in apart):
                    apart.append(each)
            name = group["name"]
            if several:
                yield path, several[0]["at"], f"Several objects keep {name}, one generator."
            elif len(apart) > 1:
                message = f"{name} is kept by a second object; line {apart[0]['at'][0]} gave it to the first."
                yield path, apart[1]["at"], message
            elif group["owned"] and lasting:
                message = f"{name} is kept by another object too, which draws from it."
                yield path, lasting[0]["at"], message


def _list_kept(facts: ProjectFacts, path: str, group: Facts) -> list[tuple[Facts, bool]]:
    """Return the places where an object keeps a generator, and whether that was seen, not told by a name."""
    kept = [(each, _keeps(facts, path, each, _DEPTH)) for each in group["to"]]
    return [(each, is_sure) for each, is_sure in kept if is_sure is not None]


def _keeps(facts: ProjectFacts, path: str, into: Facts, depth: int) -> bool | None:
    """Whether an object keeps what a call hands over; None for no, False where the argument's name alone says so."""
    name, slot, names = into["to"], into.get("slot", ""), facts.names
    if not name:
        return True
    if depth == 0 or names.find(path, name) is None:
        is_class = name.rpartition(".")[2][:1].isupper() and not name.startswith(LOCAL)
        return False if into["says"] and is_class else None
    found = names.callee(path, name, of_base=into["super"])
    for where, function in names.lineage(*found) if found is not None else ():
        keeper = facts[where]["keepers"].get(function) if where in facts else None
        if keeper is not None:
            if slot.isdigit():
                slot = next(iter(keeper["places"][int(slot) :]), "")
            passed = keeper["passed"].get(slot, ())
            is_kept = slot in keeper["kept"] or any(
                _keeps(facts, where, each, depth - 1) for each in passed
            )
            return True if is_kept else None
    return None
