"""The review as a value: made from findings, audits and the specification.

Invariant: nothing of the time, the machine or the number of processes is in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from twice.checker.auditing.effects import Ask
from twice.checker.auditing.projects import Noted, Project
from twice.checker.auditing.seeds import Draw, What
from twice.checker.auditing.streams import Stream, streams
from twice.checker.catalogue import Catalogue
from twice.checker.findings import Finding
from twice.checker.housekeeping import HOUSEKEEPING_NAMES
from twice.checker.policy import Policy
from twice.checker.report import Report
from twice.checker.reviewing.judgement import (
    Kind,
    Standing,
    Victim,
    kind_of,
    risk_of,
    standing_of,
)
from twice.checker.reviewing.patterns import Seen, seen_in, signs_of
from twice.checker.reviewing.sequence import Step, steps
from twice.checker.reviewing.unknowns import Unknown, unknowns
from twice.checker.reviewing.verdict import Verdict, verdict_of
from twice.checker.rule import RuleFacts
from twice.checker.workspace import Workspace
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding with what it means.

    Args:
        finding: as the checker gives it.
        kind: what kind of gap it is.
        standing: what the specification says of it.
        victim: what no longer works.
        risk: the same in one sentence.
    """

    finding: Finding
    kind: Kind
    standing: Standing
    victim: Victim
    risk: str


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
    """What is to be said of a project.

    Args:
        verdict: in one sentence, with confidence.
        policy: what was promised, or assumed.
        declared: whether anybody declared it.
        files: how many were read.
        lines: how many lines they have.
        workspace: the specification, when there is one.
        channels: the ten.
        findings: the worst first, then by channel.
        patterns: what findings make together.
        draws: the seed audit.
        asks: the effects audit.
        unknowns: what is not known.
        steps: what to do, in order.
        set_aside: how many findings comments and the baseline took away.
        unread: the files that could not be read, with the reason.
    """

    verdict: Verdict
    policy: Policy
    declared: bool
    files: int
    lines: int
    workspace: Workspace | None
    channels: tuple[ChannelGap, ...]
    findings: tuple[Judged, ...]
    patterns: tuple[Seen, ...]
    draws: tuple[Draw, ...]
    asks: tuple[Ask, ...]
    unknowns: tuple[Unknown, ...]
    steps: tuple[Step, ...]
    set_aside: int
    unread: tuple[Noted, ...]

    @property
    def exit_code(self) -> int:
        """0 when nothing is high, 1 when something is; 2 when nothing is, but some files could not be read."""
        worst = max((each.finding.severity for each in self.findings), default=Severity.LOW)
        return 1 if worst >= Severity.HIGH else 2 if self.unread else 0

    @property
    def streams(self) -> tuple[Stream, ...]:
        """What is drawn outside of tests, by owner, orphans first."""
        return streams(self.draws)

    @property
    def gaps(self) -> tuple[Ask, ...]:
        """Questions of the core that no replay can answer again."""
        return tuple(each for each in self.asks if each.is_gap)


def review(
    report: Report,
    project: Project,
    catalogue: Catalogue,
    workspace: Workspace | None,
) -> Review:
    """Put everything together.

    Args:
        report: of the checker.
        project: what the audits saw.
        catalogue: the API names that were in force.
        workspace: the specification, when there is one.
    """
    draws = project.draws
    order = {channel.value: at for at, channel in enumerate(Channel)}
    policy, declared = report.policy, report.policy.is_declared
    own = [each for each in report.findings if each.found.rule in HOUSEKEEPING_NAMES]
    sorted_findings = sorted(
        (each for each in report.findings if each.found.rule not in HOUSEKEEPING_NAMES),
        key=lambda each: (
            -each.severity, order[each.channel], each.path, each.found.place.line, each.found.rule
        ),
    )  # fmt: skip
    tested = any(
        each.channel == Channel.DIVERGENCE for one in project.files for each in one.evidence
    )
    return Review(
        verdict=verdict_of(sorted_findings, draws, project, policy),
        policy=policy,
        declared=declared,
        files=len(project.files) + len(project.unread),
        lines=sum(each.lines for each in project.files),
        workspace=workspace,
        channels=tuple(_gap(each, sorted_findings, project, draws, workspace) for each in Channel),
        findings=_judge(sorted_findings, report.rules, workspace),
        patterns=seen_in(signs_of(sorted_findings, project, draws)),
        draws=draws,
        asks=project.asks,
        unknowns=unknowns(project, draws, catalogue, workspace, own, declared=declared),
        steps=steps(sorted_findings, workspace, declared=declared, tested=tested),
        set_aside=len(report.suppressed) + len(report.baselined),
        unread=project.unread,
    )


def _judge(
    findings: Sequence[Finding], rules: Mapping[str, RuleFacts], workspace: Workspace | None
) -> tuple[Judged, ...]:
    present = None if workspace is None else workspace.numbers
    judged = []
    for each in findings:
        rule, channel = each.found.rule, Channel(each.channel)
        victim, risk = risk_of(rule, channel, rules[rule].breaks)
        standing = standing_of(each.artifact, present)
        judged.append(Judged(each, kind_of(rule, channel), standing, victim, risk))
    return tuple(judged)


def _gap(
    channel: Channel,
    findings: Sequence[Finding],
    project: Project,
    draws: Sequence[Draw],
    workspace: Workspace | None,
) -> ChannelGap:
    evidence = [
        each
        for file in project.files
        if file.zone != "tests" or channel is Channel.DIVERGENCE
        for each in file.evidence
        if each.channel == channel
    ]
    mine = [each for each in findings if each.channel == channel]
    counts = tuple(
        (severity, sum(each.severity is severity for each in mine))
        for severity in reversed(Severity)
    )
    worst = max((each.severity for each in mine), default=Severity.INFORMATIONAL)
    audited = _audited(channel, draws, project)
    state = "clear" if evidence or mine else "not touched"
    if worst >= Severity.HIGH:
        state = "broken"
    elif worst >= Severity.MEDIUM or audited:
        state = "doubtful"
    core = [each for each in evidence if not _is_aside(each.path, project)]
    first = (core or evidence)[0] if evidence else None
    return ChannelGap(
        channel,
        len(evidence),
        "" if first is None else f"{first.path}:{first.line} {first.what}",
        counts,
        audited,
        "" if workspace is None else workspace.artifacts.get(channel.artifact, ""),
        state,
    )


def _audited(channel: Channel, draws: Sequence[Draw], project: Project) -> int:
    """Count the audits' findings about a channel in the core."""
    if channel is Channel.EFFECTS:
        return sum(each.is_gap for each in project.asks)
    if channel not in {Channel.SEEDS, Channel.RNG}:
        return 0
    return sum(
        each.is_orphan
        and each.zone == "core"
        and (each.what is What.DRAWS) is (channel is Channel.RNG)
        for each in draws
    )


def _is_aside(path: str, project: Project) -> bool:
    return any(each.path == path and each.zone != "core" for each in project.files)
