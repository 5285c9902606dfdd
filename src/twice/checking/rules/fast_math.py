"""The compiler may reorder floating-point arithmetic.

With fast-math a compiler adds in another order, fuses a product with a sum and drops the rules for infinities;
which of these it does depends on its version and on the processor. Flushing denormal numbers is a switch of the
processor and of the thread that it is set in.

Bad:
    from numba import njit

    @njit(fastmath=True)
    def total(values):
        found = 0.0
        for value in values:
            found += value
        return found

or:
    from setuptools import Extension

    extension = Extension("solver", ["solver.c"], extra_compile_args=["-O3", "-ffast-math"])

or:
    import os

    os.environ["XLA_FLAGS"] = "--xla_cpu_enable_fast_math=true"

Good:
    from numba import njit

    @njit(cache=True, fastmath=False)
    def total(values):
        found = 0.0
        for value in values:
            found += value
        return found

or:
    import os

    os.environ["XLA_FLAGS"] = "--xla_cpu_enable_fast_math=false"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule, mentions
from twice.checking.rules.switches import is_false
from twice.checking.syntax.module import Module, Site
from twice.checking.syntax.survey import Scope
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "fast-math"
_OPTIONS = {"-ffast-math", "-Ofast", "/fp:fast", "-funsafe-math-optimizations", "--use_fast_math"}
_SWITCHES = ("xla_cpu_enable_fast_math=true", "xla_gpu_enable_fast_min_max=true")
_WORDS = ("fast-math", "-Ofast", "fp:fast", "fastmath", "unsafe-math", "fast_math", "flush_denormal", "enable_fast_min_max")  # fmt: skip


def look(site: Site) -> Iterator[Found]:
    """Look at a whole file."""
    module = site.module
    for node, scope, name in module.calls:
        yield from _compiled(module, node, scope, name)
    for text in ast.walk(module.tree):
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            words = _option(text.value)
            if words is not None and not _is_docstring(module, text):
                yield _found(module, text, module.survey.root, f"{words} lets")


def _compiled(module: Module, call: ast.Call, scope: Scope, name: str | None) -> Iterator[Found]:
    if module.catalogue.has("compiling", name):
        for each in call.keywords:
            if each.arg == "fastmath" and not is_false(each.value):
                yield _found(module, each.value, scope, "fastmath lets")
    elif module.catalogue.has("flushing", name) and call.args and not is_false(call.args[0]):
        yield _found(module, call, scope, "Flushing denormal numbers lets")


def _option(text: str) -> str | None:
    if len(text) > 400:
        return None
    words = text.replace(",", " ").split()
    if all(each[0] in "-/" for each in words):  # Options, no prose about them.
        for word in words:
            if word in _OPTIONS:
                return word
    return next((each for each in _SWITCHES if each in text), None)


def _is_docstring(module: Module, node: ast.Constant) -> bool:
    return isinstance(module.survey.parents.get(node), ast.Expr)


def _found(module: Module, node: ast.AST, scope: Scope, words: str) -> Found:
    return module.site(node, scope).found(
        NAME,
        f"{words} the machine round in its own way.",
        "Which shortcuts are taken depends on the compiler and the processor.",
    )


RULE = Rule(
    name=NAME,
    channel=Channel.FLOATING_POINT,
    breaks=Breaks.CROSS_HOST,
    severity=Severity.MEDIUM,
    remedy="Compile without it, or promise the same bits on one host only.",
    nodes=(ast.Module,),
    look=look,
    applies=mentions(*_WORDS),
)
