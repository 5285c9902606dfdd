"""Deterministic algorithms are asked for, and cuBLAS is not told.

``torch.use_deterministic_algorithms(True)`` needs CUBLAS_WORKSPACE_CONFIG to be :4096:8 or :16:8. Without it a product
of matrices on a GPU fails with an error, or goes on with a warning only: a program that was tried on a CPU stops, or
is free, where it matters.

Nothing is said where any file of the project sets the variable.

Bad:
    import torch

    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)

or:
    import torch

    def strict(flag):
        torch.use_deterministic_algorithms(mode=flag)

Good:
    import os

    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    import torch

    torch.use_deterministic_algorithms(True)

or:
    import torch

    torch.use_deterministic_algorithms(False)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.switches import deterministic_calls, is_false, unless_any
from twice.checking.syntax.module import Module
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "cublas-workspace"
_VARIABLE = "CUBLAS_WORKSPACE_CONFIG"


def gather(module: Module) -> dict[str, Any] | None:
    """Give where deterministic algorithms are asked for, and whether the variable is named."""
    named = module.speaks_of(_VARIABLE)
    found = []
    for call, scope in deterministic_calls(module):
        name = module.names.qualified(call.func, scope)
        if name != "torch.use_deterministic_algorithms" or _is_off(call):
            continue
        found.append(
            module.site(call, scope)
            .found(
                NAME,
                f"use_deterministic_algorithms() is called and nothing sets {_VARIABLE}.",
                "On a GPU a product of matrices then fails, or keeps a workspace that changes.",
                confidence=0.8,
            )
            .to_json()
        )
    return {"named": named, "found": found} if named or found else None


def _is_off(call: ast.Call) -> bool:
    given = [*call.args[:1], *(each.value for each in call.keywords if each.arg == "mode")]
    return bool(given) and is_false(given[0])


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Found]]:
    """Report the calls of a project that never names the variable."""
    return unless_any(facts, "named")


RULE = Rule(
    name=NAME,
    channel=Channel.GPU,
    breaks=Breaks.BIT_EXACT,
    severity=Severity.MEDIUM,
    remedy='Set os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8" before torch is used.',
    gather=gather,
    conclude=conclude,
)
