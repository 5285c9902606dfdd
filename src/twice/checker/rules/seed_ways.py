"""Where the seed in an expression comes from, within one file: a number in the program, the clock, a caller.

A seed has ways, each a list. ``["fixed", text]`` is written into the program. ``["name", qualified]`` is a name of
another file. ``["world", text]`` is read from the clock, entropy or the process. ``["given", function, parameter, text]`` comes from the caller, and is the text where none comes.
``["field", class, attribute, text]`` is an attribute of an instance. ``["lookup", text, place]`` is what a look-up
falls back on.

Invariant: what is not followed is ``OPEN``, and counts as the run's seed.
"""

from __future__ import annotations

import ast
from typing import Any, Final, TypeAlias

from twice.checker.findings import SourceSpan, Violation
from twice.checker.rules.absence import none_test
from twice.checker.rules.seeding import seed_of
from twice.checker.syntax.annotations import classes_in
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.reaching import latest
from twice.checker.syntax.survey import Binding, Scope
from twice.checker.syntax.uses.words import GENERATOR, SEED, about, last_name

Way: TypeAlias = list[Any]

NAME: Final = "default-seed"
OPEN: Final[Way] = ["open"]
NOTHING: Final[Way] = ["none"]
WORDS: Final = SEED | GENERATOR | {"entropy"}
MAKERS: Final = ("generators", "numpy-generator", "stdlib-generator")
_DEPTH: Final = 8
_MAY_LACK: Final = WORDS | {"config", "cfg", "settings"}
_COMMAND_LINE: Final = frozenset(
    ["args", "argv", "cli", "environ", "flags", "namespace", "opt", "opts"]
)
_ASKING: Final = frozenset({"parse_args", "parse_known_args", "getenv", "input", "prompt"})
_LOOKUPS: Final = frozenset({"get", "pop", "setdefault"})
_THROUGH: Final = frozenset(
    ["abs", "bytes", "crc32", "float", "hash", "int", "int32", "int64", "list", "str", "tuple", "uint32",
     "uint64", "from_bytes", "sha256", "md5", "blake2b"]
)  # fmt: skip
_WORLD: Final = ("clock", "entropy", "process-identity")
_DERIVING: Final = frozenset({"spawn", "generate_state", "encode", "digest", "hexdigest"})
_RECORDS: Final = frozenset(
    {"dataclass", "define", "frozen", "attrs", "s", "BaseModel", "NamedTuple"}
)


class Ways:
    """Reads where seeds come from in one file.

    Args:
        module: the file.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self._running: set[ast.AST] = set()
        self.functions: dict[str, Scope] = {}
        """The functions that a way speaks of."""

    def of(self, node: ast.AST, scope: Scope, depth: int = _DEPTH) -> list[Way]:
        """Give the ways of an expression."""
        if depth <= 0 or node in self._running:
            return [OPEN]
        self._running.add(node)
        try:
            found = self._of(node, scope, depth - 1)
        finally:
            self._running.discard(node)
        return [each for at, each in enumerate(found) if each not in found[:at]]

    def _of(self, node: ast.AST, scope: Scope, depth: int) -> list[Way]:
        if isinstance(node, ast.Constant):
            return [NOTHING if node.value is None else ["fixed", repr(node.value)]]
        if isinstance(node, ast.Name):
            holder = self._module.names.holder(node.id, scope)
            if holder is None:
                return [OPEN]
            bindings = holder.bindings[node.id]
            last = latest(self._module.survey, bindings, node) if scope is holder else None
            return self.bound(bindings if last is None else [last], holder, node.id, depth)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope, depth)
        if isinstance(node, ast.Call):
            return self._call(node, scope, depth)
        if isinstance(node, ast.BoolOp):
            first, *others = node.values
            fallbacks = [self.fallback(each, scope, depth) for each in others]
            return [*self.of(first, scope, depth), *(way for one in fallbacks for way in one)]
        if isinstance(node, ast.IfExp):
            return [
                *self.fallback(node.body, scope, depth),
                *self.fallback(node.orelse, scope, depth),
            ]
        if isinstance(node, ast.Subscript):
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                entry = self._entry(node.value, node.slice.value, scope)
                return [OPEN] if entry is None else self.of(*entry, depth)
            return self.of(node.value, scope, depth)
        if isinstance(node, ast.BinOp):
            return self._together(node, [node.left, node.right], scope, depth)
        if isinstance(node, ast.UnaryOp):
            return self._together(node, [node.operand], scope, depth)
        if isinstance(node, (ast.Tuple, ast.List)):
            return self._together(node, node.elts, scope, depth)
        if isinstance(node, ast.JoinedStr):
            parts = [each.value for each in node.values if isinstance(each, ast.FormattedValue)]
            return self._together(node, parts, scope, depth)
        return [OPEN]

    def _together(
        self, node: ast.AST, parts: list[ast.expr], scope: Scope, depth: int
    ) -> list[Way]:
        """Return the ways of a value made of several parts, any of which may be the seed's."""
        found = [self.of(each, scope, depth) for each in parts]
        others = [ways for ways in found if not _is_fixed(ways)]
        if not others:
            return [["fixed", self._module.shown(node)]]
        if all(_is_of_world(ways) for ways in others):
            return [["world", self._module.shown(node)]]
        return others[0] if len(others) == 1 else [OPEN]

    def fallback(
        self, node: ast.AST, scope: Scope, depth: int = _DEPTH, of: list[Way] | None = None
    ) -> list[Way]:
        """Give the ways of what may be used only where something else is missing: ``seed or 42``.

        Args:
            node: it.
            scope: where it is evaluated.
            depth: how far to go.
            of: its ways, where they are known.
        """
        ways = self.of(node, scope, depth) if of is None else of
        site = self._module.site(node, scope)
        is_of_world = _is_of_world(ways)
        missing = _missing(site) if is_of_world or _is_fixed(ways) else None
        if missing is None or is_of_world or self._is_from_outside(missing, scope, depth):
            return ways if missing is None else [OPEN]
        text = ways[0][1]
        before: list[Way] = []
        given = _argument(missing, scope)
        if given:
            before = self.parameter(given, scope)
        elif not isinstance(missing, ast.Name):
            before = [each for each in self.of(missing, scope, depth) if each[0] == "field"]
        if before and before != [OPEN]:
            return [[*each[:-1], text] for each in before]
        return [["lookup", text, place_of(site)]]

    def bound(
        self, bindings: list[Binding], holder: Scope, name: str, depth: int = _DEPTH
    ) -> list[Way]:
        """Give the ways of what a name is bound to."""
        found: list[Way] = []
        for each in bindings:
            node = each.node
            if each.kind == "argument":
                found += self.parameter(name, holder)
            elif each.kind == "import":
                found.append(["name", each.target])
            elif each.kind == "element" and isinstance(node, (ast.For, ast.comprehension)):
                found += self._counted(node.iter, holder, depth)
            elif each.kind in {"assign", "annotated"}:
                value = node.value if isinstance(node, ast.AnnAssign) else node
                found += [] if value is None else self.fallback(value, holder, depth)
            elif isinstance(node, ast.AugAssign) and _is_fixed(self.of(node.value, holder, depth)):
                found.insert(0, ["fixed", name])  # A counter is not the number that it begins at.
            else:
                found.append(OPEN)
        return [each for each in found if each != NOTHING]

    def _counted(self, iterable: ast.expr, scope: Scope, depth: int) -> list[Way]:
        """Return the ways of a loop's element: a counter is nobody's seed."""
        if isinstance(iterable, ast.Call) and last_name(iterable) in {"range", "enumerate"}:
            return [["fixed", self._module.shown(iterable)]]
        return self.of(iterable, scope, depth)

    def parameter(self, name: str, scope: Scope) -> list[Way]:
        """Give the way of a parameter of a function."""
        node = scope.node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or name in {
            each.arg for each in (node.args.vararg, node.args.kwarg) if each is not None
        }:
            return [OPEN]
        path = self._module.in_function(scope)
        self.functions.setdefault(path, scope)
        return [["given", path, name, ""]]

    def _attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> list[Way]:
        owner = scope.owner
        qualified = self._module.names.qualified(node, scope)
        if qualified is not None:
            return [["name", qualified]]
        if isinstance(node.value, ast.Call) and _is_of_world(self.of(node.value, scope, depth)):
            return [["world", self._module.shown(node)]]  # uuid.uuid4().int
        if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"} and owner:
            return self.own(owner, node.attr, depth)
        if self._is_from_outside(node.value, scope, depth):
            return [OPEN]
        return [["field", self.class_of(node.value, scope), node.attr, ""]]

    def own(self, owner: Scope, name: str, depth: int = _DEPTH) -> list[Way]:
        """Give the ways of an attribute of ``self``: what the class assigns to it, or else its bases."""
        bindings = self._module.attributes.of(owner).get(name, ())
        if not bindings or is_record(owner):
            return [["field", LOCAL + self._module.in_function(owner), name, ""]]
        return [
            way
            for binding, where, _ in bindings
            for way in self.bound([binding], where, name, depth)
        ]

    def _entry(self, table: ast.expr, key: str, scope: Scope) -> tuple[ast.expr, Scope] | None:
        """Find an entry of a literal table."""
        if isinstance(table, ast.Name):
            holder = self._module.names.holder(table.id, scope)
            bindings = [] if holder is None else holder.bindings[table.id]
            if holder is not None and len(bindings) == 1 and isinstance(bindings[0].node, ast.Dict):
                return self._entry(bindings[0].node, key, holder)
        if isinstance(table, ast.Dict):
            for one, value in zip(table.keys, table.values, strict=True):
                if isinstance(one, ast.Constant) and one.value == key:
                    return value, scope
        return None

    def _call(self, node: ast.Call, scope: Scope, depth: int) -> list[Way]:
        module, word, func = self._module, last_name(node), node.func
        if self._is_from_outside(node, scope, depth):
            return [OPEN]
        if word == "getattr" and len(node.args) == 3:
            return self._looked_up(node, node.args[2], scope, depth)
        if word in _LOOKUPS and isinstance(func, ast.Attribute) and node.args:
            key = node.args[0]
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                return self._got(node, func.value, key.value, scope, depth)
        if word in _THROUGH and node.args:
            return self._together(node, node.args[:1], scope, depth)
        qualified = module.names.qualified(func, scope)
        receiver = func.value if isinstance(func, ast.Attribute) and qualified is None else None
        if any(module.catalogue.has(each, qualified) for each in _WORLD) or (
            receiver is not None and _is_of_world(self.of(receiver, scope, depth))
        ):
            return [["world", module.shown(node)]]
        if any(module.catalogue.has(each, qualified) for each in MAKERS):
            seed = seed_in(module.site(node, scope))
            return [OPEN] if seed is None else self.of(seed, scope, depth)
        if word in _DERIVING and isinstance(func, ast.Attribute):
            return self.of(func.value, scope, depth)
        function = module.loads.called(node, scope)
        if function is not None and function.name != "__init__":
            values = [
                each.value for each in ast.walk(function.node) if isinstance(each, ast.Return)
            ]
            ways = [way for each in values if each for way in self.of(each, function, depth)]
            return ways if _is_fixed(ways) else [OPEN]
        return [OPEN]

    def _got(
        self, node: ast.Call, table: ast.expr, key: str, scope: Scope, depth: int
    ) -> list[Way]:
        """``config.get("seed", 0)``: a written entry, an argument by name, or what it falls back on."""
        entry = self._entry(table, key, scope)
        if entry is not None:
            return self.of(*entry, depth)
        default = node.args[1] if len(node.args) > 1 else None
        arguments = getattr(scope.node, "args", None)
        named = arguments.kwarg if isinstance(arguments, ast.arguments) else None
        if named is not None and isinstance(table, ast.Name) and named.arg == table.id:
            ways = [] if default is None else self.of(default, scope, depth)
            text = ways[0][1] if _is_fixed(ways) else ""
            return [[*each[:-1], text] for each in self.parameter(key, scope)]
        return [OPEN] if default is None else self._looked_up(node, default, scope, depth)

    def _looked_up(self, node: ast.Call, default: ast.expr, scope: Scope, depth: int) -> list[Way]:
        ways = self.of(default, scope, depth)
        if not _is_fixed(ways):
            return [OPEN]
        return [["lookup", ways[0][1], place_of(self._module.site(node, scope))]]

    def _is_from_outside(self, node: ast.AST, scope: Scope, depth: int) -> bool:
        """Whether the command line, the environment or a user says what an expression is."""
        if depth <= 0 or isinstance(node, ast.Constant):
            return False
        if isinstance(node, ast.Name):
            if node.id.lower() in _COMMAND_LINE:
                return True
            return any(
                each.kind in {"assign", "unpack"}
                and self._is_from_outside(each.node, scope, depth - 1)
                for each in self._module.names.bindings(node.id, scope)
            )
        qualified = self._module.names.qualified(node, scope) or ""
        if qualified.startswith(("sys.argv", "os.environ")):
            return True
        if isinstance(node, ast.Call) and last_name(node) in _ASKING:
            return True
        return any(
            self._is_from_outside(each, scope, depth - 1)
            for each in ast.iter_child_nodes(node)
            if isinstance(each, ast.expr)
        )

    def class_of(self, node: ast.AST, scope: Scope, depth: int = 3) -> str:
        """Give the name of the class that an expression is an instance of; "" where nothing says so."""
        names, owner = self._module.names, scope.owner
        bindings: list[tuple[Binding, Scope]] = []
        if isinstance(node, ast.Call):
            return names.qualified(node.func, scope) or ""
        if isinstance(node, ast.Name):
            if node.id in {"self", "cls"} and owner is not None:
                return LOCAL + self._module.in_function(owner)
            holder = names.holder(node.id, scope)
            if holder is not None:
                bindings = [(each, holder) for each in holder.bindings[node.id]]
        elif isinstance(node, ast.Attribute) and last_name(node.value) == "self" and owner:
            every = self._module.attributes.of(owner).get(node.attr, ())
            bindings = [(each, where) for each, where, _ in every]
        for binding, where in bindings if depth > 0 else ():
            value = binding.node
            annotation = getattr(value, "annotation", None)
            if annotation is not None:
                said = [
                    names.qualified(each, where.parent or where) for each in classes_in(annotation)
                ]
                return next((each for each in said if each), "")
            if binding.kind == "assign" and (found := self.class_of(value, where, depth - 1)):
                return found
        return ""


def place_of(site: Site) -> list[Any]:
    """Give a call's place, function and text, as ``found_at`` reads them back: there are many."""
    module, place = site.module, site.module.place(site.node)
    lines = [place.line, place.column, place.end_line, place.end_column]
    return [*lines, module.in_function(site.scope), module.shown(site.node)]


def found_at(place: list[Any]) -> Violation:
    """Give a finding, without words, of a place."""
    *lines, symbol, text = place
    return Violation(NAME, SourceSpan(*lines), "", "", symbol=symbol, statement=text)


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


def _is_fixed(ways: list[Way]) -> bool:
    return bool(ways) and all(each[0] == "fixed" for each in ways)


def _is_of_world(ways: list[Way]) -> bool:
    return bool(ways) and all(each[0] == "world" for each in ways)


def _missing(site: Site) -> ast.expr | None:
    """Return the expression that must be missing for a value to be used."""
    below = site.node
    for each in site.above():
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return None
        tested: tuple[ast.expr, bool] | None = None
        if isinstance(each, (ast.If, ast.IfExp)) and below is not each.test:
            tested = none_test(each.test)
            body = each.body if isinstance(each.body, list) else [each.body]
            if tested is not None and (below in body) is not tested[1]:
                tested = None
        elif isinstance(each, ast.BoolOp) and isinstance(each.op, ast.Or):
            tested = (each.values[0], True) if each.values[0] is not below else None
        if tested is not None and about(last_name(tested[0]), _MAY_LACK):
            return tested[0]
        below = each
    return None


def _argument(node: ast.expr, scope: Scope) -> str:
    """Return the parameter that an expression names; "" if it names none."""
    if not isinstance(node, ast.Name):
        return ""
    return (
        node.id if any(each.kind == "argument" for each in scope.bindings.get(node.id, ())) else ""
    )
