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
from twice.assets.gate.report import GateRow, RowStatus
from twice.assets.log.block import Mode
from twice.assets.log.io import escape
from twice.assets.log.kinds import Fault
from twice.assets.log.models import (
    AssetKind,
    Endpoint,
    Grade,
    RerenderOutcome,
)
from twice.assets.media.payload import RETIRED_METHODS
from twice.assets.media.similarity import PROFILES, explain_loose_limits
from twice.assets.store.index import NAME as INDEX

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


def check_hash(facts: AssetFacts) -> Iterator[GateRow]:
    """Check that the file is there, and is the one that was sealed; a damaged one has one row."""
    asset, seen = facts.log.asset, facts.seen
    if seen is None:
        if name := facts.log.get("/asset/file"):
            wrong = f"{facts.log_path} is about {name}, which is not there"
            fix = "put the file beside its log, or take the log out"
            yield facts.red("asset-present", wrong, fix)
        return
    if asset is None or facts.is_faulty("/asset/file_sha256") or facts.is_faulty("/asset/payload"):
        return
    is_same = seen.file_sha256 == asset.file_sha256
    renamed = "" if seen.path == facts.name else f"; it is now {seen.path}"
    was, now = f"{asset.file_sha256}"[:12], seen.file_sha256[:12]
    method = asset.payload.method if asset.payload else None
    status = RowStatus.RED
    fix = f"seal it again: {facts.sealing} {facts.sidecar} --revise"
    if method in RETIRED_METHODS:
        wrong = (
            f"{'the same' if is_same else 'other'} bytes; {method} is no longer computed{renamed}"
        )
        status = RowStatus.YELLOW if is_same else status
    elif is_same and seen.measured is not None and seen.measured.payload != asset.payload:
        wrong = "the same bytes, and their payload is another one than the log says"
    elif is_same:
        wrong = f"the same bytes under another name{renamed}" if renamed else ""
        fix = f"name it {facts.name.rpartition('/')[2]} again, or revise the log"
        status = RowStatus.YELLOW
    elif seen.measured is None:
        why = seen.trouble or "it was not measured"
        wrong = f"the bytes are others, and the payload cannot be told: {why}"
        fix = "render it again, or restore the file that was sealed"
    elif asset.payload == seen.measured.payload:
        wrong = f"other bytes, the same payload: tagged anew{renamed}"
        status = RowStatus.YELLOW
    else:
        wrong = f"sealed sha256 {was}…, found {now}…; the payload is another one as well"
        fix = "restore the file that was sealed, or log the one that is there: "
        fix += f"{facts.sealing} DRAFT --id {facts.log.log_id} --revise"
    yield facts.judge("hash", f"sha256 {now}…", wrong, fix, status)


def check_container(facts: AssetFacts) -> Iterator[GateRow]:
    """Check what the log says of the file as such; of a file that was changed, the hash says enough."""
    asset, seen = facts.log.asset, facts.seen
    if asset is None or seen is None or seen.file_sha256 != asset.file_sha256:
        return
    if seen.size_bytes not in {None, asset.size_bytes} and asset.size_bytes is not None:
        wrong = f"it has {seen.size_bytes} bytes, and the log says {asset.size_bytes}"
        yield facts.red("container", wrong, f"seal it again: {facts.sealing} DRAFT --revise")
    if seen.log_id not in {"", facts.log.log_id}:
        wrong = f"the file itself carries the id of another log: {seen.log_id}"
        yield facts.red(
            "container", wrong, f"restore that log, or: {facts.sealing} DRAFT --embed id"
        )
    method = asset.payload.method if asset.payload else None
    wrong = "" if seen.media_type in {"", asset.media_type} else f"it is {seen.media_type}"
    if seen.methods and method not in {None, *seen.methods, *RETIRED_METHODS}:
        wrong = f"{method} is not the payload of {seen.media_type}"
    if wrong and asset.media_type is not None:
        yield facts.yellow("container", wrong, f"seal it again: {facts.sealing} DRAFT --revise")


def check_store(facts: AssetFacts) -> Iterator[GateRow]:
    """Check a log against what its store has of it: other logs, the index, the checkpoint."""
    log = facts.log
    if facts.same:
        fix = f"keep one, and revise it: {facts.sealing} DRAFT --revise"
        yield facts.red("one-log", f"also: {', '.join(facts.same)}", fix)
    number, revisions = log.revision or 1, facts.revisions or {}
    if facts.revisions is not None and number not in revisions and not facts.same:
        wrong = f"the store's index has no seal of revision {number}"
        fix = f"restore the index ({INDEX}), or seal it again: {facts.sealing} {facts.sidecar}"
        yield facts.yellow("sealed", wrong, fix)
    elif revisions.get(number, facts.log_digest) != facts.log_digest:
        fix = f"seal what it says now: {facts.sealing} {facts.sidecar} --revise; or restore it"
        yield facts.yellow("sealed", "the log was edited since it was sealed", fix)
    latest, before, wrong = max(revisions, default=0), revisions.get(number - 1), ""
    if before and log.supersedes not in {None, before}:
        wrong = f"revision {number} names another text than was sealed as revision {number - 1}"
    elif not before and any(each < number - 1 for each in revisions):
        wrong = f"revision {number - 1} was not sealed here, and earlier ones were"
    elif number < latest:
        wrong = f"revision {latest} of it was sealed, and this one says {number}"
    if wrong:
        fix = "restore the log as it was sealed, or seal the asset under a new id: --id ID"
        yield facts.red("revisions", wrong, fix)
    for unit in facts.elsewhere if not facts.listed else ():
        wrong = f"the checkpoint of {unit} names it, and it says that it is of {log.work_unit}"
        yield facts.yellow("checkpoint", wrong, f"twice asset package --work-unit {unit}")
    if facts.listed is not None:
        of, wrong = f"the checkpoint of {log.work_unit}", ""
        if facts.listed != facts.log_digest or not facts.listed:
            wrong = f"{of} {'names another revision' if facts.listed else 'does not name the log'}"
        fix = f"twice asset package --work-unit {log.work_unit}"
        yield facts.judge("checkpoint", f"named by {of}", wrong, fix)


def check_dates(facts: AssetFacts) -> Iterator[GateRow]:
    """Check that nothing in a log was written after now."""
    evidence, verdicts = facts.log.evidence or {}, facts.log.verdicts or ()
    said = {"/created": facts.log.created}
    said |= {f"/evidence/{escape(at)}/when": each.when for at, each in evidence.items()}
    said |= {f"/verdicts/{number}/when": each.when for number, each in enumerate(verdicts)}
    late = {at: when for at, when in said.items() if when and when > facts.latest}
    for at, when in late.items():
        fix = f"set the clock of the machine that wrote it, and revise the log: {facts.sealing} DRAFT --revise"
        yield facts.red(f"dates:{at}", f"{at} is {when}, which is still to come", fix)


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


def is_hosted(name: str) -> bool:
    """Whether a provider's name is that of a service that nobody runs at home, in whichever spelling."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return _OPEN_MODELS.search(plain) is None and _HOSTED.search(plain) is not None


def check_verdict(facts: AssetFacts) -> Iterator[GateRow]:
    """Check that the last re-rendering was on this promise and these bytes, and reproduced them."""
    last, promised = facts.log.last_verdict, facts.log.get("/promise/grade")
    if last is None or not facts.log.deterministic:
        return
    order, short = [str(each) for each in Grade], ""
    whens = [facts.log.created, *(each.when for each in (facts.log.evidence or {}).values())]
    first = min((each for each in whens if each), default="")
    sealed = f"sha256:{facts.log.get('/asset/file_sha256')}"
    if last.outcome is not RerenderOutcome.REPRODUCED:
        wrong = f"{last.when}: {last.grade or 'it differs'}; {last.reason or ''}".rstrip("; ")
        fix = f"find what moved, or lower the promise: twice asset rerender {facts.sidecar}"
        yield facts.red("re-rendered", wrong, fix)
        return
    if (last.when or first) < first:
        short = f"it is older than the log, which begins at {first}"
    elif promised is None or last.grade not in order:
        short = "" if last.grade is None else f"it says reproduced, and {last.grade}"
    elif order.index(last.grade) > order.index(promised):
        short = f"it reached {last.grade}, and {promised} is promised"
    elif last.grade == "bytes" and {sealed, *(last.artefacts or ())} != {sealed}:
        short = "it reproduced other bytes than those that are logged"
    right, wrong = f"{last.grade or 'reproduced'}, {last.when}", f"{last.when}: {short}"
    fix = f"render it again: twice asset rerender {facts.sidecar} --write"
    yield facts.judge("re-rendered", right, wrong if short else "", fix, RowStatus.YELLOW)
