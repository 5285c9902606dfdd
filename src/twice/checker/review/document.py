"""The review and the audits as JSON documents: the fields that other programs read.

They are described in ``docs/format/review.md``; fields are added, never renamed.

Invariant: the same review gives the same text.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

from twice.checker.analysis.generators import StreamOrigin, UseKind
from twice.checker.audits.audit import NotedPlace, WorldRead
from twice.checker.audits.streams import RandomUse, summarize_streams
from twice.checker.review.review import ChannelGap, Review, ReviewedFinding
from twice.foundation.channels import FACTS

FORMAT: Final = "twice.review/1"


def _pick(value: object, names: str) -> dict[str, Any]:
    """Give attributes by their names; of one inside of another, by the last name."""
    return {path.rpartition(".")[2]: attrgetter(path)(value) for path in names.split()}


def to_document(review: Review) -> dict[str, Any]:
    """Give the document of a review."""
    policy, workspace = review.policy, review.workspace
    return {
        "format": FORMAT,
        "verdict": _pick(review.verdict, "result text confidence"),
        "class": {
            "class": policy.kind.value,
            "scope": policy.scope.value,
            "tier": policy.tier,
            "declared": policy.is_declared,
        },
        **_pick(review, "files lines"),
        "unread": unread_json(review.audit.unread),
        "specification": workspace and {"artifacts": list(workspace.artifacts.values())},
        "channels": [_describe_channel(each) for each in review.channels],
        "findings": [_describe_finding(each) for each in review.findings],
        "set_aside": review.set_aside,
        "patterns": [
            {
                "pattern": each.pattern.name,
                "title": each.pattern.title,
                "where": each.where or None,
                "count": each.count,
                **_pick(each.pattern, "why remedy"),
                "signs": [_pick(sign, "path line what") for sign in each.signs],
            }
            for each in review.patterns
        ],
        "seeds": seeds_json(review.audit.uses),
        "effects": effects_json(review.audit.reads),
        "unknowns": [_pick(each, "what places tells") for each in review.unknowns],
        "steps": [
            {
                "artifact": each.artifact or None,
                **_pick(each, "title reason findings rules"),
                "command": each.command or None,
            }
            for each in review.steps
        ],
    }


def _describe_channel(each: ChannelGap) -> dict[str, Any]:
    return {
        "channel": each.channel.value,
        "state": each.state,
        "touched": each.places > 0,
        "places": each.places,
        "first": each.first or None,
        "findings": {severity.word: count for severity, count in each.findings},
        "audited": each.audited,
        "artifact": each.channel.artifact,
        "sheet": FACTS[each.channel].sheet,
        "present": each.present or None,
        "rule_out": FACTS[each.channel].rule_out,
    }


def _describe_finding(each: ReviewedFinding) -> dict[str, Any]:
    finding = each.finding
    return {
        **_pick(finding, "found.rule channel"),
        "severity": finding.severity.word,
        "path": finding.path,
        **_pick(finding.found, "place.line place.column place.end_line symbol message why"),
        "remedy": finding.remedy,
        "classification": each.risk.kind.value,
        "specification": each.status.value,
        "breaks": each.risk.breaks.value,
        "risk": each.risk.text,
        **_pick(finding, "artifact found.confidence zone fingerprint"),
    }


def seeds_json(draws: Sequence[RandomUse]) -> dict[str, Any]:
    """Give the seed audit as JSON."""
    return {
        "orphans": sum(each.is_orphan and each.zone != "tests" for each in draws),
        "draws": sum(each.kind is UseKind.DRAWS for each in draws),
        "streams": [
            {
                "stream": each.name,
                **_describe_origin(each.origin, each.made),
                **_pick(each, "draws first"),
            }
            for each in summarize_streams(draws)
        ],
        "places": [
            {
                **_pick(each, "path line function zone"),
                "what": each.kind.value,
                **_pick(each, "call stream"),
                **_describe_origin(each.origin, each.where),
            }
            for each in draws
        ],
    }


def _describe_origin(origin: StreamOrigin, made: str) -> dict[str, Any]:
    return {
        "owner": origin.owner.value,
        "orphan": origin.is_orphan,
        "made": made or None,
        "seed": origin.seed or None,
        "note": origin.note or None,
    }


def unread_json(unread: Sequence[NotedPlace]) -> list[dict[str, str]]:
    """Give the files that could not be read as JSON."""
    return [{"path": each.path, "reason": each.what} for each in unread]


def effects_json(asks: Sequence[WorldRead]) -> dict[str, Any]:
    """Give the effects audit as JSON."""
    return {
        "gaps": sum(each.is_gap for each in asks),
        "reads": len(asks),
        "places": [
            {
                **_pick(each, "path line function zone kind call"),
                "through": "effects-layer" if each.is_recorded else "raw",
                **_pick(each, "use ends"),
                "gap": each.is_gap,
            }
            for each in asks
        ],
    }
