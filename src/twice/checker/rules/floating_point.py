"""The rules about floating-point arithmetic: sums in an order by chance, and what rounds another way elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, ProjectFacts, mentions
from twice.checker.rules.engine import project_rule, rule
from twice.checker.rules.settings import find_unsettled, is_false, is_true, read_settings
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_OPTIONS: Final = {"-ffast-math", "-Ofast", "/fp:fast", "-funsafe-math-optimizations", "--use_fast_math"}  # fmt: skip
_SWITCHES: Final = ("xla_cpu_enable_fast_math=true", "xla_gpu_enable_fast_min_max=true")
_OPTION_LENGTH_MAX: Final = 400
_STEPPING: Final = frozenset(
    ["step", "update", "dynamics", "dsdt", "derivative", "derivatives", "integrate", "advance", "tick", "simulate", "transition", "rk4", "move", "physics"]
)  # fmt: skip
_PINNING: Final = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"}  # fmt: skip


@rule(
    Channel.FLOATING_POINT,
    Breaks.CROSS_HOST,
    Severity.MEDIUM,
    "Compile without it, or promise the same bits on one host only.",
    nodes=(ast.Module,),
    applies=mentions(
        "fast-math",
        "fast_math",
        "fastmath",
        "-Ofast",
        "fp:fast",
        "unsafe-math",
        "flush_denormal",
        "fast_min_max",
    ),
)
def fast_math(site: Site) -> Iterator[Violation]:
    """The compiler may reorder floating-point arithmetic."""
    module, catalogue = site.module, site.catalogue
    asked: list[tuple[ast.AST, Scope, str]] = []
    for call, scope, name in module.calls:
        if catalogue.has("compiling", name):
            values = [each.value for each in call.keywords if each.arg == "fastmath"]
            asked += [(each, scope, "fastmath") for each in values if not is_false(each)]
        elif catalogue.has("flushing", name) and call.args and not is_false(call.args[0]):
            asked.append((call, scope, "Flushing denormal numbers"))
    for text in ast.walk(module.tree):
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            is_docstring = isinstance(module.survey.parents.get(text), ast.Expr)
            option = "" if is_docstring else _find_fast_option(text.value)
            asked += [(text, module.survey.root, option)] if option else []
    for node, scope, what in asked:
        yield site.at(node, scope).violation(
            f"{what} lets the machine round in its own way.",
            "Which shortcuts are taken depends on the compiler and the processor.",
        )


def _find_fast_option(text: str) -> str:
    """Return the option for fast arithmetic in a text of options; "" in prose about them."""
    if len(text) > _OPTION_LENGTH_MAX:
        return ""
    words = text.replace(",", " ").split()
    plain = words if all(each[0] in "-/" for each in words) else []
    found = [each for each in plain if each in _OPTIONS] + [
        each for each in _SWITCHES if each in text
    ]
    return found[0] if found else ""


@rule(
    Channel.FLOATING_POINT,
    Breaks.CROSS_HOST,
    Severity.MEDIUM,
    "Use a function whose bits are fixed (a table, a polynomial), round the state, or promise one host only.",
    calls=("transcendental",),
    once_per_function=True,
)
def libm_transcendental(site: Site) -> Iterator[Violation]:
    """A function whose last bit no standard fixes is part of a state."""
    method = site.scope.method
    if method is None or not about(method.name, _STEPPING):
        return
    outcome = site.value()
    if outcome.use > Use.TELEMETRY:
        yield site.violation(
            f"{site.called}() is part of what {method.name}() computes.",
            "Its last bit differs between C libraries, builds of numpy and processors, and the state keeps it.",
            outcome=outcome,
            confidence=0.7,
        )


def _adds_up(node: ast.For | ast.AsyncFor, _: Scope) -> bool:
    return any(isinstance(each, ast.AugAssign) for each in node.body)


@rule(
    Channel.FLOATING_POINT,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Sort before summing, or use math.fsum.",
    calls=("summing",),
    nodes=(ast.For, ast.AsyncFor),
    suits=_adds_up,
)
def order_dependent_sum(site: Site) -> Iterator[Violation]:
    """Floating-point numbers are added up in an order by chance."""
    why = "Each addition rounds, so another order gives another sum."
    if isinstance(site.node, (ast.For, ast.AsyncFor)):
        order = _name_order(site, site.node.iter)
        for each in site.node.body if order else ():
            if isinstance(each, ast.AugAssign) and isinstance(each.op, (ast.Add, ast.Sub)):
                total, term = site.kind(each.target), site.kind(each.value)
                is_whole = term is not None and term.name in {"int", "bool"}
                is_total = total is not None and total.name == "float" and not is_whole
                if is_total or _is_float(site, each.value):
                    shown = site.module.shown(each.target)
                    message = f"{shown} adds up floats in the order of {order}."
                    yield site.violation(message, why, node=each, confidence=0.85)
    elif site.call.args:
        given = source = site.call.args[0]
        kind = site.kind(given)
        is_float = kind is not None and kind.element == "float"
        if isinstance(given, (ast.GeneratorExp, ast.ListComp)):
            source = given.generators[0].iter
            is_float = is_float or _is_float(site, given.elt)
        order = _name_order(site, source) if is_float else ""
        if order:
            message = f"Floats are summed in the order of {order}."
            yield site.violation(message, why, outcome=site.value(), confidence=0.85)


def _name_order(site: Site, source: ast.expr) -> str:
    """Name in words an iterable whose order is due to chance; "" for another."""
    kind = site.kind(source)
    if kind is not None and kind.name == "set" and kind.element not in {"int", "bool"}:
        return "a set"
    if isinstance(source, ast.Call):
        called = site.qualified(source.func)
        if site.catalogue.has("completion-order", called) or last_name(source) == "imap_unordered":
            return "what is finished first"
        if site.catalogue.has("listing", called) and called not in {"os.walk", "os.fwalk"}:
            return "a listing of files"
    return ""


def _is_float(site: Site, node: ast.expr) -> bool:
    """Whether a term is plainly a float: made by float(), a product with one, a division."""
    kind = site.kind(node)
    if kind is not None:
        return kind.name == "float"
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div) or any(
            _is_float(site, each) for each in (node.left, node.right)
        )
    if not isinstance(node, ast.Call):
        return False
    called = site.qualified(node.func)
    return called == "math.sqrt" or site.catalogue.has("transcendental", called)


@rule(
    Channel.FLOATING_POINT,
    Breaks.BIT_EXACT,
    Severity.MEDIUM,
    "Sum in one thread, or into one cell for each of a fixed number of chunks, added in order.",
    nodes=(ast.For,),
    applies=mentions("prange"),
)
def parallel_reduction(site: Site) -> Iterator[Violation]:
    """Threads add up parts of a sum, and the number of threads decides which parts."""
    loop, function = site.node, site.scope.node
    assert isinstance(loop, ast.For), "asked for"
    if not isinstance(loop.iter, ast.Call) or not isinstance(function, ast.FunctionDef):
        return
    if site.qualified(loop.iter.func) not in {"numba.prange", "numba.misc.special.prange"}:
        return
    decorators = [each for each in function.decorator_list if isinstance(each, ast.Call)]
    compiled = [
        each for each in decorators if site.catalogue.has("compiling", site.qualified(each.func))
    ]
    if not any(
        one.arg == "parallel" and is_true(one.value) for each in compiled for one in each.keywords
    ):
        return
    for each in loop.body:
        name = _find_reduced_name(each)
        if name:
            yield site.violation(
                f"{name} is summed by threads, each its own share.",
                "The number of threads decides which terms are added first.",
                node=each,
            )


def _find_reduced_name(statement: ast.stmt) -> str:
    """Return the name that a statement adds to; "" when it adds to none, or counts."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        value = statement.value
        is_count = isinstance(value, ast.Constant) and isinstance(value.value, int)
        return "" if is_count else statement.target.id
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
        target, left = statement.targets[0], statement.value.left
        if isinstance(target, ast.Name) and isinstance(left, ast.Name) and left.id == target.id:
            return target.id
    return ""


def gather_threads(module: Module) -> dict[str, Any] | None:
    """Give whether a file sets the number of threads, starts a program, or calls linear algebra."""
    pins = any(each.name in _PINNING for each in read_settings(module, "variable"))
    pinning, algebra = (
        module.catalogue.names(name) for name in ("pinning-threads", "linear-algebra")
    )
    found: list[Any] = []
    for node, scope, name in module.calls:
        pins = pins or name in pinning
        if name in algebra and not found:
            one = Site(module, node, scope, "unpinned-blas-threads").violation(
                f"Nothing sets the number of threads that {name}() and its like run on.",
                "Another number of threads adds up in other shares, and the result is rounded another way.",
                confidence=0.7,
            )
            found.append(["threads", one.to_json()])
    if not pins and not found:
        return None
    sets = ["threads"] if pins else []
    places = {"unpinned-blas-threads": found} if found else {}
    return {"sets": sets, "found": places, "starts": module.speaks_of("__main__")}


@project_rule(
    Channel.FLOATING_POINT,
    Breaks.BIT_EXACT,
    Severity.LOW,
    "Set OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and MKL_NUM_THREADS before numpy is imported, or use threadpoolctl.",
    gather=gather_threads,
)
def unpinned_blas_threads(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """Linear algebra runs on as many threads as the machine has."""
    places = sorted(
        find_unsettled(facts, "unpinned-blas-threads"),
        key=lambda each: (not facts[each[0]]["starts"], each[0]),
    )
    yield from places[:1]  # One for the project: where it starts, if that is seen.
