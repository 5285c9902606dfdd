"""A pool is as large as the machine, and the result depends on how the work was divided.

Without a number of workers, executors and pools take one from the count of processors. Where work is cut
into as many pieces, or results are taken as they are finished, another machine gives another result.

Bad:
    from concurrent.futures import ProcessPoolExecutor, as_completed

    def run(jobs):
        with ProcessPoolExecutor() as pool:
            return [each.result() for each in as_completed([pool.submit(job) for job in jobs])]

or:
    import os
    from multiprocessing import Pool

    def total(numbers, add):
        size = len(numbers) // os.cpu_count()
        with Pool() as pool:
            return sum(pool.map(add, [numbers[:size], numbers[size:]]))

Good:
    from concurrent.futures import ProcessPoolExecutor

    def run(jobs, work):
        with ProcessPoolExecutor() as pool:
            return list(pool.map(work, jobs))

or:
    from multiprocessing import Pool

    def run(jobs, work):
        with Pool(8) as pool:
            return list(pool.imap_unordered(work, jobs))
"""

from __future__ import annotations

from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unnamed-executor"
_DEPENDING = ("as_completed", "imap_unordered", "cpu_count", "_max_workers", "sched_getaffinity")


def look(site: Site) -> Iterator[Found]:
    """Look at an executor or a pool that is made."""
    call = site.call
    if call.args or site.has_star:
        return
    if any(each.arg in {"max_workers", "processes", "nodes"} for each in call.keywords):
        return
    if not site.module.speaks_of(*_DEPENDING):
        return
    yield site.found(
        NAME,
        f"{site.called}() has no number of workers.",
        "It takes as many as the machine has processors, and the order or the division of the work follows.",
        confidence=0.7,
    )


RULE = Rule(
    name=NAME,
    channel=Channel.CONCURRENCY,
    breaks=Breaks.BIT_EXACT,
    severity=Severity.LOW,
    remedy="Say how many workers there are, and divide the work by a number of your own.",
    calls=("executor", "pool"),
    look=look,
)
