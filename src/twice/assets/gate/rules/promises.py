"""Rules on what is promised: whether it can be, and whether a mark says why there is no promise.

Invariant: a hosted service is never deterministic: nobody who asks it can pin what it runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.assets.gate.facts import Facts, faulty, value_of
from twice.assets.gate.row import Row
from twice.assets.model.making import Endpoint
from twice.assets.model.promise import Mode
from twice.assets.model.witness import Outcome

CHECKS: Final = {
    "mark": "An asset without a promise says why, and by which constraints it stays consistent.",
    "provider-ceiling": "The provider can keep the promise: a hosted service cannot.",
    "seed-used": "The seed that was used is the one that was asked for, or its place in the batch.",
    "re-rendered": "The last re-rendering that could be judged reproduced the asset.",
}

HOSTED: Final = (
    "elevenlabs", "suno", "udio", "midjourney", "openai", "dall-e", "runway", "adobe firefly",
    "ideogram", "leonardo.ai",
)  # fmt: skip
"""Services that nobody runs at home, whatever a log says of the endpoint."""


def judge(facts: Facts) -> Iterator[Row]:
    """Judge one log."""
    promise, provider = facts.log.promise, facts.log.provider
    if promise is None or promise.mode is None:
        return
    if promise.mode is Mode.NON_DETERMINISTIC:
        if not faulty(facts, "/promise"):
            constraints = "; ".join(promise.constraints or ())
            yield facts.green("mark", f"{promise.why_code}: {promise.why} Kept: {constraints}")
        return
    named = (provider.name or "").casefold() if provider is not None else ""
    known = next((each for each in HOSTED if each in named), None)
    if provider is not None and (provider.endpoint is Endpoint.HOSTED or known is not None):
        fix = (
            "mark it: promise.mode non-deterministic, with why, why_code hosted-provider and "
            "constraints"
        )
        seen = f"{provider.name} is {'known as ' if provider.endpoint is Endpoint.LOCAL else ''}hosted, and the promise is {promise.grade or 'deterministic'}"
        yield facts.red("provider-ceiling", seen, fix)
    elif provider is not None and provider.endpoint is Endpoint.LOCAL:
        yield facts.green("provider-ceiling", f"{provider.name} runs locally")
    yield from _seed(facts)
    yield from _verdict(facts)


def _seed(facts: Facts) -> Iterator[Row]:
    seed = value_of(facts.log.seed)
    asked = value_of(seed.requested) if seed is not None else None
    used = value_of(seed.effective) if seed is not None else None
    if asked is None or used is None:
        return
    at = value_of(facts.log.art.batch_index) if facts.log.art is not None else None
    if int(used) in {int(asked), int(asked) + (at or 0)}:
        yield facts.green("seed-used", f"seed {used}")
        return
    fix = f"ask for seed {used}, or say why in seed.requested"
    yield facts.yellow("seed-used", f"seed {asked} was asked for and {used} was used", fix)


def _verdict(facts: Facts) -> Iterator[Row]:
    judged = [
        each
        for each in facts.log.verdicts or ()
        if each.outcome not in {None, Outcome.CANNOT_JUDGE}
    ]
    if not judged:
        return
    last = max(judged, key=lambda each: each.when or "")
    if last.outcome is Outcome.REPRODUCED:
        yield facts.green("re-rendered", f"{last.grade or 'reproduced'}, {last.when}")
        return
    fix = "find what moved, or lower the promise: twice asset rerender LOG"
    seen = f"{last.when}: {last.grade or 'it differs'}; {last.reason or ''}"
    yield facts.red("re-rendered", seen.rstrip("; "), fix)
