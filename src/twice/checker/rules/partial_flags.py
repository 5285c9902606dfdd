"""Of the switches for a deterministic GPU only some are thrown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.switches import attributes, is_false, ordered_packages, unless_any
from twice.checker.syntax.module import Module
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "partial-flags"


def gather(module: Module) -> dict[str, Any] | None:
    """Give where cuDNN alone is made deterministic, and whether more is."""
    full = "torch" in ordered_packages(module)
    settings = attributes(module)
    steady = any(
        each.name == "torch.backends.cudnn.benchmark" and is_false(each.value) for each in settings
    )
    found = []
    for each in settings:
        if each.name != "torch.backends.cudnn.deterministic" or is_false(each.value):
            continue
        missing = ["torch.use_deterministic_algorithms(True)", "CUBLAS_WORKSPACE_CONFIG"]
        if not steady:
            missing.append("cudnn.benchmark = False")
        found.append(
            module.site(each.node, each.scope)
            .found(
                NAME,
                f"Only cudnn.deterministic is set; {', '.join(missing[:-1])} and {missing[-1]} are not.",
                "On a GPU, kernels that add up in any order stay allowed.",
            )
            .to_json()
        )
    return {"full": full, "found": found} if full or found else None


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    """Report the places, unless the project throws the other switches somewhere."""
    return unless_any(facts, "full")


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.GPU,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Call torch.use_deterministic_algorithms(True) and set CUBLAS_WORKSPACE_CONFIG=:4096:8 as well.",
        __doc__ or "",
    ),
    gather=gather,
    conclude=conclude,
)
