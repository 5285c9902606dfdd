"""Files for tests of the checker's engine: a text becomes a Module, and a site in it is found by name."""

from __future__ import annotations

import ast
from textwrap import dedent

from twice.checker.catalogue import shipped
from twice.checker.syntax.module import Module, Site

EVERY = frozenset({ast.For, ast.ListComp, ast.FunctionDef, ast.ClassDef, ast.Return})


def module_of(text: str, *, path: str = "example.py", package: str = "") -> Module:
    """Give a text as rules see it."""
    text = dedent(text)
    return Module(
        path,
        text,
        ast.parse(text),
        package=package,
        catalogue=shipped(),
        wanted=EVERY,
        follows=True,
    )


def call_of(module: Module, source: str) -> Site:
    """Give the first call that is written so."""
    for node, scope in module.survey.nodes[ast.Call]:
        if module.source(node) == source:
            return module.site(node, scope)
    raise AssertionError(f"there is no call {source!r}")


def last_value(module: Module) -> Site:
    """Give the expression of the last statement of the module."""
    last = module.tree.body[-1]
    assert isinstance(last, ast.Expr)
    return module.site(last.value, module.survey.root)
