"""What several findings make together: patterns over channels, as data.

A sign is something that a finding or an audit shows at a place. A pattern needs one sign out of each
of several groups, in one class, in one file, or anywhere in the project.

Invariant: a pattern names the signs that it was found by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from twice.checker.auditing.origins import Owner
from twice.checker.auditing.projects import Project
from twice.checker.auditing.seeds import SPACES, Draw, What
from twice.checker.findings import Finding
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_PLACES_MAX: Final = 4


@dataclass(frozen=True, slots=True)
class Sign:
    """Something seen at a place.

    Args:
        names: what it is a sign of, for example ``rule:set-order`` or ``draws:process-wide``.
        path: the file.
        line: from 1.
        owner: the class or function that it stands in, its first name; "" at the top.
        what: in a few words.
    """

    names: frozenset[str]
    path: str
    line: int
    owner: str
    what: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """What several signs make together.

    Args:
        name: words with hyphens.
        title: what it is, in one line.
        needs: groups of names of signs: one of each has to be there.
        within: ``class``, ``file`` or ``project``.
        lacks: names of signs that must not be anywhere in the project.
        why: what follows from having all of them, which none of them says alone.
        remedy: what to do.
    """

    name: str
    title: str
    needs: tuple[frozenset[str], ...]
    within: str
    why: str
    remedy: str
    lacks: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Seen:
    """A pattern that was found.

    Args:
        pattern: which.
        where: the class or file; "" for the whole project.
        signs: one sign for each need at least, the first few.
        count: how many classes, files or projects have it.
    """

    pattern: Pattern
    where: str
    signs: tuple[Sign, ...]
    count: int = 1


def _any(*names: str) -> frozenset[str]:
    return frozenset(names)


PATTERNS: Final = (
    Pattern(
        "unseeded-and-untested",
        "Random numbers that nobody seeds, and no test that would notice",
        (_any("draws:nobody", "makes:nobody"),),
        "project",
        "You cannot reproduce any result, and no test shows it.",
        "Seed the streams first (02, 03), then keep one test that runs twice and compares (12).",
        lacks=_any("test:determinism"),
    ),
    Pattern(
        "seeded-in-part",
        "Some process-wide streams are seeded, others are drawn from unseeded",
        (_any("seeds:process-wide"), _any("draws:nobody-process-wide")),
        "file",
        "The program looks seeded: the same seed is printed, and the results differ.",
        "Seed every stream from the one seed of the run, or make one generator and pass it on (03).",
    ),
    Pattern(
        "snapshot-without-generator",
        "State is left out of the snapshot and made anew on restoring",
        (_any("channel:snapshot"), _any("channel:replay", "makes:generator-of-self")),
        "class",
        "After a restore the random numbers begin again or elsewhere: the run does not continue as it was.",
        "Put the generator's state into the snapshot and set it on restore. Never seed there (04, 06).",
    ),
    Pattern(
        "order-into-identity",
        "An unspecified order next to a digest or a key",
        (_any("channel:concurrency"), _any("channel:encoding")),
        "file",
        "Equal contents get other digests from one process to the next: caches miss, comparisons fail.",
        "Sort before hashing (07), and hash a canonical form (11).",
    ),
    Pattern(
        "seeds-by-position-among-workers",
        "Seeds that depend on a position, and workers that come in any order",
        (_any("channel:seeds", "channel:rng"), _any("rule-word:completed", "rule-word:unordered",
                                                     "rule-word:workers", "rule-word:executor")),
        "file",
        "Which worker gets which numbers depends on the schedule.",
        "Derive each worker's seed from its name or number, and collect in the order of submission (03, 07).",
    ),
    Pattern(
        "clock-decides",
        "A clock decides a branch of a program that also draws random numbers",
        (_any("asks:clock-branch"), _any("draws:any")),
        "file",
        "A slower machine takes another branch, and draws other numbers from then on.",
        "Count ticks instead of seconds, or take the time from the run (10).",
    ),
    Pattern(
        "shared-stream-and-threads",
        "Threads or tasks draw from the stream of the whole process",
        (_any("draws:process-wide"), _any("imports:concurrent")),
        "file",
        "The thread that runs first gets the next number: a seed alone fixes nothing.",
        "Give each thread or task a stream of its own, by name (03, 07).",
    ),
    Pattern(
        "answers-under-unstable-keys",
        "Answers of the world are kept under keys that are not stable",
        (_any("asks:network", "asks:processes"), _any("channel:encoding")),
        "file",
        "A cache that should give the recorded answer asks again, and gets another one.",
        "Key by a canonical form of the question (11), and record the answers (10).",
    ),
)  # fmt: skip


def signs_of(findings: Sequence[Finding], project: Project, draws: Sequence[Draw]) -> list[Sign]:
    """Give the signs of findings of weight, and of the audits in the core."""
    found = [_finding_sign(each) for each in findings if _counts(each)]
    for draw in draws:
        if draw.zone == "core":
            names = frozenset(_draw_names(draw))
            found.append(Sign(names, draw.path, draw.line, _first(draw.function), draw.call))
    for ask in project.asks:
        if ask.zone == "core" and not ask.governed:
            names = frozenset({f"asks:{ask.kind}", f"asks:{ask.kind}-{ask.use}"})
            found.append(Sign(names, ask.path, ask.line, _first(ask.function), ask.call))
    for file in project.files:
        for evidence in file.evidence:
            if evidence.channel == Channel.DIVERGENCE and file.zone == "tests":
                names = frozenset({"test:determinism"})
                found.append(Sign(names, file.path, evidence.line, "", evidence.what))
            elif evidence.channel == Channel.CONCURRENCY and evidence.what.startswith("import "):
                names = frozenset({"imports:concurrent"})
                if file.zone == "core":
                    found.append(Sign(names, file.path, evidence.line, "", evidence.what))
    return found


def _counts(finding: Finding) -> bool:
    return finding.severity >= Severity.MEDIUM or (
        finding.severity >= Severity.LOW and finding.zone == "core"
    )


def _finding_sign(each: Finding) -> Sign:
    words = {f"rule-word:{word}" for word in each.found.rule.split("-")}
    names = frozenset({f"channel:{each.channel}", f"rule:{each.found.rule}", *words})
    return Sign(
        names, each.path, each.found.place.line, _first(each.found.symbol), each.found.message
    )


def _draw_names(draw: Draw) -> Iterator[str]:
    owner = draw.origin.owner
    if draw.what is What.DRAWS:
        yield "draws:any"
        yield f"draws:{owner.value}"
        if draw.is_orphan and "process-wide" in draw.origin.note:
            yield "draws:nobody-process-wide"
            yield "draws:process-wide"
    elif draw.what is What.SEEDS and draw.stream != SPACES:
        yield f"seeds:{owner.value}"
    else:
        yield f"makes:{owner.value}"
        if owner in {Owner.GENERATOR, Owner.NOBODY} and draw.stream.startswith("self."):
            yield "makes:generator-of-self"


def _first(symbol: str) -> str:
    return symbol.partition(".")[0]


def seen_in(signs: Sequence[Sign]) -> tuple[Seen, ...]:
    """Give the patterns that signs make, each once, with the place that shows it best."""
    every = frozenset(name for sign in signs for name in sign.names)
    found = []
    for pattern in PATTERNS:
        if not pattern.lacks.isdisjoint(every):
            continue
        if any(every.isdisjoint(need) for need in pattern.needs):
            continue
        hits = list(_hits(pattern, signs))
        if hits:
            best = max(hits, key=lambda hit: len(hit[1]))
            first = next(hit for hit in hits if len(hit[1]) == len(best[1]))
            found.append(Seen(pattern, first[0], first[1], len(hits)))
    return tuple(found)


def _hits(pattern: Pattern, signs: Sequence[Sign]) -> Iterator[tuple[str, tuple[Sign, ...]]]:
    groups: dict[str, list[Sign]] = {}
    for sign in signs:
        key = {"class": f"{sign.path}:{sign.owner}", "file": sign.path}.get(pattern.within, "")
        if pattern.within == "class" and not sign.owner:
            continue
        groups.setdefault(key, []).append(sign)
    for key, group in groups.items():
        chosen: list[Sign] = []
        for need in pattern.needs:
            fitting = [
                sign for sign in group if not need.isdisjoint(sign.names) and sign not in chosen
            ]
            if not fitting:
                break
            chosen.extend(fitting[: max(1, _PLACES_MAX // len(pattern.needs))])
        else:
            yield key, tuple(chosen)
