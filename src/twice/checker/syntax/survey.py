"""One walk over a file's tree: its scopes, what each name is bound to, and the nodes that rules ask for.

Everything else is looked up later, where a rule has a reason to. The walk keeps a parent for every
node, because following a value means going up. Nothing recurses: a tree may be as deep as the parser allows.

Invariant: lists are in source order, whatever the walk's own order.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from twice.checker.syntax.comprehensions import separate_names
from twice.checker.syntax.nodes import CHILDREN, LEAVES, Nodes

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Binding(NamedTuple):
    """One way in which a name gets its value.

    Args:
        kind: ``import``, ``assign``, ``element`` (of a loop or an unpacking), ``with``, ``argument``,
            ``define`` (a function or a class), ``except``, ``capture`` (of a pattern), ``type-parameter``
            or ``delete``.
        node: the value for ``assign``; the iterable for ``element``; the manager for ``with``; the
            ``ast.arg``, the definition, or the import statement itself otherwise.
        target: the qualified name for ``import``, else "".
    """

    kind: str
    node: ast.AST
    target: str = ""


class Scope:
    """A module, class or function: where names live."""

    __slots__ = ("bindings", "global_names", "inner", "name", "node", "nonlocal_names", "parent")

    def __init__(self, node: ast.AST, parent: Scope | None, name: str) -> None:
        self.node = node
        self.parent = parent
        self.name = name
        self.bindings: dict[str, list[Binding]] = {}
        self.global_names: set[str] = set()
        self.nonlocal_names: set[str] = set()
        self.inner: list[Scope] = []

    @property
    def is_class(self) -> bool:
        """Whether names in it are seen by nobody further in."""
        return self.node.__class__ is ast.ClassDef

    @property
    def is_function(self) -> bool:
        """Whether it is executed by a call."""
        return self.node.__class__ in FUNCTIONS

    @property
    def owner(self) -> Scope | None:
        """The class scope around it, through functions inside of methods."""
        scope: Scope | None = self
        while scope is not None and not scope.is_class:
            scope = scope.parent
        return scope

    @property
    def method(self) -> Scope | None:
        """The outermost function around it, or itself: the method or the plain function."""
        found: Scope | None = None
        scope: Scope | None = self
        while scope is not None and not scope.is_class:
            if scope.is_function and scope.node.__class__ is not ast.Lambda:
                found = scope
            scope = scope.parent
        return found

    def bind(self, name: str, binding: Binding) -> None:
        """Add a way in which a name gets its value."""
        scope = self
        if name in self.global_names:
            while scope.parent is not None:
                scope = scope.parent
        elif name in self.nonlocal_names:
            outer = self.parent
            while outer is not None and not (outer.is_function and name in outer.bindings):
                outer = outer.parent
            scope = outer or self
        known = scope.bindings.get(name)
        if known is None:
            scope.bindings[name] = [binding]
        else:
            known.append(binding)


class Survey:
    """What the walk saw.

    Attributes:
        root: the module's scope.
        scopes: every scope, outer ones first.
        parents: the parent of each node.
        nodes: for each kind that was asked for, the nodes with their scopes, in source order.
        imported: qualified names of what is imported anywhere, in source order.
        package: the dotted package of the file, for relative imports.
    """

    __slots__ = ("imported", "nodes", "package", "parents", "root", "scopes", "stars")

    def __init__(self, tree: ast.Module, package: str, wanted: frozenset[type[ast.AST]]) -> None:
        self.root = Scope(tree, None, "")
        self.scopes = [self.root]
        self.parents: dict[ast.AST, ast.AST] = {}
        found: dict[type[ast.AST], list[tuple[ast.AST, Scope]]] = {ast.Module: [(tree, self.root)]}
        self.nodes = Nodes(found)
        self.imported: list[str] = []
        self.stars: list[str] = []
        self.package = package
        for scope in self.scopes:  # Grows while it is walked.
            self._walk(scope, wanted, found)
        self.parents.pop(None, None)  # type: ignore[call-overload]
        separate_names(self.scopes, self.parents)

    def _walk(
        self,
        scope: Scope,
        wanted: frozenset[type[ast.AST]],
        nodes: dict[type[ast.AST], list[tuple[ast.AST, Scope]]],
    ) -> None:
        parents = self.parents
        children, binders, openers, leaves = CHILDREN, _BINDERS, _OPENERS, LEAVES
        attribute = None if ast.Attribute in wanted else ast.Attribute
        stack = _inside(scope.node, parents)
        pop, push = stack.pop, stack.append
        while stack:
            node = pop()
            kind = node.__class__
            if kind is attribute:  # The most frequent of all.
                value = node.value  # type: ignore[attr-defined]
                parents[value] = node
                if value.__class__ not in leaves:
                    push(value)
                continue
            if kind in wanted:
                nodes.setdefault(kind, []).append((node, scope))
            if kind in binders:
                binders[kind](node, scope)
            elif kind in openers:
                openers[kind](self, node, scope, stack)
                continue
            for field in children[kind]:
                value = getattr(node, field)
                if value.__class__ is list:
                    for child in value:
                        parents[child] = node
                        if child.__class__ not in leaves:
                            push(child)
                elif value is not None:
                    parents[value] = node
                    if value.__class__ not in leaves:
                        push(value)

    def enter(self, node: ast.AST, outer: Scope, name: str) -> Scope:
        """Open a scope, to be walked later."""
        scope = Scope(node, outer, name)
        for each in getattr(node, "type_params", ()):  # Python 3.12 and later.
            scope.bind(each.name, Binding("type-parameter", each))
        outer.inner.append(scope)
        self.scopes.append(scope)
        return scope

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes around one, innermost first."""
        current = self.parents.get(node)
        while current is not None:
            yield current
            current = self.parents.get(current)

    def statement(self, node: ast.AST) -> ast.stmt:
        """Return the statement that contains a node, or the node itself."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.parents.get(current)
        assert isinstance(current, ast.stmt), "every expression stands in a statement"
        return current


def _inside(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> list[ast.AST]:
    """Return the nodes to walk first in a scope: its body, the last statement first."""
    body = getattr(node, "body", [])
    body = body if body.__class__ is list else [body]  # a lambda's is one expression
    for each in body:
        parents[each] = node
    return list(reversed(body))


def targets(target: ast.AST) -> Iterator[ast.AST]:
    """Yield the single targets in a target, through tuples and stars."""
    stack = [target]
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Tuple, ast.List)):
            stack.extend(reversed(node.elts))
        elif isinstance(node, ast.Starred):
            stack.append(node.value)
        else:
            yield node


def _bind_target(scope: Scope, target: ast.AST, binding: Binding) -> None:
    if isinstance(target, ast.Name):
        scope.bind(target.id, binding)
        return
    if isinstance(target, (ast.Tuple, ast.List)):
        value = binding.node
        if (
            binding.kind == "assign"
            and isinstance(value, (ast.Tuple, ast.List))
            and len(value.elts) == len(target.elts)
            and not any(isinstance(each, ast.Starred) for each in [*value.elts, *target.elts])
        ):
            for one, its in zip(target.elts, value.elts, strict=True):
                _bind_target(scope, one, Binding("assign", its))
            return
        for name in targets(target):
            if isinstance(name, ast.Name):
                scope.bind(name.id, Binding("unpack", value))


_new: Final[Any] = tuple.__new__  # A binding is made for nearly every line: in half the time.
_BINDING: Final[frozenset[type]] = frozenset({ast.Name, ast.Tuple, ast.List})


def _assign(node: Any, scope: Scope) -> None:
    for target in node.targets:
        kind = target.__class__
        if kind in _BINDING:
            _bind_target(scope, target, _new(Binding, ("assign", node.value, "")))


def _annotated(node: Any, scope: Scope) -> None:
    if node.target.__class__ is ast.Name:
        scope.bind(node.target.id, Binding("annotated", node))


def _augmented(node: Any, scope: Scope) -> None:
    _bind_target(scope, node.target, Binding("augment", node))


def _walrus(node: Any, scope: Scope) -> None:
    _bind_target(scope, node.target, Binding("assign", node.value))


def _loop(node: Any, scope: Scope) -> None:
    for one in targets(node.target):
        if isinstance(one, ast.Name):
            scope.bind(one.id, Binding("element", node))


def _managed(node: Any, scope: Scope) -> None:
    if node.optional_vars is not None:
        _bind_target(scope, node.optional_vars, Binding("with", node.context_expr))


def _handler(node: Any, scope: Scope) -> None:
    if node.name is not None:
        scope.bind(node.name, Binding("except", node))


def _capture(node: Any, scope: Scope) -> None:
    name = node.rest if isinstance(node, ast.MatchMapping) else node.name
    if name is not None:
        scope.bind(name, Binding("capture", node))


def _type_alias(node: Any, scope: Scope) -> None:
    scope.bind(node.name.id, Binding("assign", node.value))


def _import(survey: Survey, node: Any, scope: Scope, stack: list[ast.AST]) -> None:
    del stack
    for alias in node.names:
        top = alias.name.partition(".")[0]
        target = alias.name if alias.asname else top
        scope.bind(alias.asname or top, _new(Binding, ("import", node, target)))
        survey.imported.append(alias.name)


def _import_from(survey: Survey, node: Any, scope: Scope, stack: list[ast.AST]) -> None:
    del stack
    base = node.module or ""
    if node.level:
        parts = survey.package.split(".") if survey.package else []
        kept = parts[: len(parts) - node.level + 1]
        base = ".".join([*kept, *([base] if base else [])])
        if not kept:
            base = f".{base}"
    for alias in node.names:
        if alias.name == "*":
            survey.stars.append(base)
            continue
        target = f"{base}.{alias.name}"
        scope.bind(alias.asname or alias.name, _new(Binding, ("import", node, target)))
        survey.imported.append(target)


def _function(survey: Survey, node: Any, scope: Scope, stack: list[ast.AST]) -> None:
    """Enter a function: its defaults and decorators belong to the scope around it."""
    scope.bind(node.name, _new(Binding, ("define", node, "")))
    inner = survey.enter(node, scope, node.name)
    around: list[ast.AST] = [*node.decorator_list]
    if node.returns is not None:
        around.append(node.returns)
    for each in around:
        survey.parents[each] = node
    stack.extend([*around, *_arguments(survey, node, node.args, inner)])


def _lambda(survey: Survey, node: Any, scope: Scope, stack: list[ast.AST]) -> None:
    stack.extend(_arguments(survey, node, node.args, survey.enter(node, scope, "<lambda>")))


def _arguments(
    survey: Survey, node: ast.AST, arguments: ast.arguments, inner: Scope
) -> list[ast.AST]:
    survey.parents[arguments] = node
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every.extend(each for each in (arguments.vararg, arguments.kwarg) if each is not None)
    for each in every:
        inner.bind(each.arg, _new(Binding, ("argument", each, "")))
        survey.parents[each] = arguments
    defaults = [*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)]
    for default in defaults:
        survey.parents[default] = arguments
    return list(defaults)


def _class(survey: Survey, node: Any, scope: Scope, stack: list[ast.AST]) -> None:
    scope.bind(node.name, Binding("define", node))
    survey.enter(node, scope, node.name)
    around: list[ast.AST] = [*node.decorator_list, *node.bases, *node.keywords]
    for each in around:
        survey.parents[each] = node
    stack.extend(reversed(around))


def _global(survey: Survey, node: Any, scope: Scope, stack: list[ast.AST]) -> None:
    del survey, stack
    scope.global_names.update(node.names)


def _nonlocal(survey: Survey, node: Any, scope: Scope, stack: list[ast.AST]) -> None:
    del survey, stack
    scope.nonlocal_names.update(node.names)


# Nodes that bind names, and whose parts are walked as any node's.
_BINDERS: Final[dict[type[ast.AST], Callable[[Any, Scope], None]]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.NamedExpr: _walrus,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.comprehension: _loop,
    ast.withitem: _managed,
    ast.ExceptHandler: _handler,
    ast.MatchAs: _capture,
    ast.MatchStar: _capture,
    ast.MatchMapping: _capture,
}
if hasattr(ast, "TypeAlias"):  # Python 3.12 and later.
    _BINDERS[ast.TypeAlias] = _type_alias
# Nodes that say themselves which of their parts are walked, and in which scope.
_OPENERS: Final[dict[type[ast.AST], Callable[[Survey, Any, Scope, list[ast.AST]], None]]] = {
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.Lambda: _lambda,
    ast.ClassDef: _class,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
}
