"""Checking a project: every file is read with every rule, all facts are put together, all is weighed.

What files gave before is taken from the cache; only what changed is read anew, in any number of
processes. Suppressions and baselines are applied in ``settling`` and ``baselines``.

Invariant: what comes out is the same with and without a cache and for any number of processes;
without a change no rule and no catalogue is imported.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from twice.checker import packing
from twice.checker.accepting.comments import Remarks
from twice.checker.caching import Cache, Pack
from twice.checker.findings import Finding, Violation
from twice.checker.judging import weighed
from twice.checker.looked import FileResult, unreadable
from twice.checker.policy import Policy
from twice.checker.reader import Reader
from twice.checker.reading import package_of, read, size_of
from twice.checker.rule import RuleFacts
from twice.foundation.digests import Algorithm, raw_digest


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found.

    Args:
        findings: sorted by path, line, column and rule.
        files: how many files were asked for.
        lines: how many lines they have.
        remarks: what comments say to the checker, for each file with some.
        rules: what is known of each rule, by name.
        results: what each file gave, in the order in which they were asked for.
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
    reader: Reader | None = None,
    jobs: int = 1,
    cache: Cache | None = None,
) -> Checked:
    """Check files.

    Args:
        paths: files, each once, as findings name them.
        policy: what was promised.
        reader: how to read them; the shipped catalogue with values followed by default.
        jobs: how many processes read at most.
        cache: what is known from before; nothing by default.
    """
    used = reader or Reader()
    kept = cache or Cache(None, used)
    gathered = _gathered(paths, used, jobs, kept)
    every = [(path, found) for path, one in gathered.looked.items() for found in one.found]
    remarks = {
        path: one.remarks
        for path, one in gathered.looked.items()
        if one.remarks.ignores or one.remarks.boundaries
    }
    return Checked(
        findings=weighed(
            [*every, *gathered.concluded],
            gathered.rules,
            policy,
            {path: said.boundaries for path, said in remarks.items()},
            gathered.lent,
        ),
        files=len(paths),
        lines=sum(each.lines for each in gathered.looked.values()),
        remarks=remarks,
        rules=gathered.rules,
        results={path: gathered.looked[path] for path in paths},
        facts=gathered.facts,
    )


def judge(looked: Mapping[str, FileResult], policy: Policy) -> tuple[Finding, ...]:
    """Weigh what was found in every file, and what all facts together show."""
    from twice.checker.looking import concluded, lent, rule_table

    facts = {path: one.facts for path, one in looked.items()}
    every = [(path, found) for path, one in looked.items() for found in one.found]
    every += concluded(facts)
    stretches = {path: one.remarks.boundaries for path, one in looked.items()}
    return weighed(every, rule_table(), policy, stretches, lent(facts))


@dataclass(frozen=True, slots=True)
class _Gathered:
    """What all files gave, by path, in the order in which they were asked for."""

    looked: dict[str, FileResult]
    concluded: Sequence[tuple[str, Violation]]
    lent: Sequence[str]
    rules: Mapping[str, RuleFacts]
    facts: Callable[[], Mapping[str, Mapping[str, Any]]]


def _gathered(paths: Sequence[str], reader: Reader, jobs: int, cache: Cache) -> _Gathered:
    pack = cache.load()
    marks: dict[str, tuple[str, str]] = {}
    known: dict[str, FileResult] = {}
    stale: list[tuple[str, str, int]] = []
    for path in paths:
        package = package_of(path)
        if not pack.files:  # Nothing is known: who reads a file reads it once.
            stale.append((path, package, size_of(path)))
            continue
        raw = read(path)
        if raw.data is None:
            known[path] = FileResult((unreadable(raw.reason),))
            continue
        digest = raw.digest
        marks[path] = (digest, package)
        one = pack.looked(path, digest, package)
        if one is None:
            stale.append((path, package, len(raw.data)))
        else:
            known[path] = one
    of = _digest_of(paths, marks)
    if not stale and pack.rules and pack.concluded[0] == of:
        return _Gathered(
            known, pack.concluded[1], pack.lent, pack.rules, partial(json.loads, pack.facts)
        )
    return _afresh(paths, reader, jobs, cache, pack, known, stale, marks)


def _digest_of(paths: Sequence[str], marks: Mapping[str, tuple[str, str]]) -> str:
    text = json.dumps([[path, *marks.get(path, ())] for path in paths])
    return raw_digest(Algorithm.SHA256)(text.encode("ascii")).hex()


def _afresh(
    paths: Sequence[str],
    reader: Reader,
    jobs: int,
    cache: Cache,
    pack: Pack,
    known: Mapping[str, FileResult],
    stale: Sequence[tuple[str, str, int]],
    marks: dict[str, tuple[str, str]],
) -> _Gathered:
    """Read what changed, put all facts together, and keep it."""
    from twice.checker.looking import Task, concluded, lent, look, rule_table

    read_anew = look([Task(*each) for each in stale], reader, jobs)
    facts: dict[str, Any] = json.loads(pack.facts)
    exists = os.path.exists
    files = {path: entry for path, entry in pack.files.items() if path in known or exists(path)}
    looked: dict[str, FileResult] = {}
    for path in paths:
        if path in known:
            looked[path] = known[path]
            continue
        digest, one = read_anew[path]
        looked[path] = one
        facts.pop(path, None)
        files.pop(path, None)
        marks.pop(path, None)
        if digest:
            package = package_of(path)
            marks[path] = (digest, package)
            files[path] = (digest, package, packing.pack(one))
            if one.facts:
                facts[path] = one.facts
    asked = {path: facts[path] for path in paths if path in facts}
    found, borrowed = concluded(asked), lent(asked)
    table = rule_table()
    kept = {path: facts[path] for path in sorted(facts) if path in files}
    pack = Pack(table, dict(sorted(files.items())), (_digest_of(paths, marks), found), borrowed)
    cache.store(pack, kept)
    return _Gathered(looked, found, borrowed, table, lambda: asked)
