"""A generator's state could not be put back, and the run goes on as if it had."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import TELEMETRY, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "restore-failure-swallowed"
_SETS: Final = ("set_rng_state", "set_rng_state_all", "setstate", "set_state")
_TELLS: Final = {"print", "warn", "warning", "info", "debug", "error", "exception", "log"}


def look(site: Site) -> Iterator[Violation]:
    """Look at a ``try`` that puts a generator's state back."""
    node = site.node
    assert isinstance(node, ast.Try), "tries are asked for"
    sets = next((each for one in node.body for each in ast.walk(one) if _sets(site, each)), None)
    if sets is None:
        return
    for handler in node.handlers:
        if not _is_absence(handler) and all(_only_tells(each) for each in handler.body):
            yield site.found(
                NAME,
                f"A failure of {last_name(sets)}() is passed over.",
                "The run goes on with whatever streams it has, and nothing says that they are not the kept ones.",
                node=handler,
                confidence=0.9,
            )


def _sets(site: Site, node: ast.AST) -> bool:
    """Whether it puts the state of a generator back."""
    if not isinstance(node, ast.Call) or last_name(node) not in _SETS:
        return False
    called = site.qualified(node.func)
    return called is not None and called.startswith(("random.", "numpy.random.", "torch."))


def _is_absence(handler: ast.ExceptHandler) -> bool:
    """Whether it is for a library or a device that is not there: nothing was kept of it, either."""
    kinds = handler.type
    every = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    return all(
        each is not None and last_name(each) in {"ImportError", "ModuleNotFoundError"}
        for each in every
    )


def _only_tells(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass):
        return True
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    return isinstance(value, ast.Constant) or (
        isinstance(value, ast.Call)
        and (
            last_name(value) in _TELLS
            or (
                isinstance(value.func, ast.Attribute)
                and about(last_name(value.func.value), TELEMETRY)
            )
        )
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.REPLAY,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Let the error through: a run whose generators were not restored is another run.",
        __doc__ or "",
    ),
    nodes=(ast.Try,),
    look=look,
    applies=mentions(*_SETS),
)
