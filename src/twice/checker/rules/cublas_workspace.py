"""Deterministic algorithms are asked for, and cuBLAS is not told."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.switches import deterministic_calls, is_false, unless_any
from twice.checker.syntax.module import Module
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


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    """Report the calls of a project that never names the variable."""
    return unless_any(facts, "named")


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.GPU,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        'Set os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8" before torch is used.',
        __doc__ or "",
    ),
    gather=gather,
    conclude=conclude,
)
