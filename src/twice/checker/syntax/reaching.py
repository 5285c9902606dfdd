"""Whether what a name was given at one place can still be there at another.

Statements are compared by their places in blocks of the same function: a later assignment in a block around the
first place ends it; what stands before it is reached through a loop alone.

Invariant: in doubt it reaches.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import lru_cache

from twice.checker.syntax.survey import COMPREHENSIONS, Binding, Survey

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_GIVING_UP = (ast.Raise, ast.Return, ast.Continue)


def reaches(survey: Survey, put: ast.AST, load: ast.expr, bindings: Iterable[Binding]) -> bool:
    """Say whether a value that a name got at one place may be read at another, in one function."""
    start = survey.statement(put)
    end = start.end_lineno or start.lineno
    if isinstance(start, (*_LOOPS, ast.With, ast.AsyncWith, ast.If)):
        end = start.lineno
    if load.lineno < start.lineno and not _in_one_loop(survey, start, load):
        return False
    at = survey.statement(load)
    for each in bindings:
        if each.kind == "element":
            if end < getattr(each.node, "lineno", 0) and _is_in_body(survey, each.node, load):
                return False
        elif each.kind == "assign":
            other = survey.parents.get(each.node)
            if not isinstance(other, ast.Assign) or other is start:
                continue
            if load.lineno < start.lineno and _comes_first(survey, other, start, load):
                return False
            if (
                end < other.lineno
                and (other.end_lineno or other.lineno) < load.lineno
                and (follows(survey, start, other) or follows(survey, at, other))
            ):
                return False
    return True


def _comes_first(survey: Survey, other: ast.Assign, start: ast.stmt, load: ast.expr) -> bool:
    """Whether a loop that comes round from one place to a read assigns anew before the read."""
    shared = {each for each in survey.above(start) if isinstance(each, _LOOPS)}
    shared &= set(survey.above(load))
    return (
        (other.end_lineno or other.lineno) < load.lineno
        and not shared.isdisjoint(survey.above(other))
        and follows(survey, survey.statement(load), other)
        and not any(
            isinstance(each, _LOOPS) and each not in shared and each not in set(survey.above(load))
            for each in survey.above(other)
        )
    )


def is_asked(survey: Survey, name: str, bindings: Iterable[Binding]) -> bool:
    """Say whether a name is assigned anew under a condition on the name itself."""
    return any(
        isinstance(one, ast.Name) and one.id == name
        for each in bindings
        for around in survey.above(each.node)
        if isinstance(around, (ast.If, ast.While, ast.IfExp))
        for one in ast.walk(around.test)
    )


def _is_in_body(survey: Survey, loop: ast.AST, node: ast.AST) -> bool:
    """Whether a node is in a loop's body, where the loop has given its target anew."""
    inside = node
    for around in survey.above(node):
        if around is loop:
            return inside in getattr(loop, "body", ())
        inside = around
    return False


def latest(survey: Survey, bindings: list[Binding], node: ast.Name) -> Binding | None:
    """Give the binding that alone reaches a read: the last before it, in a block around it."""
    if len(bindings) < 2:
        return None
    last, line, later = None, 0, False
    for each in bindings:
        its = getattr(each.node, "lineno", 0)
        if its >= node.lineno:
            later = True
        elif its >= line and each.kind != "argument":
            last, line = each, its
    if last is None or last.kind != "assign":
        return None
    statement = survey.parents.get(last.node)
    if not isinstance(statement, ast.Assign) or (statement.end_lineno or 0) >= node.lineno:
        return None
    at = survey.statement(node)
    if not follows(survey, at, statement):
        return None
    return None if later and _is_looped(survey, at, statement) else last


def _is_looped(survey: Survey, node: ast.stmt, statement: ast.stmt) -> bool:
    """Whether a node stands in a loop that a statement is outside of: a later one comes round to it."""
    outer = {each for each in survey.above(statement) if isinstance(each, _LOOPS)}
    return any(isinstance(each, _LOOPS) and each not in outer for each in survey.above(node))


def follows(survey: Survey, first: ast.stmt, second: ast.stmt) -> bool:
    """Say whether a statement stands in one list with another one, or with a block around it."""
    parents = survey.parents
    block = parents.get(second)
    current: ast.AST | None = first
    while current is not None:
        above = parents.get(current)
        if above is block and above is not None:
            return any(
                second in found and current in found
                for name in ("body", "orelse", "finalbody")
                for found in [getattr(above, name, ())]
                if isinstance(found, list)
            )
        current = above
    return False


def _in_one_loop(survey: Survey, one: ast.AST, other: ast.AST) -> bool:
    loops = {each for each in survey.above(one) if isinstance(each, _LOOPS)}
    return any(each in loops for each in survey.above(other))


def in_own_comprehension(survey: Survey, load: ast.expr) -> bool:
    """Say whether a read is of a name that a comprehension around it binds."""
    assert isinstance(load, ast.Name), "names are asked about"
    return any(
        isinstance(name, ast.Name) and name.id == load.id
        for each in survey.above(load)
        if isinstance(each, COMPREHENSIONS)
        for generator in each.generators
        for name in ast.walk(generator.target)
    )


def is_single(survey: Survey, node: ast.AST, collection: ast.expr) -> bool:
    """Say whether a node is reached only where a collection has one element, or none."""
    if not isinstance(collection, (ast.Name, ast.Attribute)):
        return False
    length = f"len({ast.unparse(collection)})"
    alone = (f"{length} == 1", f"1 == {length}")
    several = tuple(f"{length} {sign}" for sign in ("!= 1", "> 1", ">= 2"))
    inside = node
    for around in survey.above(node):
        if isinstance(around, (ast.If, ast.IfExp)):
            test = _said(survey, around.test)
            if _is_in(inside, around.body) and any(each in test for each in alone):
                return True
            if _is_in(inside, around.orelse) and any(each in test for each in several):
                return True
        if isinstance(inside, ast.stmt) and _was_asked(survey, around, inside, alone, several):
            return True
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
        inside = around
    return False


def _is_in(node: ast.AST, block: ast.AST | list[ast.stmt]) -> bool:
    return node in block if isinstance(block, list) else node is block


def _said(survey: Survey, test: ast.expr) -> str:
    """Write a condition with the lengths in place of names that were assigned them once."""
    text = ast.unparse(test)
    names = [each for each in ast.walk(test) if isinstance(each, ast.Name)]
    for outer in survey.above(test) if names else ():
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for name in names:
                values = _assigned(outer).get(name.id, [])
                text_of = ast.unparse(values[0]) if len(values) == 1 else ""
                if "len(" in text_of:
                    length = text_of.replace("\\", r"\\")
                    text = re.sub(rf"\b{name.id}\b", length, text)
            break
    return text


@lru_cache(maxsize=8)  # Conditions of one function are asked about in turn.
def _assigned(function: ast.AST) -> dict[str, list[ast.expr]]:
    """List the values assigned to each name of a function, anywhere in it."""
    found: dict[str, list[ast.expr]] = {}
    for each in ast.walk(function):
        if isinstance(each, ast.Assign):
            for one in each.targets:
                if isinstance(one, ast.Name):
                    found.setdefault(one.id, []).append(each.value)
    return found


def _was_asked(
    survey: Survey,
    block: ast.AST,
    statement: ast.stmt,
    alone: tuple[str, ...],
    several: tuple[str, ...],
) -> bool:
    """Whether an earlier statement beside one asserts that there is one, or gives up where there are more."""
    place = (statement.lineno, statement.col_offset)
    for field in ("body", "orelse", "finalbody"):
        beside = getattr(block, field, ())
        if not isinstance(beside, list) or not beside or not _lies_in(statement, beside):
            continue
        for one in _conditions(block, field):
            if (one.lineno, one.col_offset) >= place:
                break
            text = _said(survey, one.test)
            if any(each in text for each in (alone if isinstance(one, ast.Assert) else several)):
                return True
    return False


def _lies_in(statement: ast.stmt, block: list[ast.stmt]) -> bool:
    """Whether a statement's place is one of a block's, by its lines."""
    first, last = block[0], block[-1]
    place = (statement.lineno, statement.col_offset)
    return (first.lineno, first.col_offset) <= place <= (last.lineno, last.col_offset)


@lru_cache(maxsize=4)  # Many are asked about one block in turn, and it may be long.
def _conditions(block: ast.AST, field: str) -> list[ast.Assert | ast.If]:
    """List the statements of a block that assert a condition, or give up under one."""
    return [
        one
        for one in getattr(block, field)
        if isinstance(one, ast.Assert)
        or (isinstance(one, ast.If) and isinstance(one.body[-1], _GIVING_UP))
    ]
