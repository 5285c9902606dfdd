"""The review as a value: made from findings, audits and the specification.

Code that was only read is never called deterministic; each thing that reading cannot tell is named with the
command that would tell.

Invariant: nothing of the time, the machine or the number of processes is in it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from twice.checker.analysis.generators import StreamOwner, UseKind
from twice.checker.audits.audit import Audit, NotedPlace, WorldRead
from twice.checker.audits.streams import RandomUse, StreamSummary, summarize_streams
from twice.checker.catalogue import Catalogue
from twice.checker.findings import Finding, Reach
from twice.checker.housekeeping import HOUSEKEEPING_NAMES, UNREADABLE
from twice.checker.policy import Policy
from twice.checker.report import Report
from twice.checker.review.risks import (
    PatternMatch,
    ReviewStep,
    Risk,
    assess_risk,
    find_patterns,
    list_steps,
)
from twice.checker.workspace import FOLDER, Workspace
from twice.foundation.channels import Channel
from twice.foundation.determinism_class import DeterminismClass
from twice.foundation.printable import pluralize
from twice.foundation.severity import Severity

_LIBRARIES_MAX: Final = 12
_PLACES_MAX: Final = 3
_PROGRAM: Final = "PROGRAM --seed 1"


class SpecStatus(StrEnum):
    """What the specification has to say of a finding."""

    NO_SPECIFICATION = "no-specification"
    """There is no workspace at all."""
    UNSPECIFIED = "unspecified-channel"
    """There is one, without the channel's artifact."""
    MISMATCH = "spec-code-mismatch"
    """The channel's artifact is there, and the code does otherwise than any such artifact may allow."""

    @classmethod
    def from_workspace(cls, artifact: str, workspace: Workspace | None) -> SpecStatus:
        """Give the status of a finding that an artifact settles."""
        if workspace is None:
            return cls.NO_SPECIFICATION
        return cls.MISMATCH if artifact in workspace.artifacts else cls.UNSPECIFIED


@dataclass(frozen=True, slots=True)
class ReviewedFinding:
    """A finding of the checker, with its risk and the status of the specification."""

    finding: Finding
    risk: Risk
    status: SpecStatus


@dataclass(frozen=True, slots=True)
class ReviewVerdict:
    """The verdict: ``broken``, ``doubtful`` or ``nothing-found``, a sentence, and a confidence of 0 to 1."""

    result: str
    text: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Unknown:
    """What the review does not know, the first places (``path:line what``), and the command that would tell."""

    what: str
    places: tuple[str, ...]
    tells: str


@dataclass(frozen=True, slots=True)
class ChannelGap:
    """One of the ten, as this project has it.

    Args:
        channel: which.
        places: how many places touch it, outside of tests.
        first: the first of them, as ``path:line what``; "" when none does.
        findings: how many findings by severity, worst first, all five.
        audited: how many orphans (seeds, rng) or raw questions (effects) the core has.
        present: the artifact's file name, "" when it is not there.
        state: ``not touched``, ``clear``, ``doubtful`` or ``broken``.
    """

    channel: Channel
    places: int
    first: str
    findings: tuple[tuple[Severity, int], ...]
    audited: int
    present: str
    state: str


@dataclass(frozen=True, slots=True)
class Review:
    """A project's review.

    Args:
        verdict: in one sentence, with confidence.
        policy: what was promised, or assumed.
        lines: how many lines the files have.
        workspace: the specification, when there is one.
        channels: the ten.
        findings: the worst first, then by channel.
        patterns: what findings make together.
        audit: every draw and every question to the world.
        unknowns: what is not known.
        steps: what to do, in order.
        set_aside: how many findings comments and the baseline took away.
    """

    verdict: ReviewVerdict
    policy: Policy
    lines: int
    workspace: Workspace | None
    channels: tuple[ChannelGap, ...]
    findings: tuple[ReviewedFinding, ...]
    patterns: tuple[PatternMatch, ...]
    audit: Audit
    unknowns: tuple[Unknown, ...]
    steps: tuple[ReviewStep, ...]
    set_aside: int

    @property
    def exit_code(self) -> int:
        """0 when nothing is high, 1 when something is; 2 when nothing is, but some files could not be read."""
        worst = max((each.finding.severity for each in self.findings), default=Severity.LOW)
        return 1 if worst >= Severity.HIGH else 2 if self.audit.unread else 0

    @property
    def files(self) -> int:
        """How many files were asked for."""
        return len(self.audit.files) + len(self.audit.unread)

    @property
    def streams(self) -> tuple[StreamSummary, ...]:
        """The streams that are drawn from outside of tests, orphans first."""
        return summarize_streams(self.audit.uses)

    @property
    def gaps(self) -> tuple[WorldRead, ...]:
        """Questions of the core that no replay can answer again."""
        return tuple(each for each in self.audit.reads if each.is_gap)


def build_review(
    report: Report, audit: Audit, catalogue: Catalogue, workspace: Workspace | None
) -> Review:
    """Put everything together."""
    declared = report.policy.is_declared
    order = {channel.value: at for at, channel in enumerate(Channel)}
    own = [each for each in report.findings if each.found.rule in HOUSEKEEPING_NAMES]
    findings = sorted(
        (each for each in report.findings if each.found.rule not in HOUSEKEEPING_NAMES),
        key=lambda each: (
            -each.severity, order[each.channel], each.path, each.found.place.line, each.found.rule
        ),
    )  # fmt: skip
    channels = [_gap(each, findings, audit, workspace) for each in Channel]
    tested = any(each.channel is Channel.DIVERGENCE and each.places for each in channels)
    return Review(
        verdict=_judge(findings, audit, report.policy),
        policy=report.policy,
        lines=report.lines,
        workspace=workspace,
        channels=tuple(channels),
        findings=tuple(
            ReviewedFinding(
                each,
                assess_risk(report.rules[each.found.rule]),
                SpecStatus.from_workspace(each.artifact, workspace),
            )
            for each in findings
        ),
        patterns=find_patterns(findings, audit),
        audit=audit,
        unknowns=tuple(_list_unknowns(audit, catalogue, workspace, own, declared=declared)),
        steps=tuple(list_steps(findings, workspace, declared=declared, tested=tested)),
        set_aside=len(report.suppressed) + len(report.baselined),
    )


def _gap(
    channel: Channel, findings: Sequence[Finding], audit: Audit, workspace: Workspace | None
) -> ChannelGap:
    evidence = [
        (file.zone != "core", f"{each.path}:{each.line} {each.what}")
        for file in audit.files
        if file.zone != "tests" or channel is Channel.DIVERGENCE
        for each in file.evidence
        if each.channel == channel
    ]
    mine = [each.severity for each in findings if each.channel == channel]
    worst = max(mine, default=Severity.INFORMATIONAL)
    audited = 0
    if channel is Channel.EFFECTS:
        audited = sum(each.is_gap for each in audit.reads)
    elif channel in {Channel.SEEDS, Channel.RNG}:
        draws = channel is Channel.RNG
        audited = sum((each.kind is UseKind.DRAWS) is draws for each in _list_orphans(audit))
    state = "clear" if evidence or mine else "not touched"
    if worst >= Severity.HIGH:
        state = "broken"
    elif worst >= Severity.MEDIUM or audited:
        state = "doubtful"
    return ChannelGap(
        channel,
        len(evidence),
        min(evidence, key=lambda each: each[0])[1] if evidence else "",
        tuple((severity, mine.count(severity)) for severity in reversed(Severity)),
        audited,
        "" if workspace is None else workspace.artifacts.get(channel.artifact, ""),
        state,
    )


def _list_orphans(audit: Audit) -> list[RandomUse]:
    return [each for each in audit.uses if each.is_orphan and each.zone == "core"]


def _judge(findings: Sequence[Finding], audit: Audit, policy: Policy) -> ReviewVerdict:
    """Say in one sentence whether the promise holds, as far as reading tells."""
    promise = f"{policy.kind.value} ({policy.scope.value})"
    high = [each for each in findings if each.severity >= Severity.HIGH]
    if high:
        count = pluralize(len(high), "finding")
        text = f"Not {promise}: {count} of high severity or above in {_channels(high)}."
        return ReviewVerdict("broken", text, max(each.found.confidence for each in high))
    reasons = []
    medium = [each for each in findings if each.severity is Severity.MEDIUM]
    if medium:
        count = pluralize(len(medium), "finding")
        reasons.append(f"{count} of medium severity in {_channels(medium)}")
    orphans = len(_list_orphans(audit))
    # Of a statistical promise, other numbers are the same distribution.
    if orphans and policy.kind is not DeterminismClass.STATISTICAL:
        places = pluralize(orphans, "place")
        reasons.append(f"{places} whose random numbers no seed of the run reaches")
    if reasons:
        text = f"Doubtful whether it is {promise}: {' and '.join(reasons)}."
        return ReviewVerdict("doubtful", text, 0.7)
    seen = len(audit.files) / max(1, len(audit.files) + len(audit.unread))
    text = f"Nothing was found that breaks {promise}. Reading alone does not prove it."
    return ReviewVerdict("nothing-found", text, round(0.6 * seen, 2))


def _channels(findings: Sequence[Finding]) -> str:
    names = list(dict.fromkeys(each.channel for each in findings))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _list_unknowns(
    audit: Audit,
    catalogue: Catalogue,
    workspace: Workspace | None,
    own: Sequence[Finding],
    *,
    declared: bool,
) -> Iterator[Unknown]:
    """List what the review does not know, the most far-reaching first."""
    remarks = [
        NotedPlace(each.path, each.found.place.line, each.found.message)
        for each in own
        if each.found.rule != UNREADABLE
    ]
    yield from _show(
        (
            audit.unread, "{} could not be read. This review contains nothing about them.", "file",
            "run twice with the Python that they are written for",
        ),
        (remarks, "{} for the checker cannot be used.", "comment", "twice check PATH"),
    )  # fmt: skip
    if not declared:
        yield Unknown(
            "No determinism class is declared. The review assumes bit-exact on one host.",
            (),
            "declare it: --class logical, or a line class: in 01-determinism-class.md",
        )
    if workspace is None:
        yield Unknown(
            f"There is no specification ({FOLDER}/), so the review knows only the code, not the intention.",
            (),
            f"write {FOLDER}/01-determinism-class.md and 02-seed-governance-spec.md first",
        )
    yield from _list_unread_code(audit)
    strangers = _list_uncatalogued(audit, catalogue)
    if strangers:
        more = len(strangers) - _LIBRARIES_MAX
        yield Unknown(
            f"{pluralize(len(strangers), 'library', 'libraries')} that the catalogue does not know: "
            f"{', '.join(strangers[:_LIBRARIES_MAX])}{f' and {more} more' if more > 0 else ''}.",
            (),
            "add their functions that draw, start threads or ask the world to a catalogue",
        )
    yield Unknown(
        "Reading proves nothing about a run. The review did not look at a record.",
        (),
        f"twice record {_PROGRAM} -o a.twice && twice verify a.twice",
    )


def _show(*rows: tuple[Sequence[NotedPlace], str, str, str]) -> Iterator[Unknown]:
    """Yield what is unknown of places that there are: the places, a sentence with a gap, what is counted, a command."""
    for places, sentence, noun, tells in rows:
        if places:
            first = tuple(f"{each.path}:{each.line} {each.what}" for each in places[:_PLACES_MAX])
            yield Unknown(sentence.format(pluralize(len(places), noun)), first, tells)


def _list_unread_code(audit: Audit) -> Iterator[Unknown]:
    """List the kinds of code in the core that reading cannot follow."""
    core = [file for file in audit.files if file.zone == "core"]
    handed = [
        NotedPlace(each.path, each.line, each.call)
        for each in audit.reads
        if each.reach is Reach.UNSEEN and each.zone == "core" and not each.is_recorded
    ]
    passed = [
        NotedPlace(each.path, each.line, each.call)
        for each in audit.uses
        if each.kind is UseKind.DRAWS
        and each.zone == "core"
        and each.origin.owner in {StreamOwner.PASSED, StreamOwner.PARAMETER}
        and not each.origin.note.startswith("made in")
    ]
    dynamic = [each for file in core for each in file.dynamic]
    native = [each for file in core for each in file.native]
    record, vary = (
        f"twice record {_PROGRAM} -o a.twice && twice show a.twice",
        f"twice vary {_PROGRAM}",
    )
    return _show(
        (handed, "{} of the world, handed to code that was not followed.", "answer", vary),
        (passed, "{} from generators that come from other code.", "draw", record),
        (dynamic, "Code is made or imported by a computed name in {}.", "place", record),
        (
            native, "Native code, which may draw, thread or keep state, is called in {}.", "file",
            f"{vary} --factor threads",
        ),
    )  # fmt: skip


def _list_uncatalogued(audit: Audit, catalogue: Catalogue) -> list[str]:
    """List the libraries that the core imports and of which no group of the catalogue has a name."""
    known = {name.partition(".")[0] for names in catalogue.groups.values() for name in names}
    known |= sys.stdlib_module_names | {"twice"}
    known |= {bit.removesuffix(".py") for file in audit.files for bit in file.path.split("/")}
    imported = {each for file in audit.files if file.zone == "core" for each in file.packages}
    return sorted(each for each in imported - known if each[0] != "_")
