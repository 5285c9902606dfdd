"""cuDNN chooses its kernels by a race."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Fix, Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.switches import Setting, attributes, is_false, is_true
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "cudnn-benchmark"
_BENCHMARKS = frozenset({"benchmark", "benchmarks", "bench", "profiling"})
_CAREFUL = frozenset({"deterministic", "determinism", "reproducible", "seed", "strict"})


def look(site: Site) -> Iterator[Violation]:
    """Look at what a whole file sets."""
    module = site.module
    for each in attributes(module):
        if each.name != "torch.backends.cudnn.benchmark" or is_false(each.value):
            continue
        if each.value is None or _is_careful(each):
            continue
        inner = module.site(each.node, each.scope)
        fix = None
        if is_true(each.value):
            fix = Fix("Set False", safe=False, edits=(inner.replaced(each.value, "False"),))
        yield inner.found(
            NAME,
            "cudnn.benchmark lets a race choose the kernels.",
            "Which kernel is fastest depends on the moment, and each rounds in its own way.",
            reach=Reach.UNSEEN if _times_kernels(module.path) else Reach.LOUD,
            confidence=0.9 if is_true(each.value) else 0.6,
            fix=fix,
        )


def _times_kernels(path: str) -> bool:
    """Whether the program is there to measure speed, as its path says."""
    return about(path.replace("/", "_"), _BENCHMARKS)


def _is_careful(each: Setting) -> bool:
    """Whether it depends on a word for determinism: ``not deterministic``, ``seed is None``."""
    assert each.value is not None, "looked at before"
    return any(
        about(last_name(node), _CAREFUL)
        for node in ast.walk(each.value)
        if isinstance(node, (ast.Name, ast.Attribute))
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.GPU,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Set torch.backends.cudnn.benchmark = False.",
        __doc__ or "",
    ),
    nodes=(ast.Module,),
    look=look,
)
