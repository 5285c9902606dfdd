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

from twice.assets.gate.facts import AssetFacts
from twice.assets.gate.report import GateRow
from twice.assets.log.block import Mode
from twice.assets.log.kinds import Fault
from twice.assets.log.models import (
    AssetKind,
    Endpoint,
    Grade,
    Promise,
    RerenderOutcome,
    RerenderVerdict,
)
from twice.assets.media.payload import RETIRED_METHODS
from twice.assets.media.similarity import PROFILES, explain_loose_limits

CHECKS: Final = {
    "log-readable": "The sidecar is a determinism log of a format that is known.",
    "asset-present": "The file that the log is about is there.",
    "log-present": "The asset has a log.",
    "hash": "The file has the bytes that were sealed, or at least the payload.",
    "one-log": "No other log is about the same payload, or has the same id.",
    "sealed": "The log is the text that was sealed, by the store's index.",
    "revisions": "The revision that it supersedes is the one that was sealed before it.",
    "checkpoint": "The work unit's checkpoint names this revision of the log.",
    "complete": "Every field that the promise needs is there, known and possible; "
    "a row complete:/pointer for each that is not.",
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
_OPEN_MODELS: Final = re.compile(
    r"whisper|runwayml\s*/|stable[^a-z]*diffusion|clip\b|gpt-?oss|gpt-?2", re.IGNORECASE
)
"""Models that such a company published, and anybody runs at home."""


def check_integrity(facts: AssetFacts) -> Iterator[GateRow]:
    """Check one asset with its log; a damaged file, and one without a log, has one row."""
    asset = facts.log.asset
    if facts.seen is not None:
        yield from _check_hash(facts)
    elif asset is not None and asset.file is not None:
        seen = f"{facts.log_path} is about {asset.file}, which is not there"
        yield facts.red("asset-present", seen, "put the file beside its log, or take the log out")
    same = [f"{each} (same payload)" for each in facts.others]
    same += [f"{each} (same id)" for each in facts.same_id]
    if same:
        fix = "keep one, and revise it: twice asset seal ASSET --log DRAFT --revise"
        yield facts.red("one-log", f"also: {', '.join(same)}", fix)
    if facts.indexed is not None and not facts.same_id and facts.indexed != facts.log_digest:
        fix = "seal what it says now: twice asset seal ASSET --log LOG --revise; or restore it"
        yield facts.yellow("sealed", "the log was edited since it was sealed", fix)
    if facts.superseded and facts.log.supersedes not in {None, facts.superseded}:
        number = facts.log.revision or 1
        seen = f"revision {number} names another text than was sealed as revision {number - 1}"
        fix = "restore the log as it was sealed, or seal the asset under a new id: --id ID"
        yield facts.red("revisions", seen, fix)
    if facts.listed is not None:
        unit = facts.log.work_unit
        fix = f"twice asset package --work-unit {unit}"
        if not facts.listed:
            yield facts.red("checkpoint", f"the checkpoint of {unit} does not name the log", fix)
        elif facts.listed != facts.log_digest:
            yield facts.red("checkpoint", f"the checkpoint of {unit} names another revision", fix)
        else:
            yield facts.green("checkpoint", f"named by the checkpoint of {unit}")


def _check_hash(facts: AssetFacts) -> Iterator[GateRow]:
    asset, seen = facts.log.asset, facts.seen
    assert seen is not None, "asked of a file that is there"
    if asset is None or facts.is_faulty("/asset/file_sha256") or facts.is_faulty("/asset/payload"):
        return
    renamed = "" if seen.path == facts.name else f"; it is now {seen.path}"
    method = asset.payload.method if asset.payload else None
    if method in RETIRED_METHODS:
        fix = "seal it again: twice asset seal ASSET --log LOG --revise"
        is_same = seen.file_sha256 == asset.file_sha256
        why = f"{'the same' if is_same else 'other'} bytes; {method} is no longer computed{renamed}"
        yield (facts.yellow if is_same else facts.red)("hash", why, fix)
    elif seen.file_sha256 == asset.file_sha256:
        if renamed:
            fix = f"name it {facts.name.rpartition('/')[2]} again, or revise the log"
            yield facts.yellow("hash", f"the same bytes under another name{renamed}", fix)
        else:
            yield facts.green("hash", f"sha256 {seen.file_sha256[:12]}…")
    elif seen.trouble or seen.measured is None:
        why = seen.trouble or "it was not measured"
        fix = "render it again, or restore the file that was sealed"
        yield facts.red("hash", f"the bytes are others, and the payload cannot be told: {why}", fix)
    elif asset.payload == seen.measured.payload:
        fix = "seal it again: twice asset seal ASSET --log LOG --revise"
        yield facts.yellow("hash", f"other bytes, the same payload: tagged anew{renamed}", fix)
    else:
        was, now = (asset.file_sha256 or "")[:12], seen.file_sha256[:12]
        why = f"sealed sha256 {was}…, found {now}…; the payload is another one as well"
        fix = "restore the file that was sealed, or log the one that is there: twice asset seal --revise"
        yield facts.red("hash", why, fix)


def check_completeness(facts: AssetFacts) -> Iterator[GateRow]:
    """Check that a log says what its promise needs: one row for each field that is missing or wrong."""
    for each in facts.examined.problems:
        at = each.pointer or "the document"
        fix = f"set {at} to {each.expected}"
        match each.fault:
            case Fault.MISSING:
                seen = f"{at} ({each.words}) is missing"
            case Fault.UNKNOWN:
                seen = f"{at} ({each.words}) is {each.found}, which says nothing"
            case Fault.UNEXPECTED:
                seen, fix = f"{at} is {each.words}", f"take {at} out"
            case _:
                seen = f"{at} ({each.words}) is {each.found}"
        yield facts.red(f"complete:{each.pointer}", seen, fix)
    if not facts.examined.problems:
        mode = facts.log.promise.mode if facts.log.promise is not None else None
        yield facts.green("complete", f"every field that a {mode} log needs")


def check_promise(facts: AssetFacts) -> Iterator[GateRow]:
    """Check that a promise can be kept, or that a mark says why there is none."""
    promise, provider = facts.log.promise, facts.log.provider
    if promise is None or promise.mode is None:
        return
    if promise.mode is Mode.NON_DETERMINISTIC:
        if not facts.is_faulty("/promise"):
            constraints = "; ".join(promise.constraints or ())
            yield facts.green("mark", f"{promise.why_code}: {promise.why} Kept: {constraints}")
        return
    if provider is not None and provider.endpoint is not None:
        is_known = provider.endpoint is Endpoint.LOCAL and is_hosted(provider.name or "")
        if is_known or provider.endpoint is Endpoint.HOSTED:
            how = "known as hosted" if is_known else "hosted"
            seen = (
                f"{provider.name} is {how}, and the promise is {promise.grade or 'deterministic'}"
            )
            code = "with why, why_code hosted-provider and constraints"
            fix = f"mark it: promise.mode non-deterministic, {code}"
            yield facts.red("provider-ceiling", seen, fix)
        else:
            yield facts.green("provider-ceiling", f"{provider.name} runs locally")
    yield from _check_tolerance(facts, promise)
    yield from _check_verdict(facts, promise)


def is_hosted(name: str) -> bool:
    """Whether a provider's name is that of a service that nobody runs at home, in whichever spelling."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    if _OPEN_MODELS.search(plain):
        return False
    for service in HOSTED:
        letters = r"[^a-z0-9]*".join(service)
        ends = r"(?![a-z0-9])" if len(service) < _SHORT else ""
        if re.search(rf"(?<![a-z0-9]){letters}{ends}", plain):
            return True
    return False


def _check_tolerance(facts: AssetFacts, promise: Promise) -> Iterator[GateRow]:
    """Check that a promise of tolerance can be broken at all."""
    if promise.grade is not Grade.TOLERANCE or promise.profile is None:
        return
    name = promise.profile.name or ""
    limits = promise.profile.limits or PROFILES.get(name)
    if limits is None:
        fix = f"give it limits, or take one of {', '.join(PROFILES)}"
        yield facts.red("tolerance", f"{name!r} is not known, and has no limits", fix)
        return
    loose = explain_loose_limits(limits, sound=facts.log.kind is AssetKind.AUDIO)
    if loose:
        fix = "narrow the limits, or mark it: promise.mode non-deterministic"
        yield facts.red("tolerance", f"{name}: {loose}", fix)
    else:
        said = ", ".join(f"{each} {limit:g}" for each, limit in limits.items())
        yield facts.green("tolerance", f"{name}: {said}")


def _check_verdict(facts: AssetFacts, promise: Promise) -> Iterator[GateRow]:
    undecided = {None, RerenderOutcome.CANNOT_JUDGE}
    judged = [each for each in facts.log.verdicts or () if each.outcome not in undecided]
    if not judged:
        return
    last = max(judged, key=lambda each: each.when or "")
    short = explain_shortfall(facts, promise, last)
    if last.outcome is not RerenderOutcome.REPRODUCED:
        seen = f"{last.when}: {last.grade or 'it differs'}; {last.reason or ''}"
        fix = "find what moved, or lower the promise: twice asset rerender LOG"
        yield facts.red("re-rendered", seen.rstrip("; "), fix)
    elif short:
        fix = "render it again: twice asset rerender LOG --write"
        yield facts.yellow("re-rendered", f"{last.when}: {short}", fix)
    else:
        yield facts.green("re-rendered", f"{last.grade or 'reproduced'}, {last.when}")


def explain_shortfall(facts: AssetFacts, promise: Promise, last: RerenderVerdict) -> str:
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
