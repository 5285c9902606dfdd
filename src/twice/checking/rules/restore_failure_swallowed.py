"""A generator's state could not be put back, and the run goes on as if it had.

A restore under ``except`` that logs and continues leaves the generators where they happen to be: a missing
key or another number of devices is enough. The run looks resumed, and draws other numbers than the
one that it continues.

Let the error through, or say in the result that the streams are new ones. Nothing is said of handlers that raise,
return, or set something else in place.

Bad:
    import logging
    import random
    import torch

    def load(states):
        try:
            random.setstate(states["random"])
            torch.set_rng_state(states["torch"])
        except Exception:
            logging.info("could not load random states")

or:
    import numpy as np

    def restore(saved):
        try:
            np.random.set_state(saved["numpy"])
        except KeyError:
            pass

Good:
    import random
    import torch

    def load(states):
        try:
            random.setstate(states["random"])
            torch.set_rng_state(states["torch"])
        except KeyError as error:
            raise ValueError("the checkpoint has no generator states") from error

or:
    import random

    def load(states, seed):
        try:
            random.setstate(states["random"])
        except KeyError:
            random.seed(seed)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule, mentions
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.words import TELEMETRY, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "restore-failure-swallowed"
_SETS: Final = ("set_rng_state", "set_rng_state_all", "setstate", "set_state")
_TELLS: Final = {"print", "warn", "warning", "info", "debug", "error", "exception", "log"}


def look(site: Site) -> Iterator[Found]:
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
    name=NAME,
    channel=Channel.REPLAY,
    breaks=Breaks.LOGICAL,
    severity=Severity.HIGH,
    remedy="Let the error through: a run whose generators were not restored is another run.",
    nodes=(ast.Try,),
    look=look,
    applies=mentions(*_SETS),
)
