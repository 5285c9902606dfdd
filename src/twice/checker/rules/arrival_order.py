"""Results of several workers are taken from a queue in the order in which they arrive."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.threads import calls_in, in_loop
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import COMPREHENSIONS, targets
from twice.checker.syntax.uses.loads import spelled
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest
from twice.checker.syntax.uses.words import TELEMETRY, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME: Final = "arrival-order"
_LIBRARIES: Final = frozenset({"billiard", "multiprocess", "multiprocessing", "queue", "torch"})
_STARTING: Final = frozenset({"Process", "Thread"})
_PUTS: Final = frozenset({"put", "put_nowait"})
_FILLING: Final = frozenset({"append", "appendleft", "extend", "insert"})
_WHY: Final = "Which worker is done first depends on the load of the machine"


def look(site: Site) -> Iterator[Violation]:
    """Look at what takes the next thing from a queue."""
    func = site.call.func
    if _LIBRARIES.isdisjoint(site.module.imported) or not isinstance(func, ast.Attribute):
        return
    if func.attr == "get" and any(not _says_how(each) for each in site.call.args):
        return  # A dictionary's.
    if func.attr == "get_nowait" and _goes_on(site):
        yield site.found(
            NAME,
            f"{site.module.shown(func.value)} is asked without waiting, and something else is done when it is empty.",
            "Whether anything is there yet depends on the load of the machine.",
            reach=Reach.UNSEEN,
            confidence=0.8,
        )
        return
    kind = site.kind(func.value)
    if kind is None or kind.name != "queue" or not _is_fed_by_several(site, func.value):
        return
    outcome = gravest(_ends(site), Outcome(Use.ERASED, site.node))
    if outcome.use >= Use.UNSEEN:
        yield site.found(
            NAME,
            f"{site.module.shown(func.value)} gives the results of several workers in the order in which they arrive.",
            _WHY,
            outcome=outcome,
        )


def _says_how(node: ast.expr) -> bool:
    """Whether it is True, False or a time, as ``get(block, timeout)`` takes them."""
    return isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float))


def _goes_on(site: Site) -> bool:
    """Whether, where nothing is there, a message is made up that the code after it acts on."""
    statement = site.module.survey.statement(site.node)
    around = site.module.survey.parents.get(statement)
    if (
        not isinstance(statement, ast.Assign)
        or not isinstance(around, ast.Try)
        or not in_loop(site)
    ):
        return False
    names = _names(statement.targets)
    for handler in around.handlers:
        if handler.type is None or last_name(handler.type) != "Empty":
            continue
        for each in handler.body:
            if isinstance(each, ast.Assign) and names & _names(each.targets):
                values = each.value.elts if isinstance(each.value, ast.Tuple) else [each.value]
                if any(not (isinstance(one, ast.Constant) and not one.value) for one in values):
                    return True
    return False


def _names(given: list[ast.expr]) -> set[str]:
    return {
        one.id for target in given for one in targets(target) if isinstance(one, ast.Name)
    }  # fmt: skip


def _is_fed_by_several(site: Site, queue: ast.expr) -> bool:
    """Whether several processes or threads are started that put things into it."""
    module = site.module
    word = spelled(queue)
    for call, scope, _ in module.calls:
        if last_name(call.func) not in _STARTING:
            continue
        one = module.site(call, scope)
        work = one.keyword("target")
        if work is None or not in_loop(one):
            continue
        name = _parameter(one, word)
        function = module.loads.callee(work, scope)
        if function is None:
            continue
        for inner, _ in calls_in(module, function):
            base = inner.func
            if isinstance(base, ast.Attribute) and base.attr in _PUTS:
                own = isinstance(base.value, ast.Name) and base.value.id == name
                if own or spelled(base.value) == word:
                    return True
    return False


def _parameter(start: Site, word: str) -> str:
    """Return the name by which a started function knows a queue."""
    named = start.keyword("kwargs")
    if isinstance(named, ast.Dict):
        for key, value in zip(named.keys, named.values, strict=True):
            if isinstance(key, ast.Constant) and spelled(value) == word:
                return str(key.value)
    if isinstance(named, ast.Call):
        for each in named.keywords:
            if spelled(each.value) == word:
                return each.arg or ""
    given, work = start.keyword("args"), start.keyword("target")
    function = None if work is None else start.module.loads.callee(work, start.scope)
    if isinstance(given, (ast.Tuple, ast.List)) and function is not None:
        arguments = getattr(function.node, "args", None)
        if isinstance(arguments, ast.arguments):
            names = [each.arg for each in arguments.args]
            if function.owner is not None and names[:1] == ["self"]:
                names = names[1:]
            for name, value in zip(names, given.elts, strict=False):
                if spelled(value) == word:
                    return name
    return ""


def _ends(site: Site) -> Iterator[Outcome]:
    """Where the order of what is taken in a loop ends."""
    module = site.module
    loop: ast.AST | None = None
    for each in site.above():
        if isinstance(each, COMPREHENSIONS):
            if not isinstance(each, ast.DictComp):
                yield from module.orders.follow(each, site.scope)
            return
        if isinstance(each, (ast.For, ast.While)):
            loop = each
            break
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return
    if loop is None:
        return
    statement = module.survey.statement(site.node)
    own = _names(statement.targets) if isinstance(statement, ast.Assign) else set()
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign) and node is not statement and _mentions(node.value, own):
            own |= _names(node.targets)
    for node in ast.walk(loop):
        yield from _end(site, node, own)


def _end(site: Site, node: ast.AST, own: set[str]) -> Iterator[Outcome]:
    module, scope = site.module, site.scope
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _FILLING and any(_brings(site, each, own) for each in node.args):
            base = node.func.value
            if not _mentions(base, own) and not about(last_name(base), TELEMETRY):
                yield from module.orders.filled(base, scope, node)
    elif isinstance(node, (ast.Yield, ast.YieldFrom)):
        if node.value is not None and _brings(site, node.value, own):
            yield Outcome(Use.RETURNED, node)
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0]
        if _brings(site, node.value, own) and not _mentions(target, own):
            yield from module.orders.filled(target.value, scope, node)
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        kind = site.kind(node.target)
        if kind is not None and kind.name in {"list", "str"} and _brings(site, node.value, own):
            yield from module.orders.filled(node.target, scope, node)


def _brings(site: Site, node: ast.AST, own: set[str]) -> bool:
    """Whether an expression holds what was taken from the queue."""
    return any(
        each is site.node or (isinstance(each, ast.Name) and each.id in own)
        for each in ast.walk(node)
    )


def _mentions(node: ast.AST, own: set[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in own for each in ast.walk(node))


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.CONCURRENCY,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Send an index along and put each result at its own place, or sort by it when all are there.",
        __doc__ or "",
    ),
    methods=("taking",),
    look=look,
)
