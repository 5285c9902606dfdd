"""The nodes of a file that rules ask for, by kind, with the scope of each; where nodes hold others; what one says by itself.

The walk over a file finds nodes in an order of its own; they are sorted when somebody asks for a kind.

Invariant: whoever asks gets them in source order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from twice.checker.syntax.survey import Scope

_COLUMN_BITS: Final = 24  # No line is longer than the largest file that is read.


class Nodes:
    """The nodes that were asked for, with their scopes, by kind."""

    __slots__ = ("_found", "_is_sorted")

    def __init__(self, found: dict[type[ast.AST], list[tuple[ast.AST, Scope]]]) -> None:
        self._found = found
        self._is_sorted: set[type[ast.AST]] = {ast.Module}

    def get(
        self, kind: type[ast.AST], default: Sequence[tuple[ast.AST, Scope]] = ()
    ) -> Sequence[tuple[ast.AST, Scope]]:
        """Give the nodes of a kind in source order: sorted when they are first asked for."""
        found = self._found.get(kind)
        if found is None:
            return default
        if kind not in self._is_sorted:
            self._is_sorted.add(kind)
            if len(found) > 1:
                found.sort(key=_line_and_column if "lineno" in kind._attributes else _position)
        return found

    def __getitem__(self, kind: type[ast.AST]) -> Sequence[tuple[ast.AST, Scope]]:
        """Give the nodes of a kind that there are some of."""
        if kind not in self._found:
            raise KeyError(kind)
        return self.get(kind)


def _line_and_column(found: tuple[Any, Scope]) -> int:
    """Where a node stands, as one number: no line is as long as the largest file that is read."""
    node = found[0]
    return node.lineno << _COLUMN_BITS | node.col_offset  # type: ignore[no-any-return]


def _position(found: tuple[ast.AST, Scope]) -> int:
    """Where a node without a place of its own stands: that of its first part."""
    node = next(ast.iter_child_nodes(found[0]), found[0])
    return getattr(node, "lineno", 0) << _COLUMN_BITS | getattr(node, "col_offset", 0)


def parameter_defaults(arguments: ast.arguments) -> dict[str, ast.expr | None]:
    """Give the parameters of a function in order, each with its default; None for no default."""
    places = [*arguments.posonlyargs, *arguments.args]
    found: dict[str, ast.expr | None] = {each.arg: None for each in places}
    found.update(
        (each.arg, default)
        for each, default in zip(reversed(places), reversed(arguments.defaults), strict=False)
    )
    for each, only in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found[each.arg] = only
    return found


def _children() -> dict[type[ast.AST], tuple[str, ...]]:
    """For each kind of node the fields that hold nodes which are walked."""
    skipped = {"ctx", "op", "ops", "type_comment", "kind", "type_ignores", "conversion", "level"}
    plain = {"name", "id", "attr", "arg", "asname", "module", "is_async", "simple", "rest", "names"}
    table: dict[type[ast.AST], tuple[str, ...]] = {}
    for kind in vars(ast).values():
        if isinstance(kind, type) and issubclass(kind, ast.AST):
            fields = [each for each in kind._fields if each not in skipped | plain]
            table[kind] = tuple(reversed(fields))
    table[ast.Constant] = table[ast.MatchSingleton] = ()
    table[ast.MatchMapping] = ("patterns", "keys")
    table[ast.MatchClass] = ("kwd_patterns", "patterns", "cls")
    table[ast.arguments] = ("kw_defaults", "defaults")
    table[ast.Import] = table[ast.ImportFrom] = table[ast.Global] = table[ast.Nonlocal] = ()
    return table


CHILDREN: Final = _children()
# None stands in the lists of dictionary displays: the keys of ``{**other}``.
LEAVES: Final[frozenset[type]] = frozenset(
    {ast.Name, ast.Constant, ast.alias, ast.Pass, type(None)}
)


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it in source order: without contexts, operators and parameters, and faster than ``ast.walk``."""
    stack: list[Any] = [node]
    pop, push = stack.pop, stack.append
    while stack:
        one = pop()
        yield one
        for field in CHILDREN[one.__class__]:
            value = getattr(one, field)
            if value.__class__ is list:
                stack.extend(each for each in reversed(value) if each is not None)
            elif value is not None:
                push(value)


def has_own_text(node: ast.AST) -> bool:
    """Say whether an expression puts a value into a text that has more in it."""
    match node:
        case ast.JoinedStr(values=parts):
            return any(isinstance(each, ast.Constant) for each in parts)
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod() | ast.Add()):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="format")):
            return True
    return False


def own_attribute(node: ast.AST) -> str:
    """Return the name of an attribute of ``self``; "" for anything else."""
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    ):
        return node.attr
    return ""
