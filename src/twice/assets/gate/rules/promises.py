"""Rules on what is promised: whether it can be, and whether a mark says why there is no promise.

Invariant: a hosted service is never deterministic: nobody who asks it can pin what it runs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from twice.assets.gate.facts import Facts, faulty
from twice.assets.gate.row import Row
from twice.assets.log.block import Mode
from twice.assets.log.models import (
    AssetKind,
    Endpoint,
    Grade,
    Promise,
    RerenderOutcome,
    RerenderVerdict,
)
from twice.assets.media.similarity import PROFILES, explain_loose_limits

CHECKS: Final = {
    "mark": "An asset without a promise says why, and by which constraints it stays consistent.",
    "provider-ceiling": "The provider can keep the promise: a hosted service cannot.",
    "tolerance": "The limits of a tolerance leave out something that can be heard or seen.",
    "re-rendered": "The last re-rendering that could be judged reproduced the asset.",
}

HOSTED: Final = (
    "elevenlabs", "suno", "udio", "midjourney", "openai", "dalle", "runway", "adobefirefly",
    "ideogram", "leonardoai",
)  # fmt: skip
"""Services that nobody runs at home, whatever a log says of the endpoint; by their letters alone."""
_SHORT: Final = 6
"""A name of fewer letters has to stand as a word: there is udio in audio."""


def _named(service: str) -> str:
    letters = r"[^a-z0-9]*".join(service)
    return rf"(?<![a-z0-9]){letters}" + (r"(?![a-z0-9])" if len(service) < _SHORT else "")


_HOSTED: Final = re.compile("|".join(f"(?P<{each}>{_named(each)})" for each in HOSTED))


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
    named = unicodedata.normalize("NFKC", (provider.name if provider else None) or "").casefold()
    known = _HOSTED.search(named)
    if provider is not None and (provider.endpoint is Endpoint.HOSTED or known is not None):
        fix = (
            "mark it: promise.mode non-deterministic, with why, why_code hosted-provider and "
            "constraints"
        )
        seen = f"{provider.name} is {'known as ' if provider.endpoint is Endpoint.LOCAL else ''}hosted, and the promise is {promise.grade or 'deterministic'}"
        yield facts.red("provider-ceiling", seen, fix)
    elif provider is not None and provider.endpoint is Endpoint.LOCAL:
        yield facts.green("provider-ceiling", f"{provider.name} runs locally")
    yield from _tolerance(facts, promise)
    yield from _verdict(facts, promise)


def _tolerance(facts: Facts, promise: Promise) -> Iterator[Row]:
    """Judge whether the promise of tolerance can be broken at all."""
    if promise.grade is not Grade.TOLERANCE or promise.profile is None:
        return
    limits = promise.profile.limits or PROFILES.get(promise.profile.name or "")
    name = promise.profile.name
    if limits is None:
        fix = f"give it limits, or take one of {', '.join(PROFILES)}"
        yield facts.red("tolerance", f"{name!r} is not known, and has no limits", fix)
        return
    loose = explain_loose_limits(limits, sound=facts.log.kind is AssetKind.AUDIO)
    if loose:
        fix = "narrow the limits, or mark it: promise.mode non-deterministic"
        yield facts.red("tolerance", f"{name}: {loose}", fix)
    else:
        told = ", ".join(f"{each} {limit:g}" for each, limit in limits.items())
        yield facts.green("tolerance", f"{name}: {told}")


def _verdict(facts: Facts, promise: Promise) -> Iterator[Row]:
    judged = [
        each
        for each in facts.log.verdicts or ()
        if each.outcome not in {None, RerenderOutcome.CANNOT_JUDGE}
    ]
    if not judged:
        return
    last = max(judged, key=lambda each: each.when or "")
    if last.outcome is not RerenderOutcome.REPRODUCED:
        fix = "find what moved, or lower the promise: twice asset rerender LOG"
        seen = f"{last.when}: {last.grade or 'it differs'}; {last.reason or ''}"
        yield facts.red("re-rendered", seen.rstrip("; "), fix)
        return
    short = _falls_short(facts, promise, last)
    if short:
        fix = "render it again: twice asset rerender LOG --write"
        yield facts.yellow("re-rendered", f"{last.when}: {short}", fix)
    else:
        yield facts.green("re-rendered", f"{last.grade or 'reproduced'}, {last.when}")


def _falls_short(facts: Facts, promise: Promise, last: RerenderVerdict) -> str:
    """Say why a verdict is none on this promise and these bytes; "" where it is."""
    order = [str(each) for each in Grade]
    if promise.grade is None or last.grade not in order:
        return "" if last.grade is None else f"it says reproduced, and {last.grade}"
    if order.index(last.grade) > order.index(promise.grade):
        return f"it reached {last.grade}, and {promise.grade} is promised"
    asset = facts.log.asset
    digest = f"sha256:{asset.file_sha256}" if asset is not None else ""
    if last.grade == "bytes" and last.artefacts and digest not in last.artefacts:
        return "it reproduced other bytes than those that are logged"
    return ""
