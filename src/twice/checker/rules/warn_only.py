"""Deterministic algorithms are asked for, and a warning is enough where there is none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Fix, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.switches import deterministic_calls, is_false, is_true
from twice.checker.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "warn-only"


def look(site: Site) -> Iterator[Violation]:
    """Look at what a whole file asks for."""
    module = site.module
    for call, scope in deterministic_calls(module):
        inner = module.site(call, scope)
        loose = inner.keyword("warn_only")
        level = call.args[0] if call.args else None
        if is_true(loose) and not is_false(level):
            assert loose is not None, "it is True"
            fix = Fix("Fail instead", safe=False, edits=(inner.replaced(loose, "False"),))
        elif (
            isinstance(level, ast.Constant)
            and level.value in {"warn", 1}
            and level.value is not True
            and (inner.called or "").endswith("debug_mode")
        ):
            fix = Fix("Fail instead", safe=False, edits=(inner.replaced(level, '"error"'),))
        else:
            continue
        yield inner.found(
            NAME,
            "An operation without a deterministic kernel only warns.",
            "It runs as it would have without the switch.",
            fix=fix,
        )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.GPU,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Leave warn_only out, and replace the operations that then fail.",
        __doc__ or "",
    ),
    nodes=(ast.Module,),
    look=look,
)
