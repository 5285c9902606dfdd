"""Deterministic algorithms are asked for, and a warning is enough where there is none.

With ``warn_only=True`` an operation without a deterministic kernel runs all the same and prints a warning once. The
run goes on, differs, and the warning is lost in its log.

Bad:
    import torch

    torch.use_deterministic_algorithms(True, warn_only=True)

or:
    import torch

    torch.set_deterministic_debug_mode("warn")

Good:
    import os
    import torch

    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.use_deterministic_algorithms(True)

or:
    import torch

    torch.use_deterministic_algorithms(False, warn_only=True)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Fix, Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.switches import deterministic_calls, is_false, is_true
from twice.checking.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "warn-only"


def look(site: Site) -> Iterator[Found]:
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
    name=NAME,
    channel=Channel.GPU,
    breaks=Breaks.BIT_EXACT,
    severity=Severity.MEDIUM,
    remedy="Leave warn_only out, and replace the operations that then fail.",
    nodes=(ast.Module,),
    look=look,
)
