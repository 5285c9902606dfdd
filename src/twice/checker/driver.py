"""Checking files: the results of all files, from the cache or anew, put together and judged by the promise.

Comments and the baseline take findings away afterwards, in ``project``.

Invariant: the findings are the same with and without a cache and for any number of processes, and sorted by path,
line, column and rule. If nothing changed, no rule and no catalogue is imported.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from twice.checker.cache import Cache, Pack, digest_text
from twice.checker.config import AnalysisConfig
from twice.checker.files import SourceFile, find_package, measure_size, read_file
from twice.checker.findings import NO_REMARKS, FileResult, Finding, Remarks, Violation
from twice.checker.housekeeping import unreadable
from twice.checker.policy import Policy, Zone, certainty_of
from twice.checker.rule import RuleFacts
from twice.foundation.digests import Algorithm, raw_digest


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome of a check, before anything is taken away.

    Args:
        findings: sorted by path, line, column and rule.
        files: how many files were asked for.
        lines: how many lines they have.
        remarks: what comments say to the checker, for each file with some.
        rules: what is known of each rule, by name.
        results: the results of the files, in the order in which they were asked for.
        facts: gives the facts of each file, which a warm cache has not parsed yet.
    """

    findings: tuple[Finding, ...]
    files: int
    lines: int
    remarks: Mapping[str, Remarks] = field(default_factory=dict)
    rules: Mapping[str, RuleFacts] = field(default_factory=dict)
    results: Mapping[str, FileResult] = field(default_factory=dict)
    facts: Callable[[], Mapping[str, Mapping[str, Any]]] = field(default=dict, compare=False)


def check(
    paths: Sequence[str],
    policy: Policy,
    *,
    config: AnalysisConfig | None = None,
    jobs: int = 1,
    cache: Cache | None = None,
) -> Checked:
    """Check files.

    Args:
        paths: files, each once, as findings name them.
        policy: what was promised.
        config: how files are analysed; the shipped catalogue with values followed by default.
        jobs: how many processes read at most.
        cache: the results of the last check; none by default.
    """
    config = config or AnalysisConfig()
    cache = cache or Cache(None, config)
    pack = cache.load()
    known = _recall(paths, pack)
    facts: Callable[[], Mapping[str, Any]] = partial(json.loads, pack.facts)
    if known.stale or not pack.rules or pack.inputs != _digest_inputs(paths, known, policy):
        pack, fresh = _refresh(paths, known, pack, policy, config, jobs, cache)
        facts = partial(dict, fresh)
    results = {path: pack.linked.get(path, known.results[path]) for path in paths}
    remarks = {path: one.remarks for path, one in results.items() if one.remarks != NO_REMARKS}
    every = [(path, found) for path, one in results.items() for found in one.found]
    every += pack.concluded
    return Checked(
        findings=assign_severities(every, pack.rules, policy, remarks, pack.imported_tests),
        files=len(paths),
        lines=sum(each.lines for each in results.values()),
        remarks=remarks,
        rules=pack.rules,
        results=results,
        facts=facts,
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """The results that need no new reading, the digest and package of each file, and the files that changed."""

    results: dict[str, FileResult] = field(default_factory=dict)
    marks: dict[str, tuple[str, str]] = field(default_factory=dict)
    stale: list[SourceFile] = field(default_factory=list)


def _recall(paths: Sequence[str], pack: Pack) -> _Known:
    known = _Known()
    for path in paths:
        package = find_package(path)
        if not pack.files:  # Nothing is known: the analyser reads the file once.
            known.stale.append(SourceFile(path, package, measure_size(path)))
            continue
        raw = read_file(path)
        if raw.data is None:
            known.results[path] = unreadable(raw.reason)
            continue
        known.marks[path] = (raw.digest, package)
        result = pack.find(path, raw.digest, package)
        if result is None:
            known.stale.append(SourceFile(path, package, len(raw.data)))
        else:
            known.results[path] = result
    return known


def _digest_inputs(paths: Sequence[str], known: _Known, policy: Policy) -> str:
    """Digest everything that the conclusions over all files depend on."""
    files = [[path, *known.marks.get(path, ())] for path in paths]
    zones = [[zone.value, *patterns] for zone, patterns in sorted(policy.zones.items())]
    return digest_text(json.dumps([files, zones, policy.above, policy.below]))


def _refresh(
    paths: Sequence[str],
    known: _Known,
    pack: Pack,
    policy: Policy,
    config: AnalysisConfig,
    jobs: int,
    cache: Cache,
) -> tuple[Pack, dict[str, Any]]:
    """Read changed files, put all facts together, and keep everything."""
    from twice.checker.analysis.project_names import ProjectNames
    from twice.checker.analyzer import analyze_files, conclude, link, rule_table

    facts = json.loads(pack.facts)
    files = {
        path: entry
        for path, entry in pack.files.items()
        if path in known.results or os.path.exists(path)  # noqa: PTH110  (once for every file)
    }
    for one, (digest, result) in analyze_files(known.stale, config, jobs):
        for table in (facts, files, known.marks):
            table.pop(one.path, None)
        known.results[one.path] = result
        if digest:
            known.marks[one.path] = (digest, one.package)
            files[one.path] = (digest, one.package, result.to_json())
            if result.facts:
                facts[one.path] = result.facts
    asked = {path: facts[path] for path in paths if path in facts}
    names = ProjectNames.from_facts(asked)
    found, imported = conclude(asked, names, policy.zone)
    inputs = _digest_inputs(paths, known, policy)
    fresh = Pack(rule_table(), dict(sorted(files.items())), inputs, found, imported)
    if config.follows:
        marks = {"\0".join(each) for each in known.marks.values()}
        answers = {mark: its for mark, its in pack.answers.items() if mark in marks}
        results = {path: known.results[path] for path in paths}
        fresh.linked = link(results, names, known.marks, answers, policy.zone, config)
        fresh.answers = answers
    kept = {path: facts[path] for path in sorted(facts) if path in files}
    cache.store(fresh, kept)
    return fresh, kept


def judge(results: Mapping[str, FileResult], policy: Policy) -> tuple[Finding, ...]:
    """Judge the violations of every file, and those that all facts together show."""
    from twice.checker.analysis.project_names import ProjectNames
    from twice.checker.analyzer import conclude, rule_table

    facts = {path: one.facts for path, one in results.items()}
    found, imported = conclude(facts, ProjectNames.from_facts(facts), policy.zone)
    every = [(path, each) for path, one in results.items() for each in one.found]
    remarks = {path: one.remarks for path, one in results.items()}
    return assign_severities([*every, *found], rule_table(), policy, remarks, imported)


def assign_severities(
    every: Iterable[tuple[str, Violation]],
    rules: Mapping[str, RuleFacts],
    policy: Policy,
    remarks: Mapping[str, Remarks],
    imported_tests: Collection[str] = (),
) -> tuple[Finding, ...]:
    """Make findings of violations: with a zone, a severity, a certainty and a fingerprint, sorted.

    Args:
        every: the violations, each with its file.
        rules: what is known of each rule.
        policy: what was promised.
        remarks: for each file with some, the comments that declare a boundary.
        imported_tests: files among tests that the program itself imports.
    """
    zones: dict[str, Zone] = {}
    findings = []
    for path, found in every:
        zone = zones.get(path)
        if zone is None:
            zone = policy.zone(path)
            if zone is Zone.TESTS and path in imported_tests:
                zone = policy.imported_test_zone(path)
            zones[path] = zone
        if zone is Zone.CORE and path in remarks:
            line, stretches = found.place.line, remarks[path].boundaries
            if any(first <= line <= last for first, last in stretches):
                zone = Zone.BOUNDARY
        rule = rules[found.rule]
        findings.append(
            Finding(
                found=found,
                path=path,
                channel=rule.channel.value,
                artifact=rule.channel.artifact,
                severity=policy.severity(found, rule, zone),
                zone=zone.value,
                remedy=rule.remedy,
                certainty=certainty_of(found, rule, zone),
            )
        )
    findings.sort(key=lambda each: each.order)
    return _add_fingerprints(findings, policy)


def _add_fingerprints(findings: Sequence[Finding], policy: Policy) -> tuple[Finding, ...]:
    """Name each finding by what it is about, so that lines added above do not rename it."""
    sha256 = raw_digest(Algorithm.SHA256)
    seen: dict[tuple[str, str, str, str], int] = {}
    named = []
    for each in findings:
        found = each.found
        key = (found.rule, policy.to_project_path(each.path), found.symbol, found.statement)
        occurrence = seen[key] = seen.get(key, -1) + 1
        text = "\0".join([*key, str(occurrence)]).encode("utf-8", "surrogatepass")
        named.append(replace(each, fingerprint=sha256(text).hex()[:24]))
    return tuple(named)
