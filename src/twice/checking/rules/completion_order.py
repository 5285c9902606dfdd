"""Results are taken in the order in which they happened to be finished.

``as_completed`` gives whichever future is done first. Appending what it gives, adding it up or yielding it
puts the load of the machine into the result. Put each result at its own index or key, sort the results
afterwards, or go through the futures in the order in which they were submitted.

Nothing is said where results are put at their own place, sorted, counted or only logged.

Bad:
    from concurrent.futures import ThreadPoolExecutor, as_completed

    def run(jobs):
        results = []
        with ThreadPoolExecutor(4) as pool:
            futures = [pool.submit(job) for job in jobs]
            for future in as_completed(futures):
                results.append(future.result())
        return results

or:
    import asyncio

    async def answers(tasks):
        for task in asyncio.as_completed(tasks):
            yield await task

Good:
    from concurrent.futures import ThreadPoolExecutor, as_completed

    def run(jobs):
        results = [None] * len(jobs)
        with ThreadPoolExecutor(4) as pool:
            places = {pool.submit(job): place for place, job in enumerate(jobs)}
            for future in as_completed(places):
                results[places[future]] = future.result()
        return results

or:
    from concurrent.futures import ThreadPoolExecutor, as_completed

    def run(jobs):
        results = []
        with ThreadPoolExecutor(4) as pool:
            for future in as_completed([pool.submit(job) for job in jobs]):
                results.append(future.result())
        results.sort(key=lambda each: each.number)
        return results
"""

from __future__ import annotations

from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.outcomes import Use
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "completion-order"


def look(site: Site) -> Iterator[Found]:
    """Look at a call that gives what is finished first."""
    outcome = site.order()
    if outcome.use is Use.ERASED:
        return
    yield site.found(
        NAME,
        f"{(site.called or '').rpartition('.')[2]}() gives results in the order in which they are finished.",
        "Which one is finished first depends on the load of the machine.",
        outcome=outcome,
    )


RULE = Rule(
    name=NAME,
    channel=Channel.CONCURRENCY,
    breaks=Breaks.LOGICAL,
    severity=Severity.HIGH,
    remedy="Go through the futures in the order of submission, or put each result at its own index.",
    calls=("completion-order",),
    look=look,
)
