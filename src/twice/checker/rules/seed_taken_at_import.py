"""The default of a seed is taken when the file is imported, before anything is seeded."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.seeding import is_global_draw
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import SEED, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME: Final = "seed-taken-at-import"


def look(site: Site) -> Iterator[Violation]:
    """Look at a function's defaults."""
    node = site.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)), "functions are asked for"
    given = node.args
    places = [*given.posonlyargs, *given.args]
    pairs = [
        *zip(places[len(places) - len(given.defaults) :], given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        if not isinstance(default, ast.Call) or not about(argument.arg, SEED):
            continue
        if is_global_draw(site, default) or about(last_name(default), SEED):
            yield site.found(
                NAME,
                f"{site.module.shown(default)} is the default of {argument.arg} in {node.name}(): it is asked once, at import.",
                "What is seeded after the import does not reach it: it stays None, or one number by chance.",
                node=default,
            )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SEEDS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Make None the default and ask for the seed in the body, when the function is called.",
        __doc__ or "",
    ),
    nodes=(ast.FunctionDef, ast.AsyncFunctionDef),
    look=look,
    applies=mentions("seed"),
)
