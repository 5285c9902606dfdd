"""The rules about determinism tests: what a test claims, against what and how it compares.

Invariant: a comparison with a constant says nothing of a second run and does not count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, Final

from twice.checker.analysis.assertions import (
    CLAIMS,
    Assertion,
    TestFunction,
    are_twins,
    is_aggregate,
)
from twice.checker.findings import Violation
from twice.checker.rule import Breaks, mentions
from twice.checker.rules.engine import rule
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import about, last_name, parts
from twice.foundation.channels import Channel
from twice.foundation.printable import pluralize
from twice.foundation.severity import Severity

_TESTS: Final = frozenset(
    ["test", "tests", "check", "checks", "verify", "assert", "validate", "ensure"]
)
_COMPARES: Final = frozenset(["diff", "compare", "equal", "same", "match", "identical"])
_TOLERANCES: Final = {"rtol", "atol", "rel", "abs", "rel_tol", "abs_tol", "delta", "tolerance"}
_CAPTURES: Final = {"capsys", "capfd", "caplog", "capsysbinary", "readouterr", "stdout", "stderr"}
_READERS: Final = frozenset(["read", "readlines", "open", "cmp", "diff", "ndiff"])
_LOG: Final = re.compile(
    r"(?:\A|[_./])(?:logs?|transcripts?|console)(?:_?(?:\d|a|b|one|two|first|second|left|right|lines|text|file|path|out|output))*\Z",
    re.IGNORECASE,
)
# A digest of a log stands for the states in it, and a log of events is what should be compared.
_STATES: Final = frozenset(
    ["digest", "digests", "hash", "hexdigest", "sha256", "checksum", "event", "events"]
)
_WRITES: Final = frozenset(
    ["save", "dump", "dumps", "offload", "serialize", "export", "checkpoint"]
)
_READS: Final = frozenset(
    ["load", "loads", "loader", "reload", "restore", "deserialize", "offloaded", "from", "resume", "deepcopy"]
)  # fmt: skip
_NARROWS: Final = frozenset(
    ["quant", "quantized", "quantize", "int", "half", "bf", "fp", "merge", "convert", "conversion", "dtype", "bits", "precision", "onnx", "fuse", "fused", "compile"]
)  # fmt: skip
_LEARNS: Final = frozenset({"step", "backward", "train", "fit"})
_CONTINUES: Final = frozenset({"resume", "resumed", "resuming"})
_RUNS: Final = frozenset(
    ["sim", "run", "trace", "history", "trajectory", "rollout", "snapshot", "checkpoint"]
)
_EQUALITIES: Final = {"equal", "equals", "is_equal"}
_TWIN: Final = re.compile(r"_?(?:\d|a|b|one|two|first|second|left|right|other)\Z")
_NO_COMPARISON: Final = (
    "isnotnone", "notequal", "notalmost", "greater", "isinstance", "assertin", "exists",
)  # fmt: skip


def _read_test(site: Site) -> TestFunction:
    assert isinstance(site.node, ast.FunctionDef), "functions are asked for"
    return TestFunction(
        site.node, next(each for each in site.scope.inner if each.node is site.node)
    )


@rule(
    Channel.DIVERGENCE,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Compare what the runs did, in its order, or digests of their states.",
    nodes=(ast.FunctionDef,),
    named=frozenset({"test"}),
    applies=mentions("eterminis", "eproduc", "seed"),
)
def aggregate_determinism_test(site: Site) -> Iterator[Violation]:
    """A test of determinism compares sums, lengths, keys or sets and nothing else."""
    test = _read_test(site)
    claims = test.claims or {"with", "seed"} <= parts(test.node.name)
    compared = [
        (each, test.expand_sides(each))
        for each in test.assertions
        if (claims or each.claims) and len(each.sides) == 2 and not test.has_constant(each)
    ]
    if not all(any(map(is_aggregate, sides)) for _, sides in compared) or any(
        isinstance(part, (ast.Lt, ast.LtE))
        for each in test.assertions
        for part in ast.walk(each.tested)
    ):
        return  # It compares more than that, if near.
    for each, sides in compared:
        if each.is_equality and all(map(is_aggregate, sides)):
            yield site.violation(
                f"{test.node.name}() compares aggregates alone.",
                "Runs that did other things, or in another order, can have the same sums, lengths, keys and sets.",
                node=each.node,
                confidence=0.85,
            )


@rule(
    Channel.DIVERGENCE,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Assert that two runs with the same seed are equal, or rename the test.",
    nodes=(ast.FunctionDef,),
    named=CLAIMS | _CONTINUES,
)
def determinism_test_without_comparison(site: Site) -> Iterator[Violation]:
    """A test that is called one of determinism compares no two runs."""
    test = _read_test(site)
    if not (
        test.node.name.startswith("test") and (test.is_named_so or any(map(_continues, test.calls)))
    ):
        return
    own = {id(getattr(each.tested, "operand", each.tested)) for each in test.assertions}
    helpers = _TESTS | _COMPARES | {"raises"}
    if any(id(each) not in own and about(last_name(each), helpers) for each in test.calls):
        return  # It may compare.
    if any(_may_compare(test, each) for each in test.assertions) or not test.assertions:
        return
    if test.is_named_so and all(each.is_equality for each in test.assertions):
        return
    first = test.assertions[-1]
    for each in reversed(test.assertions[:-1]):  # The first of those at the end.
        if first.node.lineno - (each.node.end_lineno or 0) <= 1:
            first = each
    yield site.violation(
        f"{test.node.name}() compares no two runs.",
        "It passes whether the same seed, or going on, gives the same run or not.",
        node=first.node,
        confidence=0.85,
    )


def _continues(call: ast.Call) -> bool:
    """Whether a call goes on with a run that it is given: ``run(resume=first)``."""
    return any(
        about(each.arg or "", _CONTINUES) and not isinstance(each.value, ast.Constant)
        for each in call.keywords
    )


def _may_compare(test: TestFunction, one: Assertion) -> bool:
    """Whether an assertion may compare two runs, or one with a recorded one; a number of things is no run."""
    tested = one.tested
    if one.is_equality:
        return not any(
            isinstance(each, ast.Constant) and type(each.value) in {int, bool}
            for each in test.expand_sides(one)
        )
    if isinstance(tested, ast.UnaryOp):
        return False
    if isinstance(tested, ast.Compare):
        return not isinstance(tested.ops[0], (ast.NotEq, ast.IsNot, ast.Gt, ast.GtE, ast.In))
    names = [last_name(each).lower() for each in (tested, *one.sides[:1])]
    return not any(word in each for each in names for word in _NO_COMPARISON)


@rule(
    Channel.DIVERGENCE,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Compare states, events or their digests.",
    nodes=(ast.FunctionDef,),
    named=_TESTS | _COMPARES,
    applies=mentions("log", "std", "transcript", "console", "caps", "capf"),
)
def log_diff_test(site: Site) -> Iterator[Violation]:
    """A test of determinism compares what was printed or logged and nothing else."""
    test = _read_test(site)
    compared = [
        each
        for each in test.assertions
        if len(each.sides) == 2 and (last_name(each.tested) == "cmp" or not test.has_constant(each))
    ]
    if compared and all(_compares_logs(site.module, test, each) for each in compared):
        yield site.violation(
            f"{test.node.name}() compares what was printed or logged alone.",
            "Runs with other states can print the same, rounded as it is.",
            node=compared[0].node,
            confidence=0.85,
        )


def _compares_logs(module: Module, test: TestFunction, one: Assertion) -> bool:
    """Whether text that was captured or logged is compared; with another log, that is a claim by itself."""
    if test.is_named_so and _is_of_logs(module, _collect_words(one.tested, test.scope)):
        return True
    sides = [
        {last_name(side), *_collect_words(full, test.scope, is_deep=False)}
        for side, full in zip(one.sides, test.expand_sides(one), strict=True)
    ]
    return one.is_equality and all(
        (any(map(_LOG.search, words)) or not words.isdisjoint(_CAPTURES - {"stdout", "stderr"}))
        and not any(about(each, _STATES) for each in words)
        for words in sides
    )


def _collect_words(node: ast.AST, function: Scope, *, is_deep: bool = True) -> set[str]:
    """Return the names and texts in an expression, and in what the function's names in it are made of."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        for each in ast.walk(waiting.pop()):
            if isinstance(each, ast.Name) and each.id not in found:
                found.add(each.id)
                if is_deep:
                    waiting += [one.node for one in function.bindings.get(each.id, ())]
            elif isinstance(each, ast.Attribute) and each.attr != "log":  # A logarithm, mostly.
                found.add(each.attr)
            elif isinstance(each, ast.Constant) and isinstance(each.value, str):
                found.add(each.value)
    return found


def _is_of_logs(module: Module, words: set[str]) -> bool:
    if any(about(each, _STATES) for each in words):
        return False
    if words & _CAPTURES or ("getvalue" in words and module.speaks_of("redirect_std")):
        return True
    return any(about(each, _READERS) for each in words) and any(map(_LOG.search, words))


@rule(
    Channel.DIVERGENCE,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Compare exactly: ==, numpy.array_equal, torch.equal, or digests of the state.",
    nodes=(ast.FunctionDef,),
    named=_TESTS | _COMPARES | {"equals"},
    applies=mentions("close", "Close", "lmost", "approx", "equivalence"),
)
def tolerant_determinism_test(site: Site) -> Iterator[Violation]:
    """A test of determinism, or a comparison of two runs, has a tolerance."""
    test = _read_test(site)
    found: list[ast.Call] = []
    if _takes_two_runs(test.node):
        found = [each for each in test.calls if _is_tolerant(site, each, test.scope)]
    for one in test.assertions:
        if test.is_named_so or one.claims or _repeats(site, test, one) or (
            test.claims and not test.has_constant(one)
        ):  # fmt: skip
            found += _find_tolerant(site, test, one)
    if found:
        call = min(found, key=lambda each: (each.lineno, each.col_offset))
        more = "" if len(found) == 1 else f" (and {pluralize(len(found) - 1, 'more time')})"
        yield site.violation(
            f"{test.node.name}() compares by {last_name(call)}{more}, which has a tolerance.",
            "Runs that differ in last bits pass, and such differences grow with every step.",
            node=call,
            confidence=0.85,
        )


def _takes_two_runs(node: ast.FunctionDef) -> bool:
    """Whether a function compares two runs that it is given, or any two things: ``diff_runs(sim1, sim2)``, ``equal(a, b)``."""
    if node.name.strip("_") in _EQUALITIES:
        return len(node.args.args) == 2
    names = [each.arg for each in node.args.args if each.arg != "self"][:2]
    stems = {_TWIN.sub("", each) for each in names}
    is_pair = len(names) == 2 and len(stems) == 1 and about(names[0], _RUNS)
    return is_pair and about(node.name, _COMPARES)


def _repeats(site: Site, test: TestFunction, one: Assertion) -> bool:
    """Whether both sides were computed by the same expression, one right after the other."""
    sides = test.expand_sides(one)
    return (
        len(sides) == 2
        and isinstance(sides[0], ast.Call)
        and not (site.qualified(sides[0].func) or "").startswith(("numpy.", "torch."))
        and abs(sides[0].lineno - sides[1].lineno) <= 1
        and ast.dump(sides[0]) == ast.dump(sides[1])
    )


def _find_tolerant(site: Site, test: TestFunction, one: Assertion) -> list[ast.Call]:
    """List the tolerant comparisons in what is asserted; that two things differ needs none."""
    if isinstance(one.tested, ast.UnaryOp) and isinstance(one.tested.op, ast.Not):
        return []
    calls = [each for each in test.tested_parts(one) if isinstance(each, ast.Call)]
    return [each for each in calls if _is_tolerant(site, each, test.scope)]


def _is_tolerant(site: Site, call: ast.Call, scope: Scope) -> bool:
    if not _compares_near(site, call, scope):
        return False
    keywords = {each.arg: each.value for each in call.keywords}
    limits = [value for name, value in keywords.items() if name in _TOLERANCES]
    is_zero = limits and all(isinstance(each, ast.Constant) and each.value == 0 for each in limits)
    exact: Any = keywords.get("exact")
    return not is_zero and getattr(exact, "value", None) is not True


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
    test = _read_test(site)
    if test.is_named_so or about(test.node.name, _NARROWS):
        return
    called = {last_name(each) for each in test.calls}
    reads = [each for each in test.calls if about(last_name(each), _READS)]
    if (
        not reads
        or not any(about(each, _WRITES) for each in called)
        or any(about(each, _NARROWS) for each in called)
    ):
        return
    learns = [each.lineno for each in test.calls if about(last_name(each), _LEARNS)]
    first, loaded = min(each.lineno for each in reads), test.find_loaded(reads)
    for one in test.assertions:
        for call in _find_tolerant(site, test, one):
            sides = [test.expand(each, call.lineno) for each in call.args[:2]]
            every = (each for one in (*call.args[:2], *sides) for each in ast.walk(one))
            names = {each.id for each in every if isinstance(each, ast.Name)}
            if (
                are_twins(sides)
                and not names.isdisjoint(loaded)
                and not any(first < each <= call.lineno for each in learns)
            ):
                yield site.violation(
                    f"{test.node.name}() compares what was loaded by {last_name(call)}, which has a tolerance.",
                    "What is written and read again has the same bits; what changes them on the way passes.",
                    node=call,
                    confidence=0.75,
                )
                return


@rule(
    Channel.DIVERGENCE,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Compare the keys or the lengths of both first.",
    nodes=(ast.FunctionDef,),
    named=frozenset({"__eq__"}),
)
def one_sided_equality(site: Site) -> Iterator[Violation]:
    """An equality goes through one side alone, and what the other has besides is not seen."""
    node = site.node
    assert isinstance(node, ast.FunctionDef), "functions are asked for"
    loops = [each for each in node.body if isinstance(each, ast.For)]
    names = [each.arg for each in node.args.args]
    if len(loops) != 1 or len(names) != 2 or last_name(loops[0].iter) == "zip":
        return
    own, other = names
    source = {each.id for each in ast.walk(loops[0].iter) if isinstance(each, ast.Name)}
    called = {last_name(each) for each in ast.walk(node) if isinstance(each, ast.Call)}
    looks_up = any(
        isinstance(each, ast.Subscript) and getattr(each.value, "id", "") == other
        for each in ast.walk(loops[0])
    )
    ends_true = getattr(getattr(node.body[-1], "value", None), "value", None) is True
    knows_both = called & {"len", "keys", "set", "super", "__eq__"}
    if source == {own} and looks_up and ends_true and not knows_both:
        yield site.violation(
            f"{site.scope.name}.__eq__() looks at what {own} has and not at what {other} has besides.",
            "A run that recorded more than the other compares as equal to it.",
            node=loops[0],
            confidence=0.85,
        )
