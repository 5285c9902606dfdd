"""A data loader shuffles by torch's process-wide stream."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unseeded-worker"


def look(site: Site) -> Iterator[Violation]:
    """Look at a loader, a sampler or a split."""
    if site.has_star or site.keyword("generator") is not None:
        return
    called = site.called or ""
    if called.endswith(".DataLoader") and not _is_true(site.argument(2, "shuffle")):
        return
    yield site.found(
        NAME,
        f"{last_name(site.call.func)}() has no generator of its own for the order of samples.",
        "It draws from torch's process-wide stream, which everything else draws from too.",
        confidence=0.8,
    )


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SEEDS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Give it generator=torch.Generator().manual_seed(seed), and a worker_init_fn where workers draw.",
        __doc__ or "",
    ),
    calls=("loaders",),
    look=look,
)
