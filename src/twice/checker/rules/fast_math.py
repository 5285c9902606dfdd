"""The compiler may reorder floating-point arithmetic."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.switches import is_false
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Scope
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "fast-math"
_OPTIONS = {"-ffast-math", "-Ofast", "/fp:fast", "-funsafe-math-optimizations", "--use_fast_math"}
_SWITCHES = ("xla_cpu_enable_fast_math=true", "xla_gpu_enable_fast_min_max=true")
_WORDS = ("fast-math", "-Ofast", "fp:fast", "fastmath", "unsafe-math", "fast_math", "flush_denormal", "enable_fast_min_max")  # fmt: skip


def look(site: Site) -> Iterator[Violation]:
    """Look at a whole file."""
    module = site.module
    for node, scope, name in module.calls:
        yield from _compiled(module, node, scope, name)
    for text in ast.walk(module.tree):
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            words = _option(text.value)
            if words is not None and not _is_docstring(module, text):
                yield _found(module, text, module.survey.root, f"{words} lets")


def _compiled(
    module: Module, call: ast.Call, scope: Scope, name: str | None
) -> Iterator[Violation]:
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


def _found(module: Module, node: ast.AST, scope: Scope, words: str) -> Violation:
    return module.site(node, scope).found(
        NAME,
        f"{words} the machine round in its own way.",
        "Which shortcuts are taken depends on the compiler and the processor.",
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.FLOATING_POINT,
        Breaks.CROSS_HOST,
        Severity.MEDIUM,
        "Compile without it, or promise the same bits on one host only.",
        __doc__ or "",
    ),
    nodes=(ast.Module,),
    look=look,
    applies=mentions(*_WORDS),
)
