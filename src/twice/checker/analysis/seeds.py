"""Where the seed in an expression comes from, within one file.

A seed has origins, each a plain JSON list:

- ``["fixed", text]``: written into the program.
- ``["none"]``: None.
- ``["world", text]``: read from the clock, entropy or the process.
- ``["drawn", text]``: drawn from a process-wide stream.
- ``["name", qualified]``: a name of another file.
- ``["given", function, parameter, text]``: an argument; the text is what stands in where none comes.
- ``["field", class, attribute, text]``: an attribute of an instance.
- ``["lookup", text, place]``: what a look-up falls back on.

Invariant: what is not followed is ``OPEN``, and counts as the run's seed.
"""

from __future__ import annotations

import ast
from typing import Any, Final, TypeAlias

from twice.checker.analysis.project_names import class_of
from twice.checker.analysis.seed_expressions import (
    find_missing,
    rules_out_none,
    seed_of,
)
from twice.checker.findings import SourceSpan, Violation
from twice.checker.syntax.kind import is_none
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.reaching import latest
from twice.checker.syntax.survey import Binding, Scope
from twice.checker.syntax.uses.words import GENERATOR, SEED, last_name

Origin: TypeAlias = list[Any]

OPEN: Final[Origin] = ["open"]
NOTHING: Final[Origin] = ["none"]
WORDS: Final = SEED | GENERATOR | {"entropy"}
MAKERS: Final = ("generators", "numpy-generator", "stdlib-generator")
_DEPTH: Final = 8
_OUTSIDE: Final = frozenset(
    ["args", "argv", "cli", "environ", "flags", "getenv", "input", "namespace", "opt", "opts",
     "parse_args", "parse_known_args", "prompt"]
)  # fmt: skip
"""What the command line, the environment or a user says."""
_LOOKUPS: Final = frozenset({"get", "pop", "setdefault"})
_THROUGH: Final = frozenset(
    ["abs", "bytes", "crc32", "float", "hash", "int", "int32", "int64", "list", "str", "tuple", "uint32",
     "uint64", "from_bytes", "sha256", "md5", "blake2b"]
)  # fmt: skip
_DERIVING: Final = frozenset({"spawn", "generate_state", "encode", "digest", "hexdigest"})
_WORLD: Final = ("clock", "entropy", "process-identity")
_RECORDS: Final = frozenset(
    {"dataclass", "define", "frozen", "attrs", "s", "BaseModel", "NamedTuple"}
)


class SeedReader:
    """Reads where seeds come from in one file."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._running: set[ast.AST] = set()
        self.functions: dict[str, Scope] = {}
        """The functions, and the classes with fields, that an origin speaks of."""

    def of(self, node: ast.AST, scope: Scope, depth: int = _DEPTH) -> list[Origin]:
        """Give the origins of an expression."""
        if depth <= 0 or node in self._running:
            return [OPEN]
        self._running.add(node)
        try:
            found = self._of(node, scope, depth - 1)
        finally:
            self._running.discard(node)
        return [each for at, each in enumerate(found) if each not in found[:at]]

    def _of(self, node: ast.AST, scope: Scope, depth: int) -> list[Origin]:
        if isinstance(node, ast.Constant):
            return [NOTHING if node.value is None else ["fixed", repr(node.value)]]
        if isinstance(node, ast.Name):
            holder = self._module.names.holder(node.id, scope)
            if holder is None:
                return [OPEN]
            bindings = holder.bindings[node.id]
            last = latest(self._module.survey, bindings, node) if scope is holder else None
            return self.of_bindings(bindings if last is None else [last], holder, node.id, depth)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope, depth)
        if isinstance(node, ast.Call):
            return self._call(node, scope, depth)
        if isinstance(node, ast.BoolOp):
            first, *others = node.values
            rest = [way for each in others for way in self.of_fallback(each, scope, depth)]
            return [*self.of(first, scope, depth), *rest]
        if isinstance(node, ast.IfExp):
            both = (node.body, node.orelse)
            return [way for each in both for way in self.of_fallback(each, scope, depth)]
        if isinstance(node, ast.Subscript):
            return self._element(node, scope, depth)
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.JoinedStr)):
            return self._together(node, list(_operands(node)), scope, depth)
        return [OPEN]

    def _element(self, node: ast.Subscript, scope: Scope, depth: int) -> list[Origin]:
        """``SETTINGS["seed"]`` of a literal table, or one of several seeds."""
        table, key = node.value, ast.dump(node.slice)
        holder = self._module.names.holder(table.id, scope) if isinstance(table, ast.Name) else None
        bindings = holder.bindings[table.id] if holder and isinstance(table, ast.Name) else ()
        made = bindings[0].node if len(bindings) == 1 else table
        if holder is not None and isinstance(made, ast.Dict):
            pairs = zip(made.keys, made.values, strict=True)
            value = next((each for one, each in pairs if one and ast.dump(one) == key), None)
            return [OPEN] if value is None else self.of(value, holder, depth)
        return self.of(table, scope, depth)

    def _together(
        self, node: ast.AST, parts: list[ast.expr], scope: Scope, depth: int
    ) -> list[Origin]:
        """Return the origins of a value made of several parts, any of which may be the seed's."""
        others = [
            each for part in parts if not all_are("fixed", each := self.of(part, scope, depth))
        ]
        if not others:
            return [["fixed", self._module.shown(node)]]
        for kind in ("world", "drawn"):
            if all(all_are(kind, each) for each in others):
                return [[kind, self._module.shown(node)]]
        return others[0] if len(others) == 1 else [OPEN]

    def of_fallback(
        self, node: ast.AST, scope: Scope, depth: int = _DEPTH, of: list[Origin] | None = None
    ) -> list[Origin]:
        """Give the origins of what may be used only where something else is missing: ``seed or 42``.

        Args:
            node: it.
            scope: where it is evaluated.
            depth: how far to go.
            of: its origins, where they are known.
        """
        ways = self.of(node, scope, depth) if of is None else of
        site = self._module.site(node, scope)
        is_chosen = all_are("world", ways) or all_are("drawn", ways)
        missing = find_missing(site) if is_chosen or all_are("fixed", ways) else None
        if missing is None or is_chosen or self._is_from_outside(missing, scope, depth):
            return ways if missing is None else [OPEN]
        text = ways[0][1]
        before: list[Origin] = []
        if isinstance(missing, ast.Name) and is_argument(missing.id, scope):
            before = self.of_parameter(missing.id, scope)
        elif not isinstance(missing, ast.Name):
            before = [each for each in self.of(missing, scope, depth) if each[0] == "field"]
        if before and before != [OPEN]:
            return [[*each[:-1], text] for each in before]
        return [["lookup", text, place_of(site)]]

    def of_bindings(
        self, bindings: list[Binding], holder: Scope, name: str, depth: int = _DEPTH
    ) -> list[Origin]:
        """Give the origins of what a name is bound to."""
        found: list[Origin] = []
        for each in bindings:
            node = each.node
            if each.kind == "argument":
                found += self.of_parameter(name, holder)
            elif each.kind == "import":
                found.append(["name", each.target])
            elif each.kind == "element" and isinstance(node, (ast.For, ast.comprehension)):
                is_count = last_name(node.iter) in {"range", "enumerate"}  # Nobody's seed.
                text = self._module.shown(node.iter)
                found += [["fixed", text]] if is_count else self.of(node.iter, holder, depth)
            elif each.kind in {"assign", "annotated"}:
                value = node.value if isinstance(node, ast.AnnAssign) else node
                found += [] if value is None else self.of_fallback(value, holder, depth)
            elif isinstance(node, ast.AugAssign) and all_are(
                "fixed", self.of(node.value, holder, depth)
            ):
                found.insert(0, ["fixed", name])  # A counter is not the number that it begins at.
            else:
                found.append(OPEN)
        return [each for each in found if each != NOTHING]

    def of_parameter(self, name: str, scope: Scope) -> list[Origin]:
        """Give the origin of a parameter of a function."""
        node = scope.node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or name in {
            each.arg for each in (node.args.vararg, node.args.kwarg) if each is not None
        }:
            return [OPEN]
        path = self._module.in_function(scope)
        self.functions.setdefault(path, scope)
        return [["given", path, name, ""]]

    def _attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> list[Origin]:
        owner = scope.owner
        qualified = self._module.names.qualified(node, scope)
        if qualified is not None:
            return [["name", qualified]]
        if isinstance(node.value, ast.Call) and all_are("world", self.of(node.value, scope, depth)):
            return [["world", self._module.shown(node)]]  # uuid.uuid4().int
        if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"} and owner:
            return self.of_own(owner, node.attr, depth)
        if self._is_from_outside(node.value, scope, depth):
            return [OPEN]
        return [["field", class_of(self._module, node.value, scope), node.attr, ""]]

    def of_own(self, owner: Scope, name: str, depth: int = _DEPTH) -> list[Origin]:
        """Give the origins of an attribute of ``self``: what the class assigns to it, or else its bases."""
        bindings = self._module.attributes.of(owner).get(name, ())
        if not bindings or is_record(owner):
            return [["field", LOCAL + self._module.in_function(owner), name, ""]]
        every = [self.of_bindings([each], where, name, depth) for each, where, _ in bindings]
        return [way for each in every for way in each]

    def _call(self, node: ast.Call, scope: Scope, depth: int) -> list[Origin]:
        module, word, func = self._module, last_name(node), node.func
        if self._is_from_outside(node, scope, depth):
            return [OPEN]
        is_lookup = word in _LOOKUPS and isinstance(func, ast.Attribute) and len(node.args) == 2
        if is_lookup or (word == "getattr" and len(node.args) == 3):
            ways = self.of(node.args[-1], scope, depth)
            place = place_of(module.site(node, scope))
            return [["lookup", ways[0][1], place]] if all_are("fixed", ways) else [OPEN]
        if word in _THROUGH and node.args:
            return self._together(node, node.args[:1], scope, depth)
        qualified = module.names.qualified(func, scope)
        if isinstance(func, ast.Attribute) and qualified is None:
            above = self.of(func.value, scope, depth)
            if all_are("world", above):
                return [["world", module.shown(node)]]
            if word in _DERIVING:
                return above
        if any(module.catalogue.has(each, qualified) for each in _WORLD):
            return [["world", module.shown(node)]]
        if module.catalogue.has("global-draws", qualified):
            return [["drawn", module.shown(node)]]
        if any(module.catalogue.has(each, qualified) for each in MAKERS):
            seed = seed_in(module.site(node, scope))
            return [OPEN] if seed is None else self.of(seed, scope, depth)
        function = module.loads.called(node, scope)
        if function is not None and function.name != "__init__":
            ways = self.of_results(function, depth)
            return ways if all_are("fixed", ways) else [OPEN]
        return [OPEN]

    def of_results(self, function: Scope, depth: int = _DEPTH) -> list[Origin]:
        """Give the origins of what a function returns."""
        values = [each.value for each in ast.walk(function.node) if isinstance(each, ast.Return)]
        return [way for each in values if each for way in self.of(each, function, depth)]

    def _is_from_outside(self, node: ast.AST, scope: Scope, depth: int) -> bool:
        """Whether the command line, the environment or a user says what an expression is."""
        if depth <= 0 or isinstance(node, ast.Constant):
            return False
        if isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
            if last_name(node).lower() in _OUTSIDE:
                return True
            if isinstance(node, ast.Name):
                return any(
                    each.kind in {"assign", "unpack"}
                    and self._is_from_outside(each.node, scope, depth - 1)
                    for each in self._module.names.bindings(node.id, scope)
                )
        inner = (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
        return any(self._is_from_outside(each, scope, depth - 1) for each in inner)

    def of_none(self, given: ast.expr, scope: Scope) -> list[str] | None:
        """Give the function and parameter whose None may still be what an expression is.

        The parameter may be kept in an attribute of ``self`` on the way. None where a condition rules that out.
        """
        module, owner = self._module, scope.owner
        if rules_out_none(module.site(given, scope), given):
            return None
        if isinstance(given, ast.Name):
            others = [
                each.node for each in scope.bindings.get(given.id, ()) if each.kind != "argument"
            ]
            is_first = all(getattr(each, "lineno", 0) >= given.lineno for each in others)
            if not is_argument(given.id, scope) or not is_first:
                return None
            ways = self.of_parameter(given.id, scope)
            return None if ways == [OPEN] else ways[0][1:3]
        if (
            owner is None
            or not isinstance(given, ast.Attribute)
            or last_name(given.value) != "self"
        ):
            return None
        found = None
        for binding, where, _ in module.attributes.of(owner).get(given.attr, ()):
            value = binding.node
            if binding.kind == "annotated":
                value = getattr(value, "value", None) or value
            if isinstance(value, ast.Name) and (its := self.of_none(value, where)):
                found = its
            elif not is_none(value):
                return None
            elif where is owner and is_record(owner):  # A field is a parameter of the constructor.
                found = [module.in_function(owner), given.attr]
                self.functions.setdefault(found[0], owner)
        return found


def _operands(node: ast.AST) -> Any:
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.FormattedValue):
            yield each.value
        elif isinstance(each, ast.expr) and not isinstance(node, ast.JoinedStr):
            yield each


def all_are(kind: str, ways: list[Origin]) -> bool:
    """Say whether there are origins, and all are of one kind."""
    return bool(ways) and all(each[0] == kind for each in ways)


def place_of(site: Site) -> list[Any]:
    """Give a place, its function and text, as ``found_at`` reads them back: there are many."""
    module, place = site.module, site.module.place(site.node)
    lines = [place.line, place.column, place.end_line, place.end_column]
    return [*lines, module.in_function(site.scope), module.shown(site.node)]


def found_at(place: list[Any], rule: str = "", message: str = "", why: str = "") -> Violation:
    """Give a finding of a place."""
    *lines, symbol, text = place
    return Violation(rule, SourceSpan(*lines), message, why, symbol=symbol, statement=text)


def seed_in(site: Site) -> ast.expr | None:
    """Give the seed in a call that makes or seeds a generator; None where there is none to be seen."""
    first = site.call.args[0] if site.call.args else None
    found = seed_of(site) or first
    return None if isinstance(found, ast.Starred) else found


def is_record(scope: Scope) -> bool:
    """Say whether a class has a constructor that is made of its fields."""
    node = scope.node
    return isinstance(node, ast.ClassDef) and any(
        last_name(each) in _RECORDS for each in [*node.decorator_list, *node.bases]
    )


def is_argument(name: str, scope: Scope) -> bool:
    """Say whether a name is a parameter of a function."""
    return any(each.kind == "argument" for each in scope.bindings.get(name, ()))
