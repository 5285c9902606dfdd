"""From the evidence of a verification to a verdict: a table of rules, read from the top.

The first rule that applies decides. Every other rule that applies with the same result adds its reasons, so that
the reader sees all problems at once.

There are three kinds of rules, in this order. Restores and samples count first. Then come reasons why the program may
not be the cause of a difference: UNKNOWN, never FAIL. Last come reasons why equal points do not show that the run
replays: UNKNOWN, never PASS.

A PASS does not cover other seeds, inputs or machines, state outside of the tracked components, or sources that the
effects layer does not record.

Invariant: the verdict is a function of the evidence, and no other code sets or changes it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from twice.foundation.comparison import Tolerance
from twice.foundation.dataclass import dataclass
from twice.foundation.determinism_class import DeterminismClass, Predicate, Scope
from twice.foundation.environment import ORDER_PROBES, EnvironmentDifference
from twice.recorder.audit.inventory import in_words, is_process, is_repeated, unsupported_rows
from twice.replayer.file_report import FileJudgement
from twice.replayer.outcome import Failure, SourceChange, no_counts

Result = Literal["PASS", "PARTIAL", "FAIL", "UNKNOWN"]
SEAL = "seal"
"""Name of the failure of a replay that tried to reach the world."""
NOT_EXECUTED = "nothing was executed"
_PROBE = "probe "
_NATIVE = frozenset({"files.native", "network.native"})


def _tell_time() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The evidence of one verification.

    Attributes:
        path: the record.
        run_id: id of the recorded run.
        predicate: the class that judges.
        within: tolerances that the run declared for what it tracks and compares, by name.
        subsystems: names that were judged, each with a class of its own.
        first: index of the first compare-point that was judged.
        counts: points that were evaluated, passed, failed, and passed ``within_tolerance``.
        failure: the first difference, or None.
        manifest_matches: whether the replay made exactly the recorded reads of the world; None if that was
            not judged.
        environment: how the environment differs from the recorded one.
        inventory: every source that the run touched, as ``recorder.audit`` classes them.
        escapes: sources that the recorded run reached, and that no replay reaches.
        files: the report on files.
        seal: the sources that the replay was kept from, and the others.
        executed: path of the program that was executed, or its module.
        is_segment: whether the user asked for a part of the run.
        is_torn: whether the record is a prefix of an interrupted run.
        is_interrupted: whether a signal ended the run at a moment that no replay repeats.
        compares_nothing: whether the run has nothing that a replay could be compared with.
        not_judged: why the run was not executed or its sample not drawn, in sentences.
        death: how the process that executed the program died, without an answer; empty if it did not.
        changed_code: source files that differ from the recorded ones.
        specification: the specification of the program, as it is cited; None if none was found.
        gpu: the driver and the cards of the machine that verified, as the fingerprint has them.
        issued_at: when the verification ended, UTC in ISO 8601.
        withheld: why redaction alone may cause the difference; empty if it cannot.
        open_order: why only the order of threads or tasks may differ; empty if more does.
        facts: the facts that a reader must know first.
        facts_of_equal_runs: the same, unless the runs differ.
        beside: concurrent work whose order is not recorded; empty for none.
        concurrency: of each subsystem that runs concurrently, its strategy and its grade.
        notes: the limits of the result.
        restores: result of the restore test, if requested.
        repeats: how many replays were planned and executed, if more than one was requested.
        samples: both samples and the result of their test, for the statistical class.
        divergence: the diagnosis of the two runs, if requested.
        took_s: seconds that the last replay took without the start of its process; None if it was not executed.
    """

    path: Path
    run_id: str
    predicate: Predicate
    subsystems: Sequence[str]
    within: Mapping[str, Tolerance] = field(default_factory=dict)
    first: int = 0
    counts: Mapping[str, int] = field(default_factory=no_counts)
    failure: Failure | None = None
    manifest_matches: bool | None = None
    environment: Sequence[EnvironmentDifference] = ()
    inventory: Sequence[Mapping[str, object]] = ()
    escapes: Sequence[str] = ()
    files: FileJudgement = field(default_factory=FileJudgement)
    seal: str = NOT_EXECUTED
    executed: str = ""
    is_segment: bool = False
    is_torn: bool = False
    is_interrupted: bool = False
    compares_nothing: bool = False
    not_judged: Sequence[str] = ()
    death: str = ""
    changed_code: Sequence[SourceChange] = ()
    specification: Mapping[str, Any] | None = None
    gpu: Mapping[str, str] = field(default_factory=dict, compare=False)
    issued_at: str = field(default_factory=_tell_time, compare=False)
    withheld: str = ""
    open_order: str = ""
    facts: Sequence[str] = ()
    facts_of_equal_runs: Sequence[str] = ()
    beside: str = ""
    concurrency: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    restores: Mapping[str, Any] | None = None
    repeats: Mapping[str, int] | None = None
    samples: Mapping[str, Any] | None = None
    divergence: Mapping[str, Any] | None = None
    took_s: float | None = field(default=None, compare=False)

    @property
    def differs(self) -> bool:
        """Return whether the runs differ."""
        return self.failure is not None

    @property
    def refused(self) -> str:
        """Return the operation that the replay refused the program; empty for none."""
        return self.failure.replayed if self.failure and self.failure.name == SEAL else ""

    @property
    def may_blame_files(self) -> bool:
        """Return whether a difference may come from files that are not known to have changed."""
        return not self.files.changed_inputs


@dataclass(frozen=True)
class Rule:
    """One row of the table.

    Attributes:
        id: its name.
        result: the verdict.
        when: the condition, as the guide shows it.
        applies: whether it applies to evidence.
        reasons: sentences for the reader; none if the facts and notes of the evidence say it.
        is_headline: whether its reasons are part of the first lines.
    """

    id: str
    result: Result
    when: str
    applies: Callable[[Evidence], bool]
    reasons: Callable[[Evidence], Sequence[str]] = lambda _: ()
    is_headline: bool = False


@dataclass(frozen=True)
class Decision:
    """What the table says of evidence.

    Attributes:
        result: the word.
        rule: id of the rule that decided.
        headline, reasons: sentences for the first lines, and for the caveats.
    """

    result: Result
    rule: str
    headline: Sequence[str]
    reasons: Sequence[str]


def decide(evidence: Evidence) -> Decision:
    """Return the decision of the table of rules on evidence."""
    applying = [rule for rule in RULES if rule.applies(evidence)]  # the last rule always applies
    first = applying[0]
    headline: list[str] = []
    reasons: list[str] = []
    for rule in applying:
        if rule.result == first.result:
            (headline if rule.is_headline else reasons).extend(rule.reasons(evidence))
    return Decision(first.result, first.id, headline, reasons)


def explain_unrecorded(row: Mapping[str, object]) -> str:
    """Return why an unsupported source keeps a run from passing, and what to do."""
    return (
        f"no pass, because a source of the world is not recorded: {in_words(row)}; "
        f"{row.get('remedy')}, or record with --allow {row.get('source')}"
    )


def _explain_repeated(evidence: Evidence) -> str:
    """Return why processes of the program, or its talk with itself, may have made a difference; empty without any."""
    rows = [row for row in evidence.inventory if is_repeated(row)]
    where = f" at {rows[0].get('first')}" if rows and rows[0].get("first") else ""
    sources = ", ".join(str(row.get("source")) for row in rows) + where
    why = _PROCESSES if any(map(is_process, rows)) else _TALK
    return _REPEATED + why.format(sources) if rows else ""


def _find_native(evidence: Evidence) -> list[Mapping[str, object]]:
    return [row for row in unsupported_rows(evidence.inventory) if row.get("source") in _NATIVE]


def _list_moved_probes(evidence: Evidence) -> list[str]:
    """Return the probes on which the class rests that compute something else than when it was recorded."""
    if evidence.predicate.scope is Scope.CROSS_HOST:
        return []  # then the test is about another machine
    classes = {evidence.predicate.class_of(name) for name in [*evidence.subsystems, "output"]}
    moved = [
        row.what.removeprefix(_PROBE)
        for row in evidence.environment
        if row.what.startswith(_PROBE) and row.recorded and row.now
    ]
    if DeterminismClass.BIT_EXACT in classes:
        return moved
    # Decisions absorb arithmetic: they rest on iteration order and on the state of the processor's float unit.
    return [name for name in moved if name.startswith((ORDER_PROBES, "float."))]


def _explain_undecided(samples: Mapping[str, Any]) -> str:
    return f"the samples cannot tell: {samples['reason'].rstrip('.')}; {samples['remedy']}"


def _list_missing_libraries(evidence: Evidence) -> list[str]:
    """Return the libraries that the recorded run loaded and that are not installed here."""
    rows = [row for row in evidence.environment if row.recorded and not row.now]
    return [row.what.removeprefix("library ") for row in rows if row.what.startswith("library ")]


NOTHING_COMPARED = (
    "nothing was compared: the run tracks no component, prints nothing, returns nothing and writes no file; "
    "track its state with run.track(...), or print what matters"
)
_REPEATED = "the runs differ, and it cannot be told whether the program is to blame: "
_PROCESSES = (
    "it starts processes ({}), and what they read of clocks and entropy, and the order in which they run, is not "
    "recorded"
)
_TALK = (
    "it is connected to itself ({}), and in which order its connections are ready is not recorded"
)
_UNINSTALLED = (
    "not judged: the recorded run loaded {}, not installed here; install it, or verify where it is"
)
_MOVED = (
    "not judged: the class speaks of one {}, and this machine computes otherwise than the recorded one (probes: {}); with "
    "--scope cross-host the difference is judged"
)
_NO_COPY = (
    "there is no copy of the files here ({}), and without one a replay refuses what this run does: "
)

RULES: Sequence[Rule] = (
    Rule(
        "restore-differs", "FAIL", "a run that was restored at a snapshot continues differently from the recorded run",
        # If redaction removes a value that the run needs, a restore does not decide either.
        lambda found: bool(found.restores and found.restores["failed"]) and not found.withheld,
    ),
    Rule(
        "sample-differs", "FAIL", "the recorded sample of a statistical run and a fresh sample disagree",
        lambda found: found.samples is not None and found.samples["agrees"] is False,
    ),
    Rule(
        "process-died", "UNKNOWN",
        "the process that executed the program died without an answer: it was killed, ran out of memory, or "
        "crashed",
        lambda found: bool(found.death),
        lambda found: [f"not judged: {found.death}"],
    ),
    Rule(
        "redacted", "UNKNOWN", "the runs differ, and the program received placeholders instead of secrets",
        lambda found: bool(found.withheld),
        lambda found: [found.withheld],
    ),
    Rule(
        "order", "UNKNOWN", "the runs differ, possibly only in the order of threads or tasks",
        lambda found: bool(found.differs and found.open_order),
        lambda found: [f"order: {found.open_order}; their order among themselves is not recorded"],
        is_headline=True,
    ),
    Rule(
        "no-copy", "UNKNOWN",
        "the runs differ where the replay refused an operation that needs a copy of the files, and this system allows no copy",
        lambda found: bool(found.refused) and found.files.needs_copy,
        lambda found: ["not judged: " + _NO_COPY.format(found.files.refused) + found.refused],
    ),
    Rule(
        "escaped", "UNKNOWN", "the runs differ where the replay refused an operation that the recorded run performed",
        lambda found: any(f"--allow {source}" in found.refused for source in found.escapes),
        lambda found: [f"not judged: a replay refuses what the recorded run did: {found.refused}"],
    ),
    Rule(
        "write-refused", "UNKNOWN",
        "the replay refused a write by code other than Python, because this system allows no copy of the files",
        lambda found: bool(found.files.refused_writes) and found.may_blame_files,
        lambda found: found.files.refused_writes,
    ),
    Rule(
        "processes-differ", "UNKNOWN",
        "the runs differ, and the program starts processes, or is connected to itself, in an order that is not recorded",
        lambda found: found.differs and found.may_blame_files and bool(_explain_repeated(found)),
        lambda found: [_explain_repeated(found)],
    ),
    Rule(
        "files-differ", "UNKNOWN", "the runs differ, possibly because of a file whose recorded content is not known",
        lambda found: found.differs and found.may_blame_files and bool(found.files.unknown),
        lambda found: [
            f"the runs differ, and it may be because of a file: {why}" for why in found.files.unknown
        ],
    ),
    Rule(
        "native-differs", "UNKNOWN",
        "the runs differ, and code other than Python used files or the network without being recorded",
        lambda found: found.differs and bool(_find_native(found)),
        lambda found: [explain_unrecorded(row) for row in _find_native(found)],
    ),
    Rule(
        "library-missing", "UNKNOWN", "the runs differ, and a library that the recorded run loaded is not installed here",
        lambda found: found.differs and bool(_list_missing_libraries(found)),
        lambda found: [_UNINSTALLED.format(", ".join(_list_missing_libraries(found)[:4]))],
        is_headline=True,
    ),
    Rule(
        "machine-differs", "UNKNOWN",
        "the runs differ, the class speaks of one host, and probes of the kind that it rests on compute something else here",
        lambda found: found.differs and bool(_list_moved_probes(found)),
        lambda found: [_MOVED.format(found.predicate.scope.value, ", ".join(_list_moved_probes(found)[:4]))],
        is_headline=True,
    ),
    Rule("different", "FAIL", "the runs differ", lambda found: found.differs),
    Rule(
        "restore-died", "UNKNOWN", "a process that was restored at a snapshot died without an answer",
        lambda found: bool(found.restores and found.restores.get("unjudged")),
        lambda found: (found.restores or {})["unjudged"],
    ),
    Rule(
        "not-judged", "UNKNOWN", "the program cannot be started again, or the record contains nothing to judge",
        lambda found: bool(found.not_judged),
        lambda found: found.not_judged,
    ),
    Rule(
        "nothing-judged", "UNKNOWN", "the replay reached no compare-point",
        lambda found: not found.counts["evaluated"] and found.samples is None,
    ),
    Rule(
        "other-code", "UNKNOWN", "`--informational` executed code that differs from the recorded code",
        lambda found: bool(found.changed_code),
    ),
    Rule(
        "sample-open", "UNKNOWN",
        "the samples of a statistical run do not decide: too small, not finite, or near the margin",
        lambda found: found.samples is not None and found.samples["agrees"] is None,
        lambda found: [_explain_undecided(found.samples or {})],
    ),
    Rule(
        "file-unknown", "UNKNOWN", "a file could not be compared with the record",
        lambda found: bool(found.files.unknown),
        lambda found: [f"no pass, because of a file: {why}" for why in found.files.unknown],
    ),
    Rule(
        "unrecorded", "UNKNOWN", "the run used a source that is not recorded and that `--allow` does not name",
        lambda found: bool(unsupported_rows(found.inventory)),
        lambda found: [explain_unrecorded(row) for row in unsupported_rows(found.inventory)],
    ),
    Rule(
        "nothing-compared", "UNKNOWN",
        "the run tracks no component, prints nothing, returns nothing and writes no file",
        lambda found: found.compares_nothing,
        lambda _: [NOTHING_COMPARED],
        is_headline=True,
    ),
    Rule("torn", "PARTIAL", "the record is torn, and its intact prefix is equal", lambda found: found.is_torn),
    Rule(
        "interrupted", "PARTIAL", "a signal ended the recorded run, and everything before the signal is equal",
        lambda found: found.is_interrupted,
    ),
    Rule(
        "segment", "PARTIAL", "`--from` or `--to` selected a part of the run, and that part is equal",
        lambda found: found.is_segment,
    ),
    Rule("equal", "PASS", "everything that is compared is equal", lambda _: True),
)  # fmt: skip
"""All rules, in their order; the guide to verdicts is generated from them."""


def write_rules() -> str:
    """Return the table of rules as Markdown, as the guide to verdicts shows it."""
    rows = [f"| `{rule.id}` | {rule.result} | {rule.when} |" for rule in RULES]
    return "\n".join(["| rule | verdict | applies if |", "|---|---|---|", *rows])
