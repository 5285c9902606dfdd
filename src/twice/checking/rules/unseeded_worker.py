"""A data loader shuffles by torch's process-wide stream.

Without a ``generator`` the order of the samples, and the seeds of the workers, are drawn from the stream that
every layer, dropout and other loader of the process draws from as well: one more draw anywhere gives
another order. With workers, another number of them gives other random transformations.

Nothing is said of a loader that does not shuffle: its sampler is looked at by itself.

Bad:
    from torch.utils.data import DataLoader

    def batches(data):
        return DataLoader(data, batch_size=32, shuffle=True)

or:
    import torch
    from torch.utils import data

    train, test = data.random_split(torch.arange(10), [8, 2])

Good:
    import torch
    from torch.utils.data import DataLoader

    def batches(data, seed):
        generator = torch.Generator().manual_seed(seed)
        return DataLoader(data, batch_size=32, shuffle=True, generator=generator)

or:
    from torch.utils.data import DataLoader

    def batches(data):
        return DataLoader(data, batch_size=32)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.words import last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unseeded-worker"


def look(site: Site) -> Iterator[Found]:
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
    name=NAME,
    channel=Channel.SEEDS,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Give it generator=torch.Generator().manual_seed(seed), and a worker_init_fn where workers draw.",
    calls=("loaders",),
    look=look,
)
