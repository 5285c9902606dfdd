"""A number is drawn only while debugging, logging or rendering."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.seeding import is_generator, is_global_draw
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import last_name, parts
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME: Final = "draw-in-debug"
_SHOWING: Final = frozenset(
    ["__repr__", "__str__", "_repr_html_", "render", "_render", "log_state"]
)
_WORDS: Final = frozenset(["debug", "debugging", "verbose", "verbosity"])


def look(site: Site) -> Iterator[Violation]:
    """Look at a draw."""
    func = site.call.func
    switch = _switch(site)
    shows = None if switch is not None else _shown_by(site)
    if switch is None and shows is None:
        return
    if not _draws(site) or (shows is not None and _is_later(site)):
        return
    yield site.found(
        NAME,
        f"{site.module.shown(func)}() draws only "
        + (
            f"if {site.module.shown(switch)}." if switch is not None else f"when {shows} is called."
        ),
        "With the output switched on, every number that is drawn later is another one.",
    )


def _draws(site: Site) -> bool:
    func = site.call.func
    return is_global_draw(site, site.call) or (
        isinstance(func, ast.Attribute)
        and site.catalogue.has_method("draws", func.attr)
        and is_generator(site, func.value)
    )


def _is_later(site: Site) -> bool:
    """Whether the method that shows has drawn before: it is reported once."""
    for node, scope in site.module.survey.nodes.get(ast.Call, ()):
        if node is site.node:
            return False
        if scope.method is site.scope.method and _draws(site.module.site(node, scope)):
            return True
    return False


def _shown_by(site: Site) -> str | None:
    """Give the method around a site that only shows its object."""
    function = site.scope.method
    if function is None or function.owner is None or function.name not in _SHOWING:
        return None
    return function.name


def _switch(site: Site) -> ast.expr | None:
    """Give the condition around a site that asks whether something is shown."""
    below = site.node
    for each in site.above():
        if isinstance(each, (ast.If, ast.IfExp)):
            body = each.body if isinstance(each.body, list) else [each.body]
            if below in body and _asks(each.test):
                return each.test
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
        below = each
    return None


def _asks(test: ast.expr) -> bool:
    if isinstance(test, ast.Call):
        return last_name(test.func) == "isEnabledFor"
    if isinstance(test, ast.Compare):
        test = test.left
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_asks(each) for each in test.values)
    if isinstance(test, (ast.Name, ast.Attribute)):
        return not _WORDS.isdisjoint(parts(last_name(test)))
    return False


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.RNG,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Draw in every case and show the result, or show with a generator of its own.",
        __doc__ or "",
    ),
    calls=("global-draws", "tensor-draws"),
    methods=("draws",),
    look=look,
)
