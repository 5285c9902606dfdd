"""Which names in a loop are its elements' own: given anew each time, and made from the element.

Invariant: what belongs to an element is found by names alone; an object that two elements share and that
is reached through both is told by how it is reached, through a key that is not the element.
"""

from __future__ import annotations

import ast

from twice.checker.syntax.survey import targets

_CASES = {"lower", "upper", "strip", "casefold"}


class Belonging:
    """The names of one loop.

    Attributes:
        own: names that the loop gives anew for each element.
        elements: those of the element itself.
        made: those whose value has something of the element in it.
        inner: those that loops inside of it give.
        opened: files that were opened for one element.

    Args:
        target: what the loop gives its elements to; None when they get no name.
        popped: the expression that is the element, where it has no name.
    """

    def __init__(self, target: ast.AST | None, popped: ast.AST | None = None) -> None:
        self.elements = frozenset(() if target is None else names_in(target))
        self.own = set(self.elements)
        self.made = set(self.elements)
        self.inner: set[str] = set()
        self.opened: set[str] = set()
        self._popped = popped

    def enter(self, loop: ast.For | ast.AsyncFor) -> None:
        """Take the names of a loop inside of this one."""
        inner = names_in(loop.target)
        if self.mentions(loop.iter, self.made):
            self.made |= inner
        self.own |= inner
        self.inner |= inner

    def open(self, item: ast.withitem) -> None:
        """Take the names that a ``with`` gives."""
        if item.optional_vars is not None:
            files = names_in(item.optional_vars)
            self.own |= files
            if self.mentions(item.context_expr):
                self.opened |= files

    def give(self, name: str, value: ast.expr) -> None:
        """Take a name that is given anew for each element."""
        self.own.add(name)
        if self.mentions(value, self.made):
            self.made.add(name)

    def mentions(self, node: ast.AST, names: set[str] | None = None) -> bool:
        """Whether an expression has an element in it, or something that was made for one."""
        among = self.own if names is None else names
        return any(
            each is self._popped or (isinstance(each, ast.Name) and each.id in among)
            for each in ast.walk(node)
        )

    def has(self, node: ast.AST) -> bool:
        """Whether it is a part of what is an element's own, or stands under the element as a key."""
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
            if isinstance(node, ast.Subscript) and self.is_element(node.slice):
                return True
            node = node.func if isinstance(node, ast.Call) else node.value
        return isinstance(node, ast.Name) and node.id in self.own

    def is_alone(self, base: ast.AST, call: ast.Call) -> bool:
        """Whether what a method is called on is no other element's, or is told the same by each."""
        root = base
        while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
            if isinstance(root, ast.Subscript) and self.is_element(root.slice):
                return True
            root = root.func if isinstance(root, ast.Call) else root.value
        if not isinstance(root, ast.Name) or root.id not in self.made:
            return False
        given = [*call.args, *(each.value for each in call.keywords)]
        return root.id in self.elements or not any(map(self.mentions, given))

    def is_element(self, node: ast.expr) -> bool:
        """Whether it is the element itself, or its text in one case."""
        while (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _CASES
        ):
            node = node.func.value
        return isinstance(node, ast.Name) and node.id in self.elements

    def finds(self, test: ast.expr) -> bool:
        """Whether it holds for one element alone: ``element == wanted``, or ``wanted in names``."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return any(map(self.finds, test.values))
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
            return False
        if isinstance(test.ops[0], ast.In):
            return not self.mentions(test.left) and self.is_element(test.comparators[0])
        if not isinstance(test.ops[0], ast.Eq):
            return False
        sides = [test.left, test.comparators[0]]
        return any(
            self.is_element(one) and not self.mentions(other)
            for one, other in (sides, reversed(sides))
        )


def names_in(target: ast.AST) -> set[str]:
    """Give the names that a target binds."""
    return {one.id for one in targets(target) if isinstance(one, ast.Name)}


def uses(node: ast.AST, names: set[str] | frozenset[str]) -> bool:
    """Say whether an expression reads one of some names."""
    return bool(names) and any(
        isinstance(each, ast.Name) and each.id in names for each in ast.walk(node)
    )
