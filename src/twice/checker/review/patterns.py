"""What several findings make together: patterns over channels.

A sign is something that a finding or an audit shows at a place. A pattern needs one sign of each of several kinds
in one class, in one file, or anywhere in the project.

Invariant: a pattern names the signs that it was found by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from twice.checker.analysis.generators import StreamOwner, UseKind
from twice.checker.analysis.stream_uses import SPACES
from twice.checker.audits.audit import Audit, NotedPlace, WorldRead
from twice.checker.audits.streams import RandomUse
from twice.checker.findings import Finding
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity


@dataclass(frozen=True, slots=True)
class Sign:
    """Something seen at a place.

    Args:
        source: the finding, draw, question or import.
        path: the file.
        line: from 1.
        owner: the first name of the class or function around it; "" at the top.
        what: in a few words.
    """

    source: Finding | RandomUse | WorldRead | NotedPlace
    path: str
    line: int
    owner: str
    what: str


_Need = Callable[[Sign], bool]


@dataclass(frozen=True, slots=True)
class Pattern:
    """What several signs make together.

    Args:
        name: words with hyphens.
        title: what it is, in one line.
        needs: one sign for each has to be there.
        within: ``class``, ``file`` or ``project``.
        why: the consequence of having all of them, which none of them shows alone.
        remedy: what to do.
        lacks: a sign that must not be anywhere in the project.
    """

    name: str
    title: str
    needs: tuple[_Need, ...]
    within: str
    why: str
    remedy: str
    lacks: _Need | None = None


@dataclass(frozen=True, slots=True)
class PatternMatch:
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
    count: int


def _finding(*channels: Channel) -> _Need:
    return lambda sign: isinstance(sign.source, Finding) and sign.source.channel in channels


def _worker_finding(sign: Sign) -> bool:
    words = {"completed", "unordered", "workers", "executor"}
    source = sign.source
    return isinstance(source, Finding) and not words.isdisjoint(source.found.rule.split("-"))


def _draw(what: UseKind | None, test: Callable[[RandomUse], bool] = lambda _: True) -> _Need:
    return lambda sign: (
        isinstance(sign.source, RandomUse)
        and what in {sign.source.kind, None}
        and test(sign.source)
    )


def _question(*kinds: str, use: str = "") -> _Need:
    return lambda sign: (
        isinstance(sign.source, WorldRead)
        and sign.source.kind in kinds
        and (not use or sign.source.use == use)
    )


def _evidence(channel: Channel) -> _Need:
    return lambda sign: isinstance(sign.source, NotedPlace) and sign.source.channel == channel


def _is_unseeded_process(draw: RandomUse) -> bool:
    return draw.is_orphan and "process-wide" in draw.origin.note


def _is_own_generator(draw: RandomUse) -> bool:
    owners = {StreamOwner.GENERATOR, StreamOwner.NOBODY}
    return draw.origin.owner in owners and draw.stream.startswith("self.")


PATTERNS: Final = (
    Pattern(
        "unseeded-and-untested",
        "Random numbers that nobody seeds, and no test that would notice",
        (
            _draw(
                None,
                lambda each: (
                    each.origin.owner is StreamOwner.NOBODY
                    and (each.kind is not UseKind.SEEDS or each.stream == SPACES)
                ),
            ),
        ),
        "project",
        "You cannot reproduce any result, and no test shows it.",
        "Seed the streams first (02, 03), then keep one test that runs twice and compares (12).",
        lacks=_evidence(Channel.DIVERGENCE),
    ),
    Pattern(
        "seeded-in-part",
        "Some process-wide streams are seeded, others are drawn from unseeded",
        (
            _draw(
                UseKind.SEEDS,
                lambda each: each.origin.owner is StreamOwner.PROCESS and each.stream != SPACES,
            ),
            _draw(UseKind.DRAWS, _is_unseeded_process),
        ),
        "file",
        "The program looks seeded: the same seed is printed, and the results differ.",
        "Seed every stream from the one seed of the run, or make one generator and pass it on (03).",
    ),
    Pattern(
        "snapshot-without-generator",
        "State is left out of the snapshot and made anew on restoring",
        (
            _finding(Channel.SNAPSHOT),
            lambda sign: (
                _finding(Channel.REPLAY)(sign) or _draw(UseKind.MAKES, _is_own_generator)(sign)
            ),
        ),
        "class",
        "After a restore the random numbers begin again or elsewhere: the run does not continue as it was.",
        "Put the generator's state into the snapshot and set it on restore. Never seed there (04, 06).",
    ),
    Pattern(
        "order-into-identity",
        "An unspecified order next to a digest or a key",
        (_finding(Channel.CONCURRENCY), _finding(Channel.ENCODING)),
        "file",
        "Equal contents get other digests from one process to the next: caches miss, comparisons fail.",
        "Sort before hashing (07), and hash a canonical form (11).",
    ),
    Pattern(
        "seeds-by-position-among-workers",
        "Seeds that depend on a position, and workers that come in any order",
        (_finding(Channel.SEEDS, Channel.RNG), _worker_finding),
        "file",
        "Which worker gets which numbers depends on the schedule.",
        "Derive each worker's seed from its name or number, and collect in the order of submission (03, 07).",
    ),
    Pattern(
        "clock-decides",
        "A clock decides a branch of a program that also draws random numbers",
        (_question("clock", use="branch"), _draw(UseKind.DRAWS)),
        "file",
        "A slower machine takes another branch, and draws other numbers from then on.",
        "Count ticks instead of seconds, or take the time from the run (10).",
    ),
    Pattern(
        "shared-stream-and-threads",
        "Threads or tasks draw from the stream of the whole process",
        (
            _draw(
                UseKind.DRAWS,
                lambda each: each.origin.owner is StreamOwner.PROCESS or _is_unseeded_process(each),
            ),
            _evidence(Channel.CONCURRENCY),
        ),
        "file",
        "The thread that runs first gets the next number: a seed alone fixes nothing.",
        "Give each thread or task a stream of its own, by name (03, 07).",
    ),
    Pattern(
        "answers-under-unstable-keys",
        "Answers of the world are kept under keys that are not stable",
        (_question("network", "processes"), _finding(Channel.ENCODING)),
        "file",
        "A cache that should give the recorded answer asks again, and gets another one.",
        "Key by a canonical form of the question (11), and record the answers (10).",
    ),
)
_SIGNS_MAX: Final = 4


def find_patterns(findings: Sequence[Finding], audit: Audit) -> tuple[PatternMatch, ...]:
    """Give the patterns that findings of weight and the audits of the core make, each once."""
    signs = list(_signs(findings, audit))
    found = []
    for pattern in PATTERNS:
        if pattern.lacks is not None and any(map(pattern.lacks, signs)):
            continue
        hits = list(_hits(pattern, signs))
        if hits:
            where, chosen = max(hits, key=lambda hit: len(hit[1]))
            found.append(PatternMatch(pattern, where, chosen, len(hits)))
    return tuple(found)


def _signs(findings: Sequence[Finding], audit: Audit) -> Iterator[Sign]:
    for each in findings:
        least = Severity.LOW if each.zone == "core" else Severity.MEDIUM
        if each.severity >= least:
            yield Sign(
                each,
                each.path,
                each.found.place.line,
                _first(each.found.symbol),
                each.found.message,
            )
    for draw in audit.uses:
        if draw.zone == "core":
            yield Sign(draw, draw.path, draw.line, _first(draw.function), draw.call)
    for ask in audit.reads:
        if ask.zone == "core" and not ask.is_recorded:
            yield Sign(ask, ask.path, ask.line, _first(ask.function), ask.call)
    for file in audit.files:
        for one in file.evidence:
            is_test = one.channel == Channel.DIVERGENCE and file.zone == "tests"
            imports = one.channel == Channel.CONCURRENCY and one.what.startswith("import ")
            if is_test or (imports and file.zone == "core"):
                yield Sign(one, file.path, one.line, "", one.what)


def _first(symbol: str) -> str:
    return symbol.partition(".")[0]


def _hits(pattern: Pattern, signs: Sequence[Sign]) -> Iterator[tuple[str, tuple[Sign, ...]]]:
    groups: dict[str, list[Sign]] = {}
    for sign in signs:
        key = {"class": f"{sign.path}:{sign.owner}", "file": sign.path}.get(pattern.within, "")
        if pattern.within != "class" or sign.owner:
            groups.setdefault(key, []).append(sign)
    for key, group in groups.items():
        chosen: list[Sign] = []
        for need in pattern.needs:
            fitting = [sign for sign in group if need(sign) and sign not in chosen]
            if not fitting:
                break
            chosen.extend(fitting[: _SIGNS_MAX // len(pattern.needs)])
        else:
            yield key, tuple(chosen)
