"""The review and the audits as JSON documents: the fields that other programs read.

They are described in ``docs/format/review.md``; fields are added, never renamed.

Invariant: the same review gives the same text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from twice.checker.analysis.generators import UseKind
from twice.checker.audits.audit import NotedPlace, WorldRead
from twice.checker.audits.streams import RandomUse, summarize_streams
from twice.checker.review.patterns import PatternMatch
from twice.checker.review.review import ChannelGap, Review, ReviewedFinding
from twice.foundation.channels import FACTS

FORMAT: Final = "twice.review/1"


def to_document(review: Review) -> dict[str, Any]:
    """Give the document of a review."""
    return {
        "format": FORMAT,
        "verdict": {
            "result": review.verdict.result,
            "text": review.verdict.text,
            "confidence": review.verdict.confidence,
        },
        "class": {
            "class": review.policy.kind.value,
            "scope": review.policy.scope.value,
            "tier": review.policy.tier,
            "declared": review.policy.is_declared,
        },
        "files": review.files,
        "lines": review.lines,
        "unread": unread_json(review.audit.unread),
        "specification": None
        if review.workspace is None
        else {"artifacts": list(review.workspace.artifacts.values())},
        "channels": [_channel(each) for each in review.channels],
        "findings": [_describe_finding(each) for each in review.findings],
        "set_aside": review.set_aside,
        "patterns": [_pattern(each) for each in review.patterns],
        "seeds": seeds_json(review.audit.uses),
        "effects": effects_json(review.audit.reads),
        "unknowns": [
            {"what": each.what, "places": list(each.places), "tells": each.tells}
            for each in review.unknowns
        ],
        "steps": [
            {
                "artifact": each.artifact or None,
                "title": each.title,
                "reason": each.reason,
                "findings": each.findings,
                "rules": list(each.rules),
                "command": each.command or None,
            }
            for each in review.steps
        ],
    }


def _channel(each: ChannelGap) -> dict[str, Any]:
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
    finding, found = each.finding, each.finding.found
    return {
        "rule": found.rule,
        "channel": finding.channel,
        "severity": finding.severity.word,
        "path": finding.path,
        "line": found.place.line,
        "column": found.place.column,
        "end_line": found.place.end_line,
        "symbol": found.symbol,
        "message": found.message,
        "why": found.why,
        "remedy": finding.remedy,
        "classification": each.risk.kind.value,
        "specification": each.status.value,
        "breaks": each.risk.breaks.value,
        "risk": each.risk.text,
        "artifact": finding.artifact,
        "confidence": found.confidence,
        "zone": finding.zone,
        "fingerprint": finding.fingerprint,
    }


def _pattern(each: PatternMatch) -> dict[str, Any]:
    return {
        "pattern": each.pattern.name,
        "title": each.pattern.title,
        "where": each.where or None,
        "count": each.count,
        "why": each.pattern.why,
        "remedy": each.pattern.remedy,
        "signs": [{"path": sign.path, "line": sign.line, "what": sign.what} for sign in each.signs],
    }


def seeds_json(draws: Sequence[RandomUse]) -> dict[str, Any]:
    """Give the seed audit as JSON."""
    return {
        "orphans": sum(each.is_orphan and each.zone != "tests" for each in draws),
        "draws": sum(each.kind is UseKind.DRAWS for each in draws),
        "streams": [
            {
                "stream": each.name,
                "owner": each.origin.owner.value,
                "orphan": each.is_orphan,
                "made": each.made or None,
                "seed": each.origin.seed or None,
                "note": each.origin.note or None,
                "draws": each.draws,
                "first": each.first,
            }
            for each in summarize_streams(draws)
        ],
        "places": [
            {
                "path": each.path,
                "line": each.line,
                "function": each.function,
                "zone": each.zone,
                "what": each.kind.value,
                "call": each.call,
                "stream": each.stream,
                "owner": each.origin.owner.value,
                "orphan": each.is_orphan,
                "made": each.where or None,
                "seed": each.origin.seed or None,
                "note": each.origin.note or None,
            }
            for each in draws
        ],
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
                "path": each.path,
                "line": each.line,
                "function": each.function,
                "zone": each.zone,
                "kind": each.kind,
                "call": each.call,
                "through": "effects-layer" if each.is_recorded else "raw",
                "use": each.use,
                "ends": each.ends,
                "gap": each.is_gap,
            }
            for each in asks
        ],
    }
