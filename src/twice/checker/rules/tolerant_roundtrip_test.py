"""A test compares what was saved with what was loaded, and with a tolerance."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.comparing import TESTS, claims, inner_scope, is_tolerant, tests_something
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "tolerant-roundtrip-test"
_WRITES: Final = frozenset(
    {"save", "dump", "dumps", "offload", "serialize", "export", "checkpoint"}
)
_READS: Final = frozenset(
    {"load", "loads", "loader", "reload", "restore", "deserialize", "offloaded", "from", "resume"}
)
_NARROWS: Final = frozenset(
    ["quant", "quantized", "quantize", "int", "half", "bf", "fp", "merge", "convert", "conversion", "dtype", "bits", "precision", "train", "step"]
)  # fmt: skip
_LEARNS: Final = frozenset({"step", "backward", "train", "fit"})
_WEIGHTS: Final = {"state_dict", "parameters", "named_parameters", "get_weights", "named_buffers"}


def look(site: Site) -> Iterator[Violation]:
    """Look at a function that is called a test or a check."""
    node = site.node
    assert isinstance(node, ast.FunctionDef), "functions are asked for"
    if not tests_something(node.name) or claims(node.name) or about(node.name, _NARROWS):
        return
    called = [last_name(each) for each in ast.walk(node) if isinstance(each, ast.Call)]
    if not any(about(each, _WRITES) for each in called):
        return
    if not any(about(each, _READS) and not about(each, _WRITES) for each in called):
        return
    if any(about(each, _LEARNS) for each in called):
        return
    function = inner_scope(site)
    weights = _weights(node)
    for loop in ast.walk(node):
        if isinstance(loop, ast.For) and _is_over_weights(loop.iter, weights):
            found = _tolerant(site, loop, function)
            if found is not None:
                yield site.found(
                    NAME,
                    f"{node.name}() compares what was loaded by {last_name(found)}, which has a tolerance.",
                    "What is written and read again has the same bits; what changes them on the way passes.",
                    node=found,
                    confidence=0.75,
                )
                return


def _weights(node: ast.FunctionDef) -> set[str]:
    """Names that hold a model's weights."""
    return {
        target.id
        for each in ast.walk(node)
        if isinstance(each, ast.Assign)
        and isinstance(each.value, ast.Call)
        and last_name(each.value) in _WEIGHTS
        for target in each.targets
        if isinstance(target, ast.Name)
    }


def _is_over_weights(iterated: ast.expr, weights: set[str]) -> bool:
    return any(
        (isinstance(each, ast.Call) and last_name(each) in _WEIGHTS)
        or (isinstance(each, ast.Name) and each.id in weights)
        for each in ast.walk(iterated)
    )


def _tolerant(site: Site, loop: ast.For, scope: Scope) -> ast.Call | None:
    """Give the tolerant comparison that a loop asserts."""
    for each in loop.body:
        for one in ast.walk(each):
            tested = one.test if isinstance(one, ast.Assert) else None
            if isinstance(one, ast.Expr):
                tested = one.value
            if (
                isinstance(tested, ast.Call)
                and is_tolerant(site, tested, scope)
                and not any(isinstance(given, ast.Call) for given in tested.args)
            ):
                return tested
    return None


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.DIVERGENCE,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Compare exactly: torch.equal, numpy.array_equal.",
        __doc__ or "",
    ),
    nodes=(ast.FunctionDef,),
    look=look,
    named=TESTS,
    applies=mentions("allclose", "assert_close", "isclose"),
)
