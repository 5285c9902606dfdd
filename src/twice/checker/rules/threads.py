"""What is started in threads, and what it touches: shared by the rules about threads.

Only functions of the same file are looked into, one call deep.

Invariant: a function that another process runs is none of these.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import COMPREHENSIONS, Scope


@dataclass(frozen=True, slots=True)
class Started:
    """Work that is given to a thread.

    Args:
        work: the expression that names the function.
        arguments: what it is called with, as far as it is seen, in order.
        several: whether more than one thread runs it at a time.
        named: what it is called with by name.
    """

    work: ast.expr
    arguments: tuple[ast.expr, ...]
    several: bool
    named: tuple[tuple[str, ast.expr], ...] = ()


def started(site: Site) -> Started | None:
    """Give what a call starts in a thread."""
    call, called = site.call, site.called
    if site.catalogue.has("thread", called):
        return _of_thread(site, called or "")
    func = call.func
    if not isinstance(func, ast.Attribute) or not call.args:
        return None
    kind = site.kind(func.value)
    if kind is None or kind.name != "executor" or "Process" in kind.origin:
        return None
    several = func.attr == "map" or in_loop(site)
    return Started(call.args[0], tuple(call.args[1:]), several)


def _of_thread(site: Site, called: str) -> Started | None:
    call = site.call
    if called.startswith("threading."):
        work = site.keyword("target" if called.endswith("Thread") else "function")
        return None if work is None else of_target(site, work)
    if not call.args:
        return None
    return Started(call.args[0], tuple(call.args[1:]), in_loop(site))


def of_target(site: Site, work: ast.expr) -> Started:
    """Give the work of a thread or a process, with what ``args`` and ``kwargs`` hand over."""
    given, named = site.keyword("args"), site.keyword("kwargs")
    pairs: list[tuple[str, ast.expr]] = []
    if isinstance(named, ast.Dict):
        keys = [str(getattr(each, "value", "")) for each in named.keys]
        pairs = list(zip(keys, named.values, strict=True))
    elif isinstance(named, ast.Call):
        pairs = [(each.arg or "", each.value) for each in named.keywords]
    arguments = tuple(given.elts) if isinstance(given, (ast.Tuple, ast.List)) else ()
    return Started(work, arguments, in_loop(site), tuple(pairs))


def in_loop(site: Site) -> bool:
    """Say whether a node is evaluated several times in its function, each before the one before is joined."""
    for each in site.above():
        if isinstance(each, (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)):
            return not _is_joined(site, each)
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
    return False


def _is_joined(site: Site, loop: ast.AST) -> bool:
    """Whether the loop that starts a thread waits for it: ``t = Thread(…); t.start(); t.join()``."""
    statement = site.module.survey.statement(site.node)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    name = statement.targets[0].id
    return any(
        isinstance(each, ast.Attribute)
        and each.attr in {"join", "result"}
        and isinstance(each.value, ast.Name)
        and each.value.id == name
        for each in ast.walk(loop)
    )


def calls_in(module: Module, function: Scope) -> Iterator[tuple[ast.Call, Scope]]:
    """Give the calls in a function and in functions inside of it."""
    for node, scope, _ in module.calls:
        if is_within(scope, function):
            yield node, scope


def is_within(scope: Scope | None, function: Scope) -> bool:
    """Say whether a scope is a function or inside of it."""
    while scope is not None:
        if scope is function:
            return True
        scope = scope.parent
    return False


def parameter_values(start: Started, function: Scope) -> dict[str, ast.expr]:
    """Give what each parameter of a started function is given."""
    node = function.node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return {}
    names = [each.arg for each in [*node.args.posonlyargs, *node.args.args]]
    if function.parent is not None and function.parent.is_class:
        names = names[1:]
    return {**dict(zip(names, start.arguments, strict=False)), **dict(start.named)}
