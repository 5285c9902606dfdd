"""Checks on whether log and file belong together, whether the log is complete, and whether its promise can be kept.

A hosted service is never deterministic: nobody who asks it can pin what it runs. A provider that the log calls local is
taken at its word, unless its name is that of a service alone.

Invariant: a field that is missing or wrong has its one row here; other checks leave it alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from twice.assets.gate.facts import AssetFacts, SeenFile
from twice.assets.gate.report import GateRow, RowStatus
from twice.assets.log.block import Mode
from twice.assets.log.kinds import Fault
from twice.assets.log.models import (
    Asset,
    AssetKind,
    Endpoint,
    Grade,
    RerenderOutcome,
    RerenderVerdict,
)
from twice.assets.media.payload import RETIRED_METHODS
from twice.assets.media.similarity import PROFILES, explain_loose_limits

_HOSTED: Final = re.compile(
    "(?<![a-z0-9])(?:"
    + "|".join(
        "[^a-z0-9]*".join(each) + ("" if len(each) > 5 else "(?![a-z0-9])")
        for each in (
            "elevenlabs", "suno", "udio", "midjourney", "openai", "dalle", "runway", "adobefirefly",
            "ideogram", "leonardoai",
        )
    ) + ")"
)  # fmt: skip
"""Services that nobody runs at home, whatever a log says of the endpoint; by their letters alone.

A name of few letters has to stand as a word: there is udio in audio.
"""
_OPEN_MODELS: Final = re.compile(
    r"whisper|runwayml\s*/|stable[^a-z]*diffusion|clip\b|gpt-?(?:oss|2)"
)
"""Models that such a company published, and anybody runs at home."""
_SEAL_AGAIN: Final = "seal it again: twice asset seal ASSET --log LOG --revise"


def check_integrity(facts: AssetFacts) -> Iterator[GateRow]:
    """Check one asset with its log; a damaged file, and one without a log, has one row."""
    log, asset = facts.log, facts.log.asset
    if facts.seen is None and log.get("/asset/file"):
        seen = f"{facts.log_path} is about {log.get('/asset/file')}, which is not there"
        yield facts.red("asset-present", seen, "put the file beside its log, or take the log out")
    is_known = not (facts.is_faulty("/asset/file_sha256") or facts.is_faulty("/asset/payload"))
    if facts.seen is not None and asset is not None and is_known:
        yield _check_hash(facts, asset, facts.seen)
    if facts.same:
        fix = "keep one, and revise it: twice asset seal ASSET --log DRAFT --revise"
        yield facts.red("one-log", f"also: {', '.join(facts.same)}", fix)
    if facts.indexed is not None and facts.indexed != facts.log_digest:
        fix = "seal what it says now: twice asset seal ASSET --log LOG --revise; or restore it"
        yield facts.yellow("sealed", "the log was edited since it was sealed", fix)
    number, latest = log.revision or 1, max(facts.revisions, default=0)
    denied = f"revision {latest} of it was sealed, and this one says {number}"
    other = f"revision {number} names another text than was sealed as revision {number - 1}"
    before = facts.revisions.get(number - 1)
    wrong = denied if number < latest else ""
    wrong = other if before and log.supersedes not in {None, before} else wrong
    if wrong:
        fix = "restore the log as it was sealed, or seal the asset under a new id: --id ID"
        yield facts.red("revisions", wrong, fix)
    if facts.listed is not None:
        of = f"the checkpoint of {log.work_unit}"
        wrong = f"{of} names another revision" if facts.listed else f"{of} does not name the log"
        wrong = "" if facts.listed == facts.log_digest and facts.listed else wrong
        fix = f"twice asset package --work-unit {log.work_unit}"
        yield facts.judge("checkpoint", f"named by {of}", wrong, fix)


def _check_hash(facts: AssetFacts, asset: Asset, seen: SeenFile) -> GateRow:
    is_same = seen.file_sha256 == asset.file_sha256
    renamed = "" if seen.path == facts.name else f"; it is now {seen.path}"
    was, now = f"{asset.file_sha256}"[:12], seen.file_sha256[:12]
    method = asset.payload.method if asset.payload else None
    if method in RETIRED_METHODS:
        why = f"{'the same' if is_same else 'other'} bytes; {method} is no longer computed{renamed}"
        return (facts.yellow if is_same else facts.red)("hash", why, _SEAL_AGAIN)
    if is_same:
        wrong = f"the same bytes under another name{renamed}" if renamed else ""
        fix = f"name it {facts.name.rpartition('/')[2]} again, or revise the log"
        return facts.judge("hash", f"sha256 {now}…", wrong, fix, RowStatus.YELLOW)
    if seen.measured is None:
        why = f"the bytes are others, and the payload cannot be told: {seen.trouble or 'it was not measured'}"
        return facts.red("hash", why, "render it again, or restore the file that was sealed")
    if asset.payload == seen.measured.payload:
        why = f"other bytes, the same payload: tagged anew{renamed}"
        return facts.yellow("hash", why, _SEAL_AGAIN)
    why = f"sealed sha256 {was}…, found {now}…; the payload is another one as well"
    fix = (
        "restore the file that was sealed, or log the one that is there: twice asset seal --revise"
    )
    return facts.red("hash", why, fix)


def check_completeness(facts: AssetFacts) -> Iterator[GateRow]:
    """Check that a log says what its promise needs: one row for each field that is missing or wrong."""
    for each in facts.examined.problems:
        at = each.pointer or "the document"
        wrong, fix = f"{at} ({each.words}) is {each.found}", f"set {at} to {each.expected}"
        match each.fault:
            case Fault.MISSING:
                wrong = f"{at} ({each.words}) is missing"
            case Fault.UNKNOWN:
                wrong += ", which says nothing"
            case Fault.UNEXPECTED:
                wrong, fix = f"{at} is {each.words}", f"take {at} out"
        yield facts.red(f"complete:{each.pointer}", wrong, fix)
    if not facts.examined.problems:
        yield facts.green(
            "complete", f"every field that a {facts.log.get('/promise/mode')} log needs"
        )


def check_promise(facts: AssetFacts) -> Iterator[GateRow]:
    """Check that a promise can be kept, or that a mark says why there is none."""
    log, promise, provider = facts.log, facts.log.promise, facts.log.provider
    if promise is None or promise.mode is not Mode.DETERMINISTIC:
        if promise is not None and promise.mode is not None and not facts.is_faulty("/promise"):
            kept = "; ".join(promise.constraints or ())
            yield facts.green("mark", f"{promise.why_code}: {promise.why} Kept: {kept}")
        return
    if provider is not None and provider.endpoint is not None:
        is_known = provider.endpoint is Endpoint.LOCAL and is_hosted(provider.name or "")
        how = "known as hosted" if is_known else "hosted"
        wrong = f"{provider.name} is {how}, and the promise is {promise.grade or 'deterministic'}"
        wrong = wrong if is_known or provider.endpoint is Endpoint.HOSTED else ""
        fix = "mark it: promise.mode non-deterministic, with why, why_code hosted-provider and constraints"
        yield facts.judge("provider-ceiling", f"{provider.name} runs locally", wrong, fix)
    if promise.grade is Grade.TOLERANCE and promise.profile is not None:
        name = promise.profile.name or ""
        limits = promise.profile.limits or PROFILES.get(name)
        if limits is None:
            fix = f"give it limits, or take one of {', '.join(PROFILES)}"
            yield facts.red("tolerance", f"{name!r} is not known, and has no limits", fix)
        else:
            loose = explain_loose_limits(limits, sound=log.kind is AssetKind.AUDIO)
            right = ", ".join(f"{each} {limit:g}" for each, limit in limits.items())
            wrong = f"{name}: {loose}" if loose else ""
            fix = "narrow the limits, or mark it: promise.mode non-deterministic"
            yield facts.judge("tolerance", f"{name}: {right}", wrong, fix)
    last = log.last_verdict
    if last is not None and last.outcome is not RerenderOutcome.REPRODUCED:
        seen = f"{last.when}: {last.grade or 'it differs'}; {last.reason or ''}"
        fix = "find what moved, or lower the promise: twice asset rerender LOG"
        yield facts.red("re-rendered", seen.rstrip("; "), fix)
    elif last is not None:
        short = _explain_shortfall(last, promise.grade, facts.log.get("/asset/file_sha256"))
        right = f"{last.grade or 'reproduced'}, {last.when}"
        fix = "render it again: twice asset rerender LOG --write"
        wrong = f"{last.when}: {short}" if short else ""
        yield facts.judge("re-rendered", right, wrong, fix, RowStatus.YELLOW)


def is_hosted(name: str) -> bool:
    """Whether a provider's name is that of a service that nobody runs at home, in whichever spelling."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return _OPEN_MODELS.search(plain) is None and _HOSTED.search(plain) is not None


def _explain_shortfall(last: RerenderVerdict, promised: Grade | None, sha256: str | None) -> str:
    """Say why a verdict is none on this promise and these bytes; "" where it is."""
    order = [str(each) for each in Grade]
    if promised is None or last.grade not in order:
        return "" if last.grade is None else f"it says reproduced, and {last.grade}"
    if order.index(last.grade) > order.index(promised):
        return f"it reached {last.grade}, and {promised} is promised"
    if last.grade == "bytes" and last.artefacts and f"sha256:{sha256}" not in last.artefacts:
        return "it reproduced other bytes than those that are logged"
    return ""
