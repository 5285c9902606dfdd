"""Of the switches for a deterministic GPU only some are thrown.

``cudnn.deterministic`` orders convolutions and nothing else. Scatter, index_add, interpolation and
attention keep kernels that add up in any order, cuBLAS may choose another workspace, and
``cudnn.benchmark`` chooses kernels by a race. The line looks as if the matter were settled.

Nothing is said where ``torch.use_deterministic_algorithms`` is called anywhere in the project.

Bad:
    import torch

    torch.manual_seed(1)
    torch.backends.cudnn.deterministic = True

or:
    import torch
    from torch.backends import cudnn

    def reproducible(flag):
        cudnn.deterministic = flag
        cudnn.benchmark = False

Good:
    import os
    import torch

    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False

or:
    import torch

    torch.backends.cudnn.deterministic = False
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.switches import attributes, is_false, ordered_packages, unless_any
from twice.checking.syntax.module import Module
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


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Found]]:
    """Report the places, unless the project throws the other switches somewhere."""
    return unless_any(facts, "full")


RULE = Rule(
    name=NAME,
    channel=Channel.GPU,
    breaks=Breaks.BIT_EXACT,
    severity=Severity.MEDIUM,
    remedy="Call torch.use_deterministic_algorithms(True) and set CUBLAS_WORKSPACE_CONFIG=:4096:8 as well.",
    gather=gather,
    conclude=conclude,
)
