"""The rules about determinism tests: what a test claims by its name or message, against how it compares.

Comparisons with a constant say nothing of a second run and do not count.

Invariant: a claim is the words deterministic, reproducible and the like; "seed" alone is none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, mentions
from twice.checker.rules.engine import rule
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import about, last_name, parts
from twice.foundation.channels import Channel
from twice.foundation.printable import pluralize
from twice.foundation.severity import Severity

_CLAIMS: Final = frozenset(
    ["determinism", "deterministic", "reproducible", "reproducibility", "reproduce", "reproduces", "reproduction", "repeatable", "repeatability", "seeding"]
)  # fmt: skip
_NAMED: Final = _CLAIMS | {"same"}  # One of them stands in every name that claims.
_DENIALS: Final = frozenset(
    ["non", "not", "nondeterministic", "nondeterminism", "stochastic", "no", "without"]
)
_TESTS: Final = frozenset(
    ["test", "tests", "check", "checks", "verify", "assert", "validate", "ensure"]
)
_TOLERANCES: Final = {"rtol", "atol", "rel", "abs", "rel_tol", "abs_tol", "delta", "tolerance"}
_AGGREGATES: Final = {"mean", "sum", "len", "std", "var", "average", "median", "fsum", "nanmean"}
_CAPTURES: Final = {"capsys", "capfd", "caplog", "capsysbinary", "readouterr", "stdout", "stderr"}
_READERS: Final = frozenset(["read", "readlines", "open", "cmp", "diff", "ndiff"])
_LOGS: Final = frozenset(["log", "logs", "transcript", "console"])
_DIGESTS: Final = frozenset(["digest", "digests", "hash", "hexdigest", "sha256", "checksum"])
_WRITES: Final = frozenset(
    ["save", "dump", "dumps", "offload", "serialize", "export", "checkpoint"]
)
_READS: Final = frozenset(
    ["load", "loads", "loader", "reload", "restore", "deserialize", "offloaded", "from", "resume"]
)
_NARROWS: Final = frozenset(
    ["quant", "quantized", "quantize", "int", "half", "bf", "fp", "merge", "convert", "conversion", "dtype", "bits", "precision", "train", "step"]
)  # fmt: skip
_LEARNS: Final = frozenset({"step", "backward", "train", "fit"})
_WEIGHTS: Final = {"state_dict", "parameters", "named_parameters", "get_weights", "named_buffers"}


def _claims(name: str) -> bool:
    """Whether a test or a check of this name is one of determinism."""
    words = parts(name)
    return words.isdisjoint(_DENIALS) and (
        not words.isdisjoint(_CLAIMS) or {"same", "seed"} <= words
    )


def _enter_function(site: Site) -> tuple[ast.FunctionDef, Scope]:
    """Return the function at a site, with the scope that it opens."""
    assert isinstance(site.node, ast.FunctionDef), "functions are asked for"
    return site.node, next(each for each in site.scope.inner if each.node is site.node)


def _iterate_assertions(around: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield what is asserted there, by ``assert`` or a call named ``assert…``, each with its message."""
    for each in ast.walk(around):
        if isinstance(each, ast.Assert):
            yield each.test, each.msg
        elif isinstance(each, ast.Expr) and "assert" in last_name(each.value).lower():
            yield each.value, None


def _iterate_claimed(function: ast.FunctionDef) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """Yield what a test that claims determinism asserts, each with both sides when two things are equal."""
    if function.name.startswith("test") and _claims(function.name):
        for asserted, _ in _iterate_assertions(function):
            sides: list[ast.expr] = []
            if isinstance(asserted, ast.Call):
                sides = asserted.args[:2]
            elif isinstance(asserted, ast.Compare) and isinstance(asserted.ops[0], ast.Eq):
                sides = [asserted.left, *asserted.comparators]
            yield asserted, sides


def _is_constant(sides: list[ast.expr]) -> bool:
    return any(isinstance(each, ast.Constant) for each in sides)


@rule(
    Channel.DIVERGENCE,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Compare what the runs did, in its order, or digests of their states.",
    nodes=(ast.FunctionDef,),
    named=_NAMED,
)
def aggregate_determinism_test(site: Site) -> Iterator[Violation]:
    """A test of determinism compares sums, means or lengths and nothing else."""
    function, _ = _enter_function(site)
    compared = [sides for _, sides in _iterate_claimed(function) if not _is_constant(sides)]
    if compared and all(
        len(sides) == 2
        and all(isinstance(each, ast.Call) and last_name(each) in _AGGREGATES for each in sides)
        for sides in compared
    ):
        yield site.violation(
            f"{function.name}() compares aggregates alone.",
            "Two runs that did other things can have the same sums, means and lengths.",
            confidence=0.85,
        )


@rule(
    Channel.DIVERGENCE,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Compare states, events or their digests.",
    nodes=(ast.FunctionDef,),
    named=_NAMED,
)
def log_diff_test(site: Site) -> Iterator[Violation]:
    """A test of determinism compares what was printed or logged and nothing else."""
    function, scope = _enter_function(site)
    compared = [
        _is_of_logs(site.module, words)
        for asserted, sides in _iterate_claimed(function)
        if (words := _collect_words(asserted, scope))
        and (not _is_constant(sides) or "diff" in words)
    ]
    if compared and all(compared):
        yield site.violation(
            f"{function.name}() compares what was printed or logged alone.",
            "Runs with other states can print the same, rounded as it is.",
            confidence=0.85,
        )


def _collect_words(node: ast.AST, function: Scope) -> set[str]:
    """Return the names and texts in an expression, and in what the function's names in it are made of."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        for each in ast.walk(waiting.pop()):
            if isinstance(each, ast.Name) and each.id not in found:
                found.add(each.id)
                waiting += [one.node for one in function.bindings.get(each.id, ())]
            elif isinstance(each, ast.Attribute):
                found.add(each.attr)
            elif isinstance(each, ast.Constant) and isinstance(each.value, str):
                found.add(each.value)
    return found


def _is_of_logs(module: Module, words: set[str]) -> bool:
    """Whether it is text that was captured, or that was read from a log; a digest of it is none."""
    if any(about(each, _DIGESTS) for each in words):
        return False
    if words & _CAPTURES or ("getvalue" in words and module.speaks_of("redirect_std")):
        return True
    return any(about(each, _READERS) for each in words) and any(
        about(each, _LOGS) for each in words
    )


@rule(
    Channel.DIVERGENCE,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Compare exactly: ==, numpy.array_equal, torch.equal, or digests of the state.",
    nodes=(ast.FunctionDef,),
    named=_TESTS,
    applies=mentions("close", "Close", "lmost", "approx", "equivalence"),
)
def tolerant_determinism_test(site: Site) -> Iterator[Violation]:
    """A test of determinism compares with a tolerance."""
    function, scope = _enter_function(site)
    found = [
        each
        for asserted, message in _iterate_assertions(function)
        if _claims(function.name) or (message is not None and _speaks_of_determinism(message))
        for each in _tolerant_calls(site, asserted, scope)
    ]
    if found:
        call = min(found, key=lambda each: (each.lineno, each.col_offset))
        more = "" if len(found) == 1 else f" (and {pluralize(len(found) - 1, 'more time')})"
        yield site.violation(
            f"{function.name}() compares by {last_name(call)}{more}, which has a tolerance.",
            "Runs that differ in last bits pass, and such differences grow with every step.",
            node=call,
            confidence=0.85,
        )


def _speaks_of_determinism(message: ast.expr) -> bool:
    texts = [
        str(each.value).lower() for each in ast.walk(message) if isinstance(each, ast.Constant)
    ]
    return any(word in text for text in texts for word in ("determinis", "reproducib", "same seed"))


def _tolerant_calls(site: Site, asserted: ast.expr, scope: Scope) -> Iterator[ast.Call]:
    """Yield the tolerant comparisons in what is asserted; that two things differ needs none."""
    if isinstance(asserted, ast.UnaryOp) and isinstance(asserted.op, ast.Not):
        return
    for call in ast.walk(asserted):
        if isinstance(call, ast.Call) and _compares_near(site, call, scope):
            keywords = {each.arg: each.value for each in call.keywords}
            limits = [value for name, value in keywords.items() if name in _TOLERANCES]
            is_zero = limits and all(
                isinstance(each, ast.Constant) and each.value == 0 for each in limits
            )
            exact: Any = keywords.get("exact")
            if not is_zero and getattr(exact, "value", None) is not True:
                yield call


def _compares_near(site: Site, call: ast.Call, scope: Scope) -> bool:
    """Whether a call compares with a tolerance unless it is told to be exact, as some functions of the file do."""
    module, catalogue = site.module, site.catalogue
    called = module.names.qualified(call.func, scope)
    if catalogue.has("tolerant", called):
        return True
    is_method = isinstance(call.func, ast.Attribute) and (called or ".").startswith(".")
    if is_method and catalogue.has_method("tolerant", last_name(call)):
        return True
    function = module.loads.function(called)
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return False
    arguments = function.node.args
    named = {each.arg for each in [*arguments.args, *arguments.kwonlyargs]}
    return not named.isdisjoint({"exact", *_TOLERANCES}) and any(
        catalogue.has("tolerant", module.names.qualified(each.func, function))
        for each in ast.walk(function.node)
        if isinstance(each, ast.Call)
    )


@rule(
    Channel.DIVERGENCE,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Compare exactly: torch.equal, numpy.array_equal.",
    nodes=(ast.FunctionDef,),
    named=_TESTS,
    applies=mentions("allclose", "assert_close", "isclose"),
)
def tolerant_roundtrip_test(site: Site) -> Iterator[Violation]:
    """A test compares what was saved with what was loaded, and with a tolerance."""
    function, scope = _enter_function(site)
    if _claims(function.name) or about(function.name, _NARROWS):
        return
    called = {last_name(each) for each in ast.walk(function) if isinstance(each, ast.Call)}
    writes = {each for each in called if about(each, _WRITES)}
    if not writes or not any(about(each, _READS) for each in called - writes):
        return
    if any(about(each, _LEARNS) for each in called):
        return
    for loop in ast.walk(function):
        if not isinstance(loop, ast.For) or _WEIGHTS.isdisjoint(_collect_words(loop.iter, scope)):
            continue
        for asserted, _ in _iterate_assertions(loop):
            for call in _tolerant_calls(site, asserted, scope):
                if not any(isinstance(each, ast.Call) for each in call.args):
                    yield site.violation(
                        f"{function.name}() compares what was loaded by {last_name(call)}, which has a tolerance.",
                        "What is written and read again has the same bits; what changes them on the way passes.",
                        node=call,
                        confidence=0.75,
                    )
                    return
