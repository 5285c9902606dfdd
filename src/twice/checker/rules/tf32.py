"""Products are computed with fewer digits on some GPUs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.switches import attributes, is_false
from twice.checker.syntax.module import Module, Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "tf32"
_CALLS = {
    "torch.set_float32_matmul_precision": {"high", "medium"},
    "tensorflow.config.experimental.enable_tensor_float_32_execution": {"True"},
}
_WHY = "A GPU without TF32 computes the same product with more digits."


def look(site: Site) -> Iterator[Violation]:
    """Look at what a whole file sets."""
    module = site.module
    for each in attributes(module):
        if each.name.endswith(".allow_tf32") and not is_false(each.value):
            inner = module.site(each.node, each.scope)
            yield inner.found(NAME, f"{each.name} allows products with fewer digits.", _WHY)
    if module.speaks_of("float32_matmul_precision", "tensor_float_32"):
        yield from _called(module)


def _called(module: Module) -> Iterator[Violation]:
    for node, scope, name in module.calls:
        loose = _CALLS.get(name or "")
        level = node.args[0] if loose and node.args else None
        if loose and isinstance(level, ast.Constant) and str(level.value) in loose:
            yield module.site(node, scope).found(
                NAME, f"{module.shown(node)} allows products with fewer digits.", _WHY
            )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.GPU,
        Breaks.CROSS_HOST,
        Severity.MEDIUM,
        'Set allow_tf32 = False, or torch.set_float32_matmul_precision("highest").',
        __doc__ or "",
    ),
    nodes=(ast.Module,),
    look=look,
)
