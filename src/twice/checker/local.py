"""Looking at one file: its text goes in, what the rules found and gathered comes out.

This is what is cached: it depends on the file's bytes, the rules and the catalogue alone.

Invariant: no text makes it fail; one that cannot be parsed is a finding.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from twice.checker.accepting.suppressing import remarks_in
from twice.checker.audits import facts as audit_facts
from twice.checker.audits.audit import FACTS
from twice.checker.catalogue import Catalogue
from twice.checker.findings import Violation
from twice.checker.looked import FileResult, unreadable
from twice.checker.rule import Rule
from twice.checker.rules.engine import Index
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Scope
from twice.foundation.with_blocks import gc_paused

_DEPTH_MAX: Final = 5000  # Frames; well below what 8 MB of stack hold.


def analyze_file(
    path: str, text: str, *, package: str, index: Index, catalogue: Catalogue, follows: bool
) -> FileResult:
    """Read a file with every rule.

    Args:
        path: the file, as findings name it.
        text: its source.
        package: its dotted package; "" outside of any.
        index: the rules in force.
        catalogue: the API names in force.
        follows: whether values are followed to where they end.
    """
    with gc_paused(), _deep():
        return _looked(path, text, package, index, catalogue, follows=follows)


@contextmanager
def _deep() -> Iterator[None]:
    """Let long sums of texts, each a level deeper than the one before, be followed."""
    was = sys.getrecursionlimit()
    sys.setrecursionlimit(max(was, _DEPTH_MAX))
    try:
        yield
    finally:
        sys.setrecursionlimit(was)


def _looked(
    path: str, text: str, package: str, index: Index, catalogue: Catalogue, *, follows: bool
) -> FileResult:
    lines = _lines(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's strings
            tree = ast.parse(text)
    except SyntaxError as error:
        return FileResult((unreadable(_syntax(error), error.lineno or 1),), lines=lines)
    except (ValueError, RecursionError, MemoryError) as error:
        return FileResult(
            (unreadable(f"it cannot be parsed: {str(error) or type(error).__name__}"),), lines=lines
        )
    try:
        return _read(path, text, tree, package, index, catalogue, follows=follows)
    except RecursionError:
        return FileResult((unreadable("its expressions are nested too deeply"),), lines=lines)


def _read(
    path: str,
    text: str,
    tree: ast.Module,
    package: str,
    index: Index,
    catalogue: Catalogue,
    *,
    follows: bool,
) -> FileResult:
    module = Module(
        path,
        text,
        tree,
        package=package,
        catalogue=catalogue,
        wanted=index.wanted | audit_facts.WANTED,
        follows=follows,
    )
    found = sorted(_local(module, index), key=_in_order)
    facts = {}
    for name, gather in {**index.gathering, FACTS: audit_facts.gather}.items():
        gathered = gather(module)
        if gathered:
            facts[name] = gathered
    module.close()
    return FileResult(tuple(_settle(found, index)), facts, _lines(text), remarks_in(text, tree))


def _lines(text: str) -> int:
    """How many lines a text has, as the parser ends them; an unfinished one counts."""
    ends = text.count("\n")
    if "\r" in text:
        ends += text.count("\r") - text.count("\r\n")
    return ends + (text != "" and not text.endswith(("\n", "\r")))


def _syntax(error: SyntaxError) -> str:
    return f"{error.msg or 'it is not Python'} (line {error.lineno or '?'})"


def _settle(found: list[Violation], index: Index) -> Iterator[Violation]:
    """Yield each violation once, and none of which another rule says more or which stands for others."""
    better = {(name, each.place) for each in found for name in index.superseded.get(each.rule, ())}
    said = set()
    for each in found:
        words: tuple[object, ...] = (each.rule, each.place, each.message)
        if each.rule in index.once:
            words = (each.rule, each.symbol, "")
        if words not in said and (each.rule, each.place) not in better:
            said.add(words)
            yield each


def _in_order(found: Violation) -> tuple[int, int, str, str]:
    return found.place.line, found.place.column, found.rule, found.message


def _local(module: Module, index: Index) -> list[Violation]:
    found = _called(module, index)
    silent = {rule.name for rule in index.conditional if rule.applies and not rule.applies(module)}
    for kind, asking in index.nodes.items():
        nodes = module.survey.nodes.get(kind)
        if nodes:
            for rule in asking:
                if rule.name not in silent:
                    found += _seen(module, rule, nodes)
    for kind, named in index.functions.items():
        for node, scope in module.survey.nodes.get(kind, ()):
            assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)), "the index says so"
            for rule in named.of(node.name):
                if rule.name not in silent and (rule.suits is None or rule.suits(node, scope)):
                    assert rule.look is not None, "a rule that asks for nodes looks at them"
                    found += rule.look(Site(module, node, scope, rule.name))
    return found


def _called(module: Module, index: Index) -> list[Violation]:
    """Run the rules that look at calls, by the called name."""
    found: list[Violation] = []
    calls, methods = index.calls, index.methods
    for node, scope, name in module.calls:
        rules: tuple[Rule, ...] = ()
        if name is not None:
            rules = calls.get(name, ())
        if not rules and (name is None or name[0] == "."):
            func = node.func
            if func.__class__ is ast.Attribute:
                rules = methods.get(func.attr, ())
        for rule in rules:
            assert rule.look is not None, "a rule that asks for calls looks at them"
            found += rule.look(Site(module, node, scope, rule.name))
    return found


def _seen(module: Module, rule: Rule, nodes: Sequence[tuple[ast.AST, Scope]]) -> list[Violation]:
    """Run a rule on the nodes of a kind that it looks at."""
    look, suits, name = rule.look, rule.suits, rule.name
    assert look is not None, "a rule that asks for nodes looks at them"
    found: list[Violation] = []
    for node, scope in nodes:
        if suits is None or suits(node, scope):
            found += look(Site(module, node, scope, name))
    return found
