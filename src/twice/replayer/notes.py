"""Sentences beside a verdict: facts to know first, and the limits of the verdict.

Some come from the record (a torn end, threads that read the clock). Others come from its gaps: a run without
anything to compare agrees with itself, and a reader of PASS should know that.

Invariant: no sentence needs an execution, and no sentence changes a result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from twice.foundation.determinism_class import DeterminismClass, Predicate
from twice.foundation.printable import pluralize
from twice.foundation.seeds import is_shared
from twice.recorder.audit.inventory import (
    allows,
    in_words,
    is_process,
    is_repeated,
    may_talk,
    rows_of,
)
from twice.recorder.compare_points import is_judged
from twice.recorder.components import SCHEDULE, STEPS
from twice.recorder.effects.ops import FILE_CHANGED
from twice.recorder.output import RESULTS
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import Setup
from twice.recorder.states import ORDERS
from twice.replayer.file_report import FileJudgement
from twice.replayer.outcome import count_threads, join_ending_parts, list_ending_parts

_SERVED = "clock, entropy, environment, network, processes, standard input and declared effects come from the record"
_REFUSED = (
    "connections, name look-ups, signals to other processes and C libraries loaded by hand are refused by name and "
    "line"
)
_HELD = "the replay ran in a network namespace of its own, without a network"
_NOT_HELD = (
    "this system gives no network namespace, so C code that connects by itself is found by its socket "
    "alone"
)
_TICKS_TO_CHANGE = 3
_UNSEEDED = "no stream of the run was drawn from: its seed decides nothing, unless the program reads run.seed"
_OWN_READS = ("clock", "entropy")
_UNRECORDED = "in an order that is not recorded"
_WIDTH = 16
SIMULATED = "asyncio"
"""The subsystem of a loop whose order is recorded, in the document of a verification."""
_COMPARED_EFFECTS = ("call", "process.", "network.", "loop.socket", "files.written", "files.left")


def list_facts(record: RunRecord) -> list[str]:
    """Return the first facts for a reader, whatever the result: parts not compared, the code that ran."""
    setup, lines = record.setup, []
    if (other := record.other_checkout()) is not None:
        lines.append(
            f"the code in {setup.program.folder()} was executed, because it is the current folder; the run was "
            f"recorded in {other}, where a program of that name still is"
        )
    return lines + list_left_out(setup)


def list_left_out(setup: Setup) -> list[str]:
    """Return what the policies of a run leave out of every comparison."""
    lines = [] if setup.compare_errors else ["standard error was not compared (--ignore-errors)"]
    lines += [
        f"lines of output that match {pattern!r} were not compared (--ignore-output)"
        for pattern in setup.ignored_output
    ]
    lines += [
        f"of files that match {pattern!r} "
        f"{'nothing' if policy == 'ignore' else 'the existence alone'} was compared (--file-policy)"
        for pattern, policy in setup.file_policies
        if policy != "content"
    ]
    if setup.files == "none":
        lines.append(
            "contents of files were not recorded (--files none): the replay read them as they are"
        )
    return lines


def list_facts_of_equal_runs(record: RunRecord, orders: Mapping[str, str] | None) -> list[str]:
    """Return the first facts about runs that do not differ: a crash, unchanged state, orders.

    Args:
        record: what was verified.
        orders: digests of the insertion orders of dicts at the end of the replay, by component; None where it was
            not executed to the end.
    """
    ending, lines = record.ending or {}, []
    if ending.get("exception") and ending["how"] == "exception":
        how = join_ending_parts(list_ending_parts(ending))
        lines.append(f"the program crashed, as it did while recording: {how}")
    if still := _find_unchanging_components(record):
        lines.append(
            f"{', '.join(still)} never changed: if the program binds the name to a new object, track that one "
            "or read it in state()"
        )
    if ending.get("how") in {"completed", "exit"} and (unused := _find_undrawn_streams(ending)):
        lines.append(
            f"never drawn from, though the program took them: the streams {', '.join(unused)}. Nothing in this run "
            "depends on their seeds"
        )
    recorded = ending.get(ORDERS)
    if recorded is not None and orders is not None:  # a record of an earlier version does not say
        both = sorted({*recorded, *orders})
        if names := [name for name in both if recorded.get(name) != orders.get(name)]:
            lines.append(
                f"the dicts of {', '.join(names)} hold the same items in another insertion order than recorded; what "
                "the program makes of that order is compared only where it shows. Return lists, or sort the keys "
                "before use"
            )
    is_judged_alone = not (record.setup.program.whole or record.setup.predicate.sampled_summary)
    if is_judged_alone and _draws_nothing(record) and not _find_undrawn_streams(ending):
        effects = ending.get("effects", {})
        reads = [*effects.get("strict", {}), *effects.get("lenient", {})]
        # A program that works on files, servers or declared effects is not expected to draw.
        if all(name.startswith(_OWN_READS) for name in reads):
            lines.append(_UNSEEDED)
    return lines


def _find_undrawn_streams(ending: Mapping[str, Any]) -> list[str]:
    """Return the streams that the program took by name and that gave no number, sorted."""
    return [
        name
        for name, row in sorted(ending.get("streams", {}).items())
        # A generator that was adopted has no seed; those that modules share are taken for every run.
        if row.get("seed") and row.get("draws") == 0 and not is_shared(name)
    ]


def _draws_nothing(record: RunRecord) -> bool:
    """Return whether a run that came to its end drew from no stream, nor from a shared generator."""
    ending = record.ending or {}
    return (
        ending.get("how") in {"completed", "exit"}
        and "streams" in ending
        and not ending.get("globals_used")
        and all(row.get("draws") == 0 for row in ending["streams"].values())
    )


def describe_concurrency(
    ending: Mapping[str, Any], inventory: Iterable[Mapping[str, object]]
) -> str:
    """Describe concurrent work in an order that no record has; return nothing if there is none.

    Args:
        ending: of the record.
        inventory: sources of the world that either run used.
    """
    threads = count_threads(ending.get("lineages", {}))
    told = [pluralize(threads, "thread") if threads > 1 else "a thread"] if threads else []
    rows = [row for row in inventory if is_repeated(row)]
    processes, talk = (
        ", ".join(sorted({str(row.get("source")) for row in rows if is_process(row) is kind}))
        for kind in (True, False)
    )
    told += [f"processes ({processes})"] if processes else []
    if not told:
        which = f"connections within the run ({talk}) took turns"
        return f"{which}, {_UNRECORDED}" if talk else ""
    other = "the main one" if told == ["a thread"] else "each other"
    return f"{' and '.join(told)} ran beside {other}, {_UNRECORDED}"


def grade_concurrency(record: RunRecord, beside: str) -> dict[str, dict[str, str]]:
    """Return the strategy and the grade of each subsystem that is known to run concurrently.

    A simulated or recorded loop makes one step at a time in an order that the record has (B2); of other concurrent work
    (``beside``) no order is kept (X).
    """
    found = {}
    if record.setup.order is not None or record.setup.records_loop:
        found[SIMULATED] = {"strategy": "recorded", "grade": "B2"}
    if beside:
        found["threads and processes"] = {"strategy": "uncontrolled", "grade": "X"}
    return found


def _find_unchanging_components(record: RunRecord) -> list[str]:
    """Return the tracked components whose state was the same at every compare-point, sorted."""
    if not record.complete or record.setup.program.whole or record.ticks < _TICKS_TO_CHANGE:
        return []
    components = (record.ending or {}).get("components", {})
    first: dict[str, bytes] = {}
    unchanged = set(components)
    # All points, because state may change first after a long warm-up; it ends early once all of it changed.
    for _, shape, digests in record.reader.points.rows():
        if not unchanged:
            break
        if len(shape.components) == 1:
            continue  # an explicit compare
        for at, name in enumerate(shape.components):
            if name in unchanged:
                digest = digests[at * _WIDTH : (at + 1) * _WIDTH]
                if first.setdefault(name, digest) != digest:
                    unchanged.remove(name)
    return sorted(unchanged & first.keys())


def compares_nothing(record: RunRecord) -> bool:
    """Return whether a run leaves nothing for a comparison besides its reads."""
    if not record.complete:
        return False  # its result is unknown
    ending = record.ending or {}
    printed = ending.get("printed", {})
    streams = ("output", "errors") if record.setup.compare_errors else ("output",)
    if ending.get("components") or any(printed.get(name, {}).get("bytes") for name in streams):
        return False
    if ending.get(RESULTS) or ending.get("exception") or ending.get("exit_code"):
        return False
    effects = ending.get("effects", {})
    names = [*effects.get("strict", {}), *effects.get("lenient", {})]
    if any(name.startswith(_COMPARED_EFFECTS) for name in names) or record.native_writes():
        return False
    if FILE_CHANGED.name in names:
        changes = chain(record.strict_reads(), record.lenient_reads())
        answers: Iterator[Any] = (answer for op, answer in changes if op == FILE_CHANGED.number)
        # The times of a file are the clock's, and not compared.
        if not all(request[0] == "utime" for request, _ in answers):
            return False
    return next(record.input_frames(0), None) is None and not _compares_values(record)


def _compares_values(record: RunRecord) -> bool:
    """Return whether the program hands over a value by name, at whatever point."""
    return any(len(shape.components) == 1 for _, shape, _ in record.reader.points.rows())


def note_global_generators(ending: Mapping[str, Any]) -> list[str]:
    """Return a note on generators that twice seeds, if the run drew from them."""
    used = ending.get("globals_used")
    if not used:
        return []
    names = ", ".join(used)
    said = (
        f"global generators were drawn from ({names}): twice seeds them, so they replay; without twice only a program "
        "that seeds them itself repeats its draws"
    )
    # Without a number of draws, the state does not say who seeded them last.
    if not all((ending.get("streams", {}).get(name) or {}).get("draws") for name in used):
        said = (
            f"global generators were drawn from, or only seeded anew ({names}), and replay: twice seeds them before "
            "the program starts, and --seed decides nothing where the program seeds them again"
        )
    return [said]


def list_notes(record: RunRecord, predicate: Predicate) -> list[str]:
    """Return notes from the record alone on limits of a result, in a fixed order."""
    ending, program = record.ending or {}, record.setup.program
    notes, components = [], sorted(ending.get("components", {}))
    if program.whole and not components:
        notes.append(
            "a plain script: its reads, files, output and exit code were compared; its state was not"
        )
    elif program.whole:
        notes.append(
            f"a plain script: its reads, files, output, exit code and {pluralize(record.ticks, 'step')} of "
            f"{', '.join(components)} were compared; the rest of its state was not"
        )
    if not record.complete:
        tear = record.reader.tear
        reason = f": {tear.reason}" if tear is not None else ""
        notes.append(f"the record is torn{reason}; only its intact prefix was judged")
    if "interrupted_at_point" in ending:
        notes.append(
            "a signal came at a moment that no replay can repeat (from outside, or from a timer); "
            "only what came before it was judged"
        )
    notes += [str(caveat) for caveat in ending.get("caveats", [])]
    notes += note_global_generators(ending)
    if predicate.sampled_summary and _draws_nothing(record):
        notes.append(f"{_UNSEEDED}. Then the seeds of the sample are no sample")
    if ungoverned := (ending.get("effects") or {}).get("ungoverned"):
        reads = ", ".join(
            f"{name} {pluralize(count, 'time')}" for name, count in ungoverned.items()
        )
        notes.append(f"read on threads without an actor, and not recorded: {reads}")
    notes += [
        f"allowed by name, and not recorded: {in_words(row)}"
        for row in rows_of(ending.get("inventory"))
        if row.get("allowed")
    ]
    if program.whole or not record.complete:
        return notes
    # Runs that agree because nothing could differ: no state, no tick, no decision.
    if not components:
        # Where a loop is simulated.
        is_compared = record.setup.order is not None and is_judged(SCHEDULE, predicate, {})
        told = f", output, and {STEPS}, compare" if is_compared else " and output compare"
        notes.append(f"no component is tracked: only streams, inputs, effects{told}")
    if not record.ticks:
        notes.append("no tick was run: state was compared at the end alone")
    is_logical = predicate.class_of("output") is DeterminismClass.LOGICAL
    printed = ending.get("printed", {}).get("output", {}).get("bytes")
    has_inputs = next(record.input_frames(0), None) is not None
    if is_logical and not printed and not has_inputs and not _compares_values(record):
        notes.append(
            "the logical class compares inputs, output and explicit compares, and there are none: "
            "no state was judged"
        )
    return notes


def merge_inventories(record: RunRecord, replayed: object) -> list[Mapping[str, object]]:
    """Return the recorded sources, and those that only the replay met; the setup allows some."""
    rows = rows_of((record.ending or {}).get("inventory"))
    known = {row["source"] for row in rows}
    rows += [row for row in rows_of(replayed) if row["source"] not in known]
    allowed = record.setup.allow
    return [{**row, "allowed": allows(allowed, str(row["source"]))} for row in rows]


def describe_seal(record: RunRecord, files: FileJudgement, *, held: bool) -> str:
    """Describe the seal of this replay: recorded answers, and reachable sources.

    Args:
        record: the replayed record.
        files: the report on its files.
        held: whether the process was cut off from the network.
    """
    allowed = record.setup.allow
    told = [_SERVED, files.describe_tiers(), _REFUSED]
    if allowed:
        told.append(f"allowed by name: {', '.join(allowed)}")
    if may_talk(allowed):
        told.append("the network is within reach, as was allowed")
    else:
        told.append(_HELD if held else _NOT_HELD)
    return "; ".join(told)
