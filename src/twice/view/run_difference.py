"""Where two viewed runs part, by their records alone, and what that answer does not cover.

Nothing is executed. Long logs are compared by their chains, without tolerances.

Invariant: the answer names the columns that it is about, and those that it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from twice.diagnosis.log_comparison import (
    InputDifference,
    LogDivergence,
    compare_logs,
    input_differences,
    list_unequal_judged,
    point_ref,
)
from twice.diagnosis.read_comparison import reads_that_differ
from twice.diagnosis.sample_comparison import compare_samples
from twice.diagnosis.text_layout import name_place
from twice.errors import TwiceError
from twice.foundation.encoding import decode
from twice.foundation.printable import pluralize
from twice.recorder.compare_points import VALUE, is_judged
from twice.recorder.record import first_difference
from twice.recorder.record_form import reading
from twice.recorder.runrecord import RunRecord
from twice.replayer.record_outcomes import OutcomeDifference, compare_endings, compare_outcomes

_COMPARED_WHOLE: Final = 200_000
"""Compare-points up to which two logs are compared whole, with tolerances; chains alone tell of longer ones."""
_VALUES_LOOKED_AT: Final = 1_000
_READS_COMPARED: Final = 50_000
"""Ticks with reads, or other frames, up to which reads are compared, because they are decoded for that."""
_ROWS_MAX: Final = 40
"""Of results, and of inputs."""
_FILES_LEFT: Final = "the files that the runs left. The diagnosis compares them"


def compare_runs(a: RunRecord, b: RunRecord) -> dict[str, Any]:
    """Compare two records.

    Returns:
        ``tick``, ``name`` and ``columns`` of the first difference, ``last_agreement``, and ``shorter``: the side that
        ends there. ``sentence``: what no difference means here; empty where there is one. ``notes``: sentences on what
        was not compared, or agrees within limits. ``others``: what differs beside the compare-points, results before
        inputs: ``what``, ``a``, ``b``.
    """
    log_a, log_b = a.reader.points, b.reader.points
    common = min(len(log_a), len(log_b))
    # Chains do not tell the names of columns.
    is_whole = common <= _COMPARED_WHOLE or {*log_a.shapes} != {*log_b.shapes}
    found = compare_logs(a, b) if is_whole else _compare_chains(a, b, common)
    if found.shorter is not None and not (a if found.shorter == "a" else b).complete:
        # It ends where its file does. The run went on, or may still do so.
        found = LogDivergence(None, None, within=found.within)
    compared, unjudged, tolerated = _split_columns(a, b, is_whole=is_whole)
    others, notes = _compare_beside(a, b)
    agreement = _tell_agreement(common, compared, is_whole=is_whole)
    return {
        "sentence": "" if found.at else _limit_agreement(agreement, common, a, b),
        "tick": found.at and found.at.tick,
        "name": found.at and found.at.name,
        "columns": list(found.columns),
        "last_agreement": found.last_agreement and found.last_agreement.to_json(),
        "shorter": found.shorter,
        "notes": [
            *_tell_unclosed(a, b),
            *_tell_values(found, tolerated, is_whole=is_whole),
            *_tell_unjudged(a, b, unjudged, common if is_whole else 0),
            *(_tell_samples(a, b) if found.at is None else ()),
            *notes,
        ],
        "others": others,
    }


def _limit_agreement(sentence: str, points: int, a: RunRecord, b: RunRecord) -> str:
    """Say of an agreement that nothing was there to agree, or that the records do not go to the ends of the runs."""
    if not points:
        has_any = len(a.reader.points) or len(b.reader.points)
        records = "One of these records has" if has_any else "These records have"
        return f"{records} no compare-points, so they do not say whether the runs are equal."
    if a.complete and b.complete:
        return sentence
    return f"As far as both records go: {sentence[0].lower()}{sentence[1:]}"


def _tell_agreement(points: int, columns: Sequence[str], *, is_whole: bool) -> str:
    if not columns:
        return "The class of these runs judges no compare-point, so the compare-points do not say whether they are equal."
    how = "the digests" if is_whole else "the chains of the digests"
    return f"No difference at {points:,} compare-points, in {how} of {', '.join(columns)}."


def _compare_chains(a: RunRecord, b: RunRecord, common: int) -> LogDivergence:
    first = first_difference(a.reader.points, b.reader.points)
    columns, shorter = list[str](), None
    if first == common:
        shorter = "a" if len(a.reader.points) < len(b.reader.points) else "b"
    elif first is not None and not (columns := list_unequal_judged(a, b, first)):
        return compare_logs(a, b)  # a tolerance that one run alone states parts the chains as well
    at = None if first is None else point_ref(b if shorter == "a" else a, first)
    agreed = point_ref(a, first - 1) if first else None
    return LogDivergence(at, agreed, tuple(columns), shorter=shorter)


def _split_columns(
    a: RunRecord, b: RunRecord, *, is_whole: bool
) -> tuple[list[str], list[str], list[str]]:
    """Return the columns that are judged by their digests, those that no single run judges, and those with a tolerance."""
    tolerated = set[str]()
    for record in (a, b):
        tolerated |= {*((record.ending or {}).get("tolerances") or ())}
        most = None if is_whole or record.ending is None else _VALUES_LOOKED_AT
        for frame in islice(record.reader.frames(kinds=[VALUE]), most):
            with reading("a frame of kind 'value'", record.path):
                fields: Any = decode(frame.payload)
                tolerated.add(str(fields[0]))
    columns = {*a.reader.points.columns(), *b.reader.points.columns()} - tolerated
    # Every class judges a value that the program compares by name.
    values = columns - {*a.reader.points.components(), *b.reader.points.components()}
    judged = {name for name in columns if is_judged(name, a.setup.predicate, {})} | values
    return sorted(judged), sorted(columns - judged), sorted(tolerated)


def _tell_unclosed(a: RunRecord, b: RunRecord) -> Iterator[str]:
    names = [record.path.name for record in (a, b) if not record.complete]
    if names:
        yield f"Not closed: {' and '.join(names)}. What it does not hold is not compared."


def _tell_values(
    found: LogDivergence, tolerated: Sequence[str], *, is_whole: bool
) -> Iterator[str]:
    names = ", ".join(tolerated)
    if tolerated and not is_whole:
        yield (
            f"Not compared: {names}. It has a tolerance, and the runs have more than {_COMPARED_WHOLE:,} compare-points, "
            "so the values can differ at any tick. The diagnosis compares them."
        )
    elif tolerated:
        yield f"Compared by value, with a tolerance: {names}. {found.within:,} values differ within it."


def _tell_unjudged(
    a: RunRecord, b: RunRecord, columns: Sequence[str], common: int
) -> Iterator[str]:
    """Say which columns the class leaves out, and where the digests of each begin to differ."""
    if not columns:
        return
    yield f"Not compared, by the class of these runs: {', '.join(columns)}."
    logs = (a.reader.points, b.reader.points)
    for name in columns[:_ROWS_MAX] if common else ():
        (one, has_one), (two, has_two) = (log.digests(name, 0, common - 1) for log in logs)
        differs = (one != two).any(axis=1) | (has_one != has_two)
        if differs.any():
            tick = logs[0].point(int(differs.argmax())).tick
            where = "in the construction" if tick < 0 else f"at tick {tick:,}"
            yield f"The digests of {name} differ, first {where}."
    if common and len(columns) > _ROWS_MAX:
        yield f"The digests of the {len(columns) - _ROWS_MAX:,} last of these were not looked at."


def _tell_samples(a: RunRecord, b: RunRecord) -> Iterator[str]:
    """Say how the samples of a statistical class compare, which need no execution either."""
    try:
        with reading("a sample", a.path):
            found = compare_samples(a, b)
    except TwiceError as error:
        yield error.happened
        return
    if found is not None:
        word = "differ" if found.result == "unlocalised" else "agree"
        yield f"The samples {word}. {' '.join(found.evidence)}"


def _compare_beside(a: RunRecord, b: RunRecord) -> tuple[list[dict[str, str]], list[str]]:
    """Return what differs beside the compare-points: results, files, inputs; and what is not compared or not listed of it."""
    inputs, results, notes = list[InputDifference](), list[OutcomeDifference](), list[str]()
    frames = max(int(each.reader.frame_rows()[1]["count"].sum()) for each in (a, b))
    try:
        with reading("an identity", a.path):
            inputs = input_differences(a, b)
        notes += _tell_reads(a, b, frames)
        if a.complete and b.complete:
            with reading("an ending", a.path):
                if frames > _COMPARED_WHOLE:
                    results, caveats = compare_endings(a, b), [_FILES_LEFT]
                else:
                    results, caveats = compare_outcomes(a, b)
            notes += [f"Not compared: {each}." for each in caveats]
    except TwiceError as error:
        notes.append(f"Inputs and results are not compared to the end: {error.happened}")
    rows = [
        {"what": each.what, "a": each.a, "b": each.b}
        for kind in (results, inputs)
        for each in kind[:_ROWS_MAX]
    ]
    for kind, noun in ((results, "more result"), (inputs, "more input")):
        if (left := len(kind) - _ROWS_MAX) > 0:
            notes.append(f"Not listed: {pluralize(left, noun)} that differ.")
    return rows, notes


def _tell_reads(a: RunRecord, b: RunRecord, frames: int) -> Iterator[str]:
    """Say which sources of the world gave the runs other values, or were asked otherwise."""
    if frames > _READS_COMPARED:
        yield "Not compared: the values that the runs read from the world."
        return
    with reading("a read", a.path):
        names = reads_that_differ(a, b, None)
    if names:
        yield f"They read other values from the world, or make other reads: {', '.join(names)}."


def tell_results(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a diagnosis that is about no line: ``outcome``, and ``notes`` on reads, samples and steps.

    Args:
        document: as ``twice diagnose --json`` prints it.
    """
    notes = list[str]()
    for each in document.get("reads", ()):
        where = f", at {name_place(each['file'], each['line'])}" if each["file"] else ""
        notes.append(f"One run alone makes this read: {each['what']}{where}.")
    if samples := document.get("samples"):
        word = {True: "agree", False: "differ"}.get(samples["agrees"], "cannot tell")
        notes.append(f"The samples of {samples['summary']} {word}.")
    if schedule := document.get("schedule"):
        if schedule["step"] is not None:
            notes.append(f"They take other steps from step {schedule['step']:,} on.")
        notes += schedule["sentences"]
        if schedule["obstacle"]:
            notes.append(f"No order of steps is named: {schedule['obstacle']}.")
    outcome = [
        {**each, "what": f"{each['what']} ({each['where']})" if each["where"] else each["what"]}
        for each in document.get("outcome", ())
    ]
    return {"outcome": outcome, "notes": [*notes, *document["evidence"]]}
