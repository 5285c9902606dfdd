"""Which objects of a file keep the generator that they are handed, and to whom the file hands one.

An object keeps a generator when its constructor stores the parameter on ``self``, has it as a field, or passes it on
to a base or to an object of its own that does. A function keeps one for each object that it makes with it.

Invariant: a file says only what it does itself; whose class keeps what is settled by ``shared_generators``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from twice.checker.analysis.project_names import callee_of
from twice.checker.analysis.seed_expressions import is_generator
from twice.checker.analysis.seeds import SeedReader, is_record, place_of
from twice.checker.syntax.module import Module
from twice.checker.syntax.reaching import latest
from twice.checker.syntax.survey import COMPREHENSIONS, Scope, targets
from twice.checker.syntax.uses.words import GENERATOR, SEED, about, last_name

Facts: TypeAlias = dict[str, Any]

_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)
_COLLECTING: Final = frozenset({"add", "append", "appendleft", "insert", "register", "setdefault"})
_DEPTH: Final = 6
HOLDERS: Final = GENERATOR | {"generators", "randoms", "streams"}
"""What is there to hold generators for others, by its name."""
_SEEDS: Final = SEED | {"state"}
_MAKING: Final = frozenset({"manual_seed", "python", "rng"})
_MADE_UP: Final = GENERATOR | {"dice", "lcg", "stream", "xorshift"}
_ASKING: Final = frozenset({"has", "is", "use", "uses"})
_LENDERS: Final = HOLDERS | {"args", "config", "context", "ctx", "options", "run", "self"}


def owners_in(module: Module, ways: SeedReader) -> dict[str, Any]:
    """Give who keeps generators in a file, and what it hands to whom."""
    if not module.speaks_of(*GENERATOR):
        return {"keepers": {}, "handed": [], "shared": [], "accessors": [], "taken": []}
    reader = _Owners(module, ways)
    return {
        "keepers": dict(reader.keepers()),
        "handed": list(reader.groups()),
        "shared": list(reader.list_shared()),
        "accessors": list(reader.list_accessors()),
        "taken": list(reader.list_taken()),
    }


class _Owners:
    def __init__(self, module: Module, ways: SeedReader) -> None:
        self._module = module
        self._ways = ways
        self._passed: dict[Scope, dict[str, list[list[Any]]]] = {}
        self._drawn = {
            (scope.owner, call.func.value.attr)
            for call, scope, _ in module.calls
            if isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Attribute)
            and last_name(call.func.value.value) == "self"
            and module.catalogue.has_method("drawing", call.func.attr)
        }
        self._handed: dict[tuple[Any, ...], Facts] = {}
        for call, scope, _ in module.calls:
            given = [(str(at), each) for at, each in enumerate(call.args)]
            for slot, value in [*given, *((each.arg or "", each.value) for each in call.keywords)]:
                if isinstance(value, (ast.Name, ast.Attribute)):
                    self._hand_over(call, scope, slot, value)
        for node, scope in module.survey.nodes.get(ast.Assign, ()):
            assert isinstance(node, ast.Assign), "asked for"
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    self._lend(node, target, scope)

    # Who keeps one.

    def keepers(self) -> Iterator[tuple[str, Facts]]:
        """Give functions that store a parameter in an object, or pass it on, and classes with such fields."""
        for scope in self._module.survey.scopes:
            node = scope.node
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                arguments = node.args
                places = [each.arg for each in [*arguments.posonlyargs, *arguments.args]]
                places = places[scope.parent is not None and scope.parent.is_class :]
                kept = sorted(set(self._list_stored(scope)))
                passed = self._passed.get(scope, {})
                if kept or passed:
                    yield (
                        self._module.in_function(scope),
                        {"places": places, "kept": kept, "passed": passed},
                    )
            elif isinstance(node, ast.ClassDef) and is_record(scope):
                fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
                held = [last_name(each.target) for each in fields if self._is_held(each, scope)]
                if held:
                    places = [last_name(each.target) for each in fields]
                    path = f"{self._module.in_function(scope)}.__init__"
                    yield path, {"places": places, "kept": held, "passed": {}}

    def _list_stored(self, scope: Scope) -> Iterator[str]:
        """Yield a method's parameters that become an attribute of ``self``, and are generators."""
        owner = scope.owner
        if owner is None or scope.parent is not owner:
            return
        for name, bindings in self._module.attributes.of(owner).items():
            for binding, where, _ in bindings:
                value = (
                    binding.node.value if isinstance(binding.node, ast.AnnAssign) else binding.node
                )
                for each in _alternatives(value) if where is scope else ():
                    if isinstance(each, ast.Name) and any(
                        one.kind == "argument" for one in scope.bindings.get(each.id, ())
                    ):
                        site = self._module.site(each, scope)
                        if (
                            is_generator(site, each)
                            or about(name, GENERATOR)
                            or (owner, name) in self._drawn
                        ):
                            yield each.id

    def _is_held(self, field: ast.AnnAssign, scope: Scope) -> bool:
        kind = self._module.kinds.annotation(field.annotation, scope)
        return kind.is_generator if kind is not None else about(last_name(field.target), GENERATOR)

    def list_shared(self) -> Iterator[str]:
        """Give the streams of the run that are declared to be shared."""
        for call, _, _ in self._module.calls:
            if last_name(call) == "share" and isinstance(call.func, ast.Attribute):
                yield from (str(each.value) for each in call.args if isinstance(each, ast.Constant))

    def list_accessors(self) -> Iterator[str]:
        """Give the methods that hand out their object's generator."""
        for scope in self._module.survey.scopes:
            node = scope.node
            if isinstance(node, ast.FunctionDef) and scope.owner is not None:
                last = node.body[-1]
                given = last.value if isinstance(last, ast.Return) else None
                is_own = isinstance(given, ast.Attribute) and last_name(given.value) == "self"
                if given is not None and is_own and self._is_one(given, scope):
                    yield scope.name

    def list_taken(self) -> Iterator[list[Any]]:
        """Give what objects keep of another one's method: the method, its call, and the place."""
        for node, scope in self._module.survey.nodes.get(ast.Assign, ()):
            call = getattr(node, "value", None)
            target = getattr(node, "targets", [node])[0]
            if not isinstance(call, ast.Call) or call.args or not isinstance(target, ast.Attribute):
                continue
            func, module = call.func, self._module
            if not isinstance(func, ast.Attribute) or last_name(func.value) in {"self", "cls", ""}:
                continue
            if about(target.attr, GENERATOR) or (scope.owner, target.attr) in self._drawn:
                yield [func.attr, module.shown(func.value), place_of(module.site(call, scope))]

    # Who is handed one.

    def groups(self) -> Iterator[Facts]:
        """Give what each generator is handed to; by name, with the places."""
        for each in self._handed.values():
            if len(each["to"]) + each["owned"] > 1 or any(
                one["many"] or one["to"] for one in each["to"]
            ):
                yield each

    def _hand_over(self, call: ast.Call, scope: Scope, slot: str, value: ast.expr) -> None:
        module = self._module
        is_named = isinstance(value, ast.Name) and self._is_argument(value, scope)
        if not self._is_one(value, scope):
            return
        name, is_super = callee_of(module, self._ways, call, scope)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "__init__" and not is_super:
            name, slot = (
                name.removesuffix(".__init__"),
                str(int(slot) - 1) if slot.isdigit() else slot,
            )
        name = name or module.called.get(call) or ""
        if not name or name.startswith(("builtins.", "numpy.", "copy.")):
            return
        if is_named and (is_super or self._is_kept(call)):
            holder = module.names.holder(value.id, scope) if isinstance(value, ast.Name) else None
            if holder is not None and isinstance(value, ast.Name):
                statement = module.survey.statement(call)
                line = statement.lineno if isinstance(statement, ast.Return) else 0
                passed = self._passed.setdefault(holder, {}).setdefault(value.id, [])
                passed.append([name, slot, is_super, line])
        if not is_super or name.endswith(".__init__"):
            word = last_name(value) if slot.isdigit() else slot
            says = about(word, GENERATOR) and not about(word, _SEEDS)
            into = {
                "to": name,
                "slot": slot,
                "says": says,
                "super": is_super,
                "own": last_name(call) == "__init__",
            }
            self._put(call, scope, value, into)

    def _lend(self, node: ast.Assign, target: ast.Attribute, scope: Scope) -> None:
        """``policy.rng = rng``: the object is known by its name; ``self`` keeps one when it draws from it."""
        value = node.value
        is_own = last_name(target.value) in {"self", "cls"}
        if is_own and (
            (scope.owner, target.attr) not in self._drawn or isinstance(value, ast.Attribute)
        ):
            return
        if isinstance(value, (ast.Name, ast.Attribute)) and self._is_one(value, scope):
            into = {"to": "", "slot": target.attr, "says": True, "own": is_own}
            self._put(node, scope, value, into, target.value)

    def _is_one(self, value: ast.expr, scope: Scope) -> bool:
        """Whether an expression is a generator, by its kind, by how it was made, or by its name."""
        module, site = self._module, self._module.site(value, scope)
        kind = module.kinds.of(value, scope)
        if kind is not None and kind.name == "object" and not about(kind.origin, _MADE_UP):
            return False
        if isinstance(value, ast.Name):
            made = [each.node for each in module.names.bindings(value.id, scope)]
            if len(made) == 1 and isinstance(made[0], ast.Call) and last_name(made[0]) in _MAKING:
                return True
        return is_generator(site, value) and not about(last_name(value), _ASKING)

    def _put(
        self,
        node: ast.AST,
        scope: Scope,
        value: ast.expr,
        into: Facts,
        target: ast.expr | None = None,
    ) -> None:
        module = self._module
        key, binding, stream, owned = self._identity(value, scope)
        statement = module.survey.statement(node)
        if target is None and isinstance(statement, ast.Assign) and statement.value is node:
            target = statement.targets[0]
        many = self._is_many(node, binding, statement, is_lent=into["to"] == "")
        group = self._handed.setdefault(
            key, {"name": module.shown(value), "stream": stream, "owned": owned, "to": []}
        )
        returned = module.in_function(scope) if isinstance(statement, ast.Return) else ""
        into["lasting"] = isinstance(node, ast.Assign) or self._is_kept(node)
        into |= {"at": place_of(module.site(node, scope)), "many": many, "returned": returned}
        into |= {
            "target": "" if target is None else ast.dump(target),
            "branches": list(self._branches(node)),
        }
        group["to"].append(into)

    def _identity(
        self, value: ast.expr, scope: Scope, depth: int = _DEPTH
    ) -> tuple[tuple[Any, ...], ast.AST | None, str, bool]:
        """Which generator an expression is, where it was bound, its stream, and whether an object owns it already."""
        module = self._module
        if isinstance(value, ast.Attribute):
            if last_name(value.value) in {"self", "cls"} and isinstance(value.value, ast.Name):
                return (scope.owner, value.attr), None, "", (scope.owner, value.attr) in self._drawn
            is_owned = not about(last_name(value.value), _LENDERS)
            return (scope, module.source(value)), None, "", is_owned
        assert isinstance(value, ast.Name), "names and attributes are asked for"
        holder = module.names.holder(value.id, scope)
        bindings = [] if holder is None else holder.bindings[value.id]
        last = latest(module.survey, bindings, value) if holder is scope else None
        if last is None and len(bindings) == 1:
            last = bindings[0]
        if last is not None and last.kind == "assign" and holder is not None and depth > 0:
            if isinstance(last.node, (ast.Name, ast.Attribute)):
                return self._identity(last.node, holder, depth - 1)
            stream = ""
            if (
                isinstance(last.node, ast.Call)
                and last.node.args
                and isinstance(last.node.args[0], ast.Constant)
            ):
                stream = str(last.node.args[0].value)
            return (holder, value.id, last.node), last.node, stream, False
        node = None if last is None or last.kind == "argument" else last.node
        return (holder, value.id, node), node, "", False

    def _is_many(
        self, node: ast.AST, binding: ast.AST | None, statement: ast.stmt, *, is_lent: bool
    ) -> bool:
        """Whether a loop that begins after the generator was made keeps an object of each round."""
        survey = self._module.survey
        around = set() if binding is None else {binding, *survey.above(binding)}
        below = node
        is_kept = is_lent or self._is_collected(node, statement)
        for each in survey.above(node):
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return False
            if isinstance(each, _LOOPS) and each not in around:
                if isinstance(each, COMPREHENSIONS):
                    made = set(each.generators)
                    if made.isdisjoint(around) and below not in made:
                        return True
                elif is_kept and below in getattr(each, "body", ()):
                    return True
            below = each
        return False

    def _is_collected(self, node: ast.AST, statement: ast.stmt) -> bool:
        """Whether what is made goes into a collection: at once, or by its name."""
        module = self._module
        above = next(
            (each for each in module.survey.above(node) if isinstance(each, ast.Call)), None
        )
        if above is not None:
            return last_name(above) in _COLLECTING
        if isinstance(statement, (ast.AugAssign, ast.Expr)):
            return isinstance(statement, ast.AugAssign) or isinstance(statement.value, ast.Yield)
        if not isinstance(statement, ast.Assign):
            return False
        for target in (one for each in statement.targets for one in targets(each)):
            if isinstance(target, ast.Subscript):
                return True
            if isinstance(target, ast.Name):
                for load, _ in module.loads.of(target.id, module.loads.scope(target)):
                    parent = module.survey.parents.get(load)
                    if isinstance(parent, ast.Call) and last_name(parent) in _COLLECTING:
                        return True
        return False

    def _branches(self, node: ast.AST) -> Iterator[list[Any]]:
        """Yield the conditions around a place, each with the branch that contains the place."""
        below = node
        for each in self._module.survey.above(node):
            if isinstance(each, (ast.If, ast.IfExp)):
                body = each.body if isinstance(each.body, list) else [each.body]
                yield [each.lineno, each.col_offset, below in body]
            below = each

    def _is_argument(self, value: ast.Name, scope: Scope) -> bool:
        return any(each.kind == "argument" for each in self._module.names.bindings(value.id, scope))

    def _is_kept(self, call: ast.AST) -> bool:
        """Whether what a call makes is returned, or stored in an object."""
        statement = self._module.survey.statement(call)
        if isinstance(statement, ast.Assign):
            return any(
                isinstance(each, (ast.Attribute, ast.Subscript)) for each in statement.targets
            )
        above = self._module.survey.parents.get(call)
        is_base = isinstance(call, ast.Call) and last_name(call) == "__init__"
        return isinstance(statement, ast.Return) or is_base or (
            isinstance(above, ast.Call) and last_name(above) in _COLLECTING
        )  # fmt: skip


def _alternatives(node: ast.AST | None) -> Iterator[ast.AST]:
    """Yield the alternatives of an expression: ``rng or other``, ``rng if rng else other``."""
    if isinstance(node, ast.BoolOp):
        for each in node.values:
            yield from _alternatives(each)
    elif isinstance(node, ast.IfExp):
        yield from _alternatives(node.body)
        yield from _alternatives(node.orelse)
    elif node is not None:
        yield node
