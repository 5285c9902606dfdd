"""A dict remembers the order of a set, a folder or a race, and goes on to use it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest
from twice.checker.syntax.uses.words import last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "set-built-dict"
_DEPTH = 3
_PASSING = {
    "builtins.enumerate",
    "builtins.list",
    "builtins.tuple",
    "rich.progress.track",
    "tqdm.auto.tqdm",
    "tqdm.tqdm",
}
_VIEWS = {"items", "values", "keys"}
_LISTING = {
    "builtins.list",
    "builtins.tuple",
    "builtins.enumerate",
    "builtins.zip",
    "builtins.iter",
}
_WRITING = {
    "json.dump",
    "json.dumps",
    "yaml.dump",
    "yaml.safe_dump",
    "pandas.DataFrame",
    "pandas.Series",
}


def look(site: Site) -> Iterator[Violation]:
    """Look at a dict that is filled."""
    node = site.node
    if isinstance(node, (ast.For, ast.AsyncFor)):
        yield from _filled(site, node)
        return
    if isinstance(node, ast.DictComp):
        source: ast.expr | None = node.generators[0].iter
    else:
        source = site.call.args[0] if site.call.args else None
    words = None if source is None else _by_chance(site, source)
    if words is not None:
        yield from _found(site, words, list(_uses(site, node, site.scope)), node)


def _by_chance(site: Site, source: ast.expr, depth: int = 0) -> str | None:
    """Name in words an iterable whose order is due to chance, or return None."""
    if isinstance(source, ast.Call):
        called = site.qualified(source.func)
        if called in _PASSING and source.args:
            return _by_chance(site, source.args[0], depth)
        if site.catalogue.has("listing", called) and called not in {"os.walk", "os.fwalk"}:
            return "a listing of files"
        if site.catalogue.has("completion-order", called):
            return "what is finished first"
        if last_name(source) == "imap_unordered":
            return "what is finished first"
    elif isinstance(source, ast.ListComp) and len(source.generators) == 1:
        return _by_chance(site, source.generators[0].iter, depth)
    elif isinstance(source, ast.Name) and depth < _DEPTH:
        bindings = site.module.names.bindings(source.id, site.scope)
        only = bindings[0].node if len(bindings) == 1 else None
        if isinstance(only, (ast.Call, ast.ListComp)) and bindings[0].kind == "assign":
            if site.module.loads.is_sorted(_target(site, only), site.scope):
                return None
            return _by_chance(site, only, depth + 1)
    kind = site.kind(source)
    return "a set" if kind is not None and kind.is_ordered_by_chance else None


def _target(site: Site, value: ast.expr) -> ast.AST:
    statement = site.module.survey.statement(value)
    return statement.targets[0] if isinstance(statement, ast.Assign) else value


def _filled(site: Site, loop: ast.For | ast.AsyncFor) -> Iterator[Violation]:
    """Find a loop that stores values under keys."""
    puts = list(_puts(loop.body))
    if not puts:
        return
    words = _by_chance(site, loop.iter)
    if words is None:
        return
    said = set()
    for target in puts:
        word = site.module.source(target.value)
        kind = site.kind(target.value)
        if kind is None or kind.name != "dict" or word in said:
            continue
        said.add(word)
        ends = [
            each
            for load, scope in _reads(site, target.value, loop)
            for each in _uses(site, load, scope)
        ]
        yield from _found(site, words, ends, target)


def _puts(statements: list[ast.stmt]) -> Iterator[ast.Subscript]:
    """Yield the targets of assignments to a key, in branches and blocks too."""
    for statement in statements:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Subscript) and isinstance(
                    target.value, (ast.Name, ast.Attribute)
                ):
                    yield target
        elif isinstance(statement, (ast.If, ast.With, ast.Try)):
            yield from _puts(statement.body)
            yield from _puts(getattr(statement, "orelse", []))


def _reads(
    site: Site, name: ast.expr, loop: ast.For | ast.AsyncFor
) -> Iterator[tuple[ast.expr, Scope]]:
    """Where the dict is read: after the loop, or anywhere when it is an attribute."""
    if isinstance(name, ast.Name):
        end = loop.end_lineno or loop.lineno
        for load, scope in site.module.loads.of(name.id, site.scope):
            if load.lineno > end:
                yield load, scope
    elif isinstance(name, ast.Attribute) and isinstance(name.value, ast.Name):
        owner = site.scope.owner
        if name.value.id == "self" and owner is not None:
            for attribute, scope in site.module.loads.of_attribute(name.attr, owner):
                if isinstance(attribute.value, ast.Name) and attribute.value.id == "self":
                    yield attribute, scope


def _uses(site: Site, node: ast.AST, scope: Scope, depth: int = 0) -> Iterator[Outcome]:
    """Where the order of a dict ends, as far as it is used as an order."""
    module = site.module
    parent = module.survey.parents.get(node)
    if isinstance(parent, ast.Attribute):
        call = module.survey.parents.get(parent)
        if parent.attr in _VIEWS and isinstance(call, ast.Call):
            yield from module.orders.follow(call, scope)
    elif isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
        yield from module.orders.follow(node, scope)
    elif isinstance(parent, ast.Call):
        called = module.names.qualified(parent.func, scope)
        if called in _LISTING:
            yield from module.orders.follow(node, scope)
        elif called in _WRITING and parent.args[:1] == [node] and not _sorts(parent):
            yield Outcome(Use.STORED, parent)
    elif isinstance(parent, ast.Assign) and parent.value is node and depth == 0:
        name = parent.targets[0]
        if isinstance(name, ast.Name):
            for load, where in module.loads.of(name.id, scope):
                if load.lineno > parent.lineno:
                    yield from _uses(site, load, where, depth + 1)


def _sorts(call: ast.Call) -> bool:
    """Whether keys are sorted when a dict is written: yaml does unless told otherwise."""
    for each in call.keywords:
        if each.arg in {"sort_keys", None}:
            return not (isinstance(each.value, ast.Constant) and each.value.value is False)
    return isinstance(call.func, ast.Attribute) and last_name(call.func.value) == "yaml"


def _found(site: Site, words: str, ends: list[Outcome], node: ast.AST) -> Iterator[Violation]:
    outcome = gravest(ends, Outcome(Use.ERASED, node))
    if outcome.use is not Use.ERASED:
        yield site.found(
            NAME,
            f"The order of this dict comes from {words}, and it is used.",
            "A dict comes in the order in which it was filled.",
            node=node,
            outcome=outcome,
            confidence=0.85,
        )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.CONCURRENCY,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Fill it in a sorted order, or sort where it is gone through or written.",
        __doc__ or "",
    ),
    calls=("from-keys",),
    nodes=(ast.For, ast.AsyncFor, ast.DictComp),
    look=look,
)
