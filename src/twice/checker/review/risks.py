"""What findings risk, alone and together, and in which order to solve them.

A risk is looked up by rule or channel. A pattern needs one sign of each of several kinds in one class, in one file,
or anywhere in the project, where a sign is what a finding or an audit shows at a place. Steps follow the spine of the
specification, where each artifact rests on those before it: a stream cannot be isolated before it has a seed, nothing
can be saved before it has an owner.

Invariant: every rule has a risk, every step has something to do, and a pattern names the signs that it was found by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeAlias

from twice.checker.analysis.generators import StreamOwner, UseKind
from twice.checker.analysis.stream_uses import SPACES
from twice.checker.audits.audit import Audit, NotedPlace, WorldRead
from twice.checker.audits.streams import RandomUse
from twice.checker.findings import Finding
from twice.checker.rule import Breaks, RuleFacts
from twice.checker.workspace import Workspace
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity


class GapKind(StrEnum):
    """What kind of gap a finding is."""

    HIDDEN = "hidden-dependency"
    """The result depends on something that no input of the run names."""
    LIBRARY_DEFAULT = "library-default"
    """A library decides, because nobody told it."""
    CHANCE_ORDER = "order-left-to-chance"
    """Something comes in an order that nobody fixed."""
    OUTSIDE_SNAPSHOT = "state-outside-snapshot"
    """The state that a run needs to go on is not saved, or not restored."""
    WEAK_EVIDENCE = "weak-evidence"
    """The check that should show a difference cannot."""


class BrokenCapability(StrEnum):
    """What no longer works."""

    SEED = "replay from seed"
    RESUME = "resume"
    MACHINES = "another machine"
    COMPARISON = "comparison"


@dataclass(frozen=True, slots=True)
class Risk:
    """What a finding risks: the kind of gap, the capability that it breaks, and one sentence."""

    kind: GapKind
    breaks: BrokenCapability
    text: str


RISKS: Final[dict[Channel, Risk]] = {
    Channel.SEEDS: Risk(GapKind.HIDDEN, BrokenCapability.SEED,
        "A run with the same seed is another run: you cannot reproduce a result."),
    Channel.RNG: Risk(GapKind.HIDDEN, BrokenCapability.COMPARISON,
        "One more draw anywhere shifts all other random numbers, so you cannot compare two versions."),
    Channel.SNAPSHOT: Risk(GapKind.OUTSIDE_SNAPSHOT, BrokenCapability.RESUME,
        "A run that continues from a checkpoint differs from a run that was not interrupted."),
    Channel.DIVERGENCE: Risk(GapKind.WEAK_EVIDENCE, BrokenCapability.COMPARISON,
        "A regression stays hidden: runs that differ count as the same."),
    Channel.REPLAY: Risk(GapKind.OUTSIDE_SNAPSHOT, BrokenCapability.RESUME,
        "The restored state is not the saved state: a replay or a branch starts from another state."),
    Channel.CONCURRENCY: Risk(GapKind.CHANCE_ORDER, BrokenCapability.SEED,
        "The same seed gives another result in the next process, or with other workers."),
    Channel.FLOATING_POINT: Risk(GapKind.LIBRARY_DEFAULT, BrokenCapability.MACHINES,
        "Another machine, build or thread count changes the last digits, and every decision that depends on them."),
    Channel.GPU: Risk(GapKind.LIBRARY_DEFAULT, BrokenCapability.SEED,
        "Two runs on the same device differ in their last digits, and soon in everything."),
    Channel.EFFECTS: Risk(GapKind.HIDDEN, BrokenCapability.SEED,
        "A replay reads a world that has changed, and acts on other answers."),
    Channel.ENCODING: Risk(GapKind.HIDDEN, BrokenCapability.COMPARISON,
        "Equal states get unequal digests or keys: comparisons and caches are useless."),
}  # fmt: skip
RISKS_BY_RULE: Final[dict[str, Risk]] = {
    "unseeded-generator": replace(RISKS[Channel.SEEDS], kind=GapKind.LIBRARY_DEFAULT),
    "unseeded-global": replace(RISKS[Channel.SEEDS], kind=GapKind.LIBRARY_DEFAULT),
    "cloned-generator-state": Risk(GapKind.HIDDEN, BrokenCapability.COMPARISON,
        "Two samples that look independent are one: differences between them mean nothing."),
    "identity-subseed": Risk(GapKind.HIDDEN, BrokenCapability.SEED,
        "The sub-seed changes with every process, although the seed of the run is the same."),
    "unsorted-listing": Risk(GapKind.CHANCE_ORDER, BrokenCapability.MACHINES,
        "You cannot reproduce the result from a copy of the same files elsewhere."),
}  # fmt: skip
"""Where a rule risks something else than its channel."""


def assess_risk(rule: RuleFacts) -> Risk:
    """Give what the findings of a rule risk."""
    risk = RISKS_BY_RULE.get(rule.name)
    if risk is None and rule.breaks is Breaks.CROSS_HOST:
        text = "The result is stable on this machine. Another machine gets other bits from the same seed."
        return replace(RISKS[rule.channel], breaks=BrokenCapability.MACHINES, text=text)
    return risk or RISKS[rule.channel]


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


_Need: TypeAlias = Callable[[Sign], bool]


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


def _use(test: Callable[[RandomUse], bool]) -> _Need:
    return lambda sign: isinstance(sign.source, RandomUse) and test(sign.source)


def _read(test: Callable[[WorldRead], bool]) -> _Need:
    return lambda sign: isinstance(sign.source, WorldRead) and test(sign.source)


def _evidence(channel: Channel) -> _Need:
    return lambda sign: isinstance(sign.source, NotedPlace) and sign.source.channel == channel


def _is_worker_finding(sign: Sign) -> bool:
    words = {"completed", "unordered", "workers", "executor"}
    source = sign.source
    return isinstance(source, Finding) and not words.isdisjoint(source.found.rule.split("-"))


def _is_unowned(use: RandomUse) -> bool:
    seeds_a_stream = use.kind is UseKind.SEEDS and use.stream != SPACES
    return use.origin.owner is StreamOwner.NOBODY and not seeds_a_stream


def _seeds_process(use: RandomUse) -> bool:
    is_process = use.origin.owner is StreamOwner.PROCESS and use.stream != SPACES
    return use.kind is UseKind.SEEDS and is_process


def _draws_unseeded(use: RandomUse) -> bool:
    return use.kind is UseKind.DRAWS and use.is_orphan and "process-wide" in use.origin.note


def _draws_shared(use: RandomUse) -> bool:
    is_process = use.origin.owner is StreamOwner.PROCESS
    return (use.kind is UseKind.DRAWS and is_process) or _draws_unseeded(use)


def _makes_own(use: RandomUse) -> bool:
    owners = {StreamOwner.GENERATOR, StreamOwner.NOBODY}
    is_own = use.origin.owner in owners and use.stream.startswith("self.")
    return use.kind is UseKind.MAKES and is_own


def _any(*needs: _Need) -> _Need:
    return lambda sign: any(need(sign) for need in needs)


PATTERNS: Final = (
    Pattern(
        "unseeded-and-untested", "Random numbers that nobody seeds, and no test that would notice",
        (_use(_is_unowned),), "project",
        "You cannot reproduce any result, and no test shows it.",
        "Seed the streams first (02, 03), then keep one test that runs twice and compares (12).",
        lacks=_evidence(Channel.DIVERGENCE),
    ),
    Pattern(
        "seeded-in-part", "Some process-wide streams are seeded, others are drawn from unseeded",
        (_use(_seeds_process), _use(_draws_unseeded)), "file",
        "The program looks seeded: the same seed is printed, and the results differ.",
        "Seed every stream from the one seed of the run, or make one generator and pass it on (03).",
    ),
    Pattern(
        "snapshot-without-generator", "State is left out of the snapshot and made anew on restoring",
        (_finding(Channel.SNAPSHOT), _any(_finding(Channel.REPLAY), _use(_makes_own))), "class",
        "After a restore the random numbers begin again or elsewhere: the run does not continue as it was.",
        "Put the generator's state into the snapshot and set it on restore. Never seed there (04, 06).",
    ),
    Pattern(
        "order-into-identity", "An unspecified order next to a digest or a key",
        (_finding(Channel.CONCURRENCY), _finding(Channel.ENCODING)), "file",
        "Equal contents get other digests from one process to the next: caches miss, comparisons fail.",
        "Sort before hashing (07), and hash a canonical form (11).",
    ),
    Pattern(
        "seeds-by-position-among-workers", "Seeds that depend on a position, and workers that come in any order",
        (_finding(Channel.SEEDS, Channel.RNG), _is_worker_finding), "file",
        "Which worker gets which numbers depends on the schedule.",
        "Derive each worker's seed from its name or number, and collect in the order of submission (03, 07).",
    ),
    Pattern(
        "clock-decides", "A clock decides a branch of a program that also draws random numbers",
        (_read(lambda each: each.kind == "clock" and each.use == "branch"), _use(lambda each: each.kind is UseKind.DRAWS)),
        "file",
        "A slower machine takes another branch, and draws other numbers from then on.",
        "Count ticks instead of seconds, or take the time from the run (10).",
    ),
    Pattern(
        "shared-stream-and-threads", "Threads or tasks draw from the stream of the whole process",
        (_use(_draws_shared), _evidence(Channel.CONCURRENCY)), "file",
        "The thread that runs first gets the next number: a seed alone fixes nothing.",
        "Give each thread or task a stream of its own, by name (03, 07).",
    ),
    Pattern(
        "answers-under-unstable-keys", "Answers of the world are kept under keys that are not stable",
        (_read(lambda each: each.kind in {"network", "processes"}), _finding(Channel.ENCODING)), "file",
        "A cache that should give the recorded answer asks again, and gets another one.",
        "Key by a canonical form of the question (11), and record the answers (10).",
    ),
)  # fmt: skip
_SIGNS_MAX: Final = 4


def find_patterns(findings: Sequence[Finding], audit: Audit) -> tuple[PatternMatch, ...]:
    """Give the patterns that findings of weight and the audits of the core make, each once."""
    signs = list(_list_signs(findings, audit))
    found = []
    for pattern in PATTERNS:
        if pattern.lacks is not None and any(map(pattern.lacks, signs)):
            continue
        if hits := list(_find_hits(pattern, signs)):
            where, chosen = max(hits, key=lambda hit: len(hit[1]))
            found.append(PatternMatch(pattern, where, chosen, len(hits)))
    return tuple(found)


def _list_signs(findings: Sequence[Finding], audit: Audit) -> Iterator[Sign]:
    def sign(source: Finding | RandomUse | WorldRead, line: int, symbol: str, what: str) -> Sign:
        return Sign(source, source.path, line, symbol.partition(".")[0], what)

    for each in findings:
        found = each.found
        if each.severity >= (Severity.LOW if each.zone == "core" else Severity.MEDIUM):
            yield sign(each, found.place.line, found.symbol, found.message)
    for use in audit.uses:
        if use.zone == "core":
            yield sign(use, use.line, use.function, use.call)
    for read in audit.reads:
        if read.zone == "core" and not read.is_recorded:
            yield sign(read, read.line, read.function, read.call)
    for file in audit.files:
        for one in file.evidence:
            is_test = one.channel == Channel.DIVERGENCE and file.zone == "tests"
            imports = one.channel == Channel.CONCURRENCY and one.what.startswith("import ")
            if is_test or (imports and file.zone == "core"):
                yield Sign(one, file.path, one.line, "", one.what)


def _find_hits(pattern: Pattern, signs: Sequence[Sign]) -> Iterator[tuple[str, tuple[Sign, ...]]]:
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


SPINE: Final = (
    ("01", "determinism-class.md", "The severity of every finding depends on it."),
    ("02", "seed-governance-spec.md", "A stream without a seed cannot be isolated, saved or replayed."),
    ("03", "rng-isolation-spec.md", "With owners, a change in one place no longer moves the others."),
    ("07", "concurrency-determinism-spec.md", "Without a fixed order, every comparison below fails."),
    ("10", "external-effects-substitution.md", "A replay cannot agree while the program reads the world anew."),
    ("08", "floating-point-policy.md", "Order and sources are fixed by now. The remaining differences are arithmetic."),
    ("09", "gpu-determinism-config.md", "The same for kernels of the GPU."),
    ("11", "canonical-state-encoding.md", "A digest needs equal bytes for equal states."),
    ("04", "snapshot-strategy.md", "A snapshot is complete once every stream has an owner."),
    ("05", "divergence-protocol.md", "Compare now: the remaining differences are real."),
    ("06", "replay-infrastructure-spec.md", "A restore needs complete snapshots."),
    ("12", "property-test-suite.md", "It fails if a later change breaks the promise."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReviewStep:
    """One step.

    Args:
        artifact: number of the artifact; "" for fixes that need none.
        title: what to do.
        reason: why now.
        findings: number of findings of medium severity or more that it solves.
        rules: their rules, the most frequent first.
        command: what to run; "" when there is no command.
    """

    artifact: str
    title: str
    reason: str
    findings: int = 0
    rules: tuple[str, ...] = ()
    command: str = ""


def list_steps(
    findings: Sequence[Finding], workspace: Workspace | None, *, declared: bool, tested: bool
) -> Iterator[ReviewStep]:
    """Give what to do, in order."""
    heavy = [each for each in findings if each.severity >= Severity.MEDIUM]
    safe = [each for each in heavy if each.found.fix is not None and each.found.fix.safe]
    if safe:
        why = "They change no meaning, and shorten the list of findings."
        command = "twice check --fix PATH"
        yield ReviewStep("", "Apply the safe fixes", why, len(safe), _rules(safe), command)
    present = frozenset[str]() if workspace is None else workspace.numbers
    for number, sheet, reason in SPINE:
        here = [each for each in heavy if each.artifact == number]
        words = f"{'Keep to' if number in present else 'Write'} {number}-{sheet}"
        if here:
            title = f"{words} and fix the code"
            yield ReviewStep(number, title, reason, len(here), _rules(here))
        elif number == "01" and not declared:
            yield ReviewStep(number, f"{words}: declare the class", reason)
        elif number == "12" and heavy and not tested:
            title = "Keep a test that runs twice with one seed and compares"
            yield ReviewStep(number, title, reason)


def _rules(findings: Sequence[Finding]) -> tuple[str, ...]:
    counts = Counter(each.found.rule for each in findings)
    return tuple(sorted(counts, key=lambda rule: (-counts[rule], rule)))
