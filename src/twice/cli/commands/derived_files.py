"""Files that are made from records: exports, traces, pages, records written anew.

Each takes its name when it is complete; the records are only read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from twice.cli.console import Status
from twice.cli.options import AsJson, RecordPath, argument, build_command, option
from twice.cli.output import tell
from twice.cli.run_options import OutputOptions, TrustOptions
from twice.errors import UsageError
from twice.foundation.printable import pluralize
from twice.recorder.record_form import describe_ending
from twice.recorder.runrecord import RunRecord


@build_command
def export(
    record: RecordPath,
    form: Annotated[Literal["jsonl", "parquet"], option("--format", "form of the export")],
    blobs: Annotated[bool, option("--blobs", "with jsonl: snapshot contents too")],
    output: Annotated[OutputOptions, {"out": "file for jsonl, folder for parquet"}],
    as_json: AsJson,
) -> int:
    """Write a record as JSON lines or Parquet, for analysis elsewhere.

      twice export a.twice --format jsonl -o a.jsonl
      twice export a.twice --format parquet -o a.parquet

    JSON lines hold everything but, without --blobs, the contents of snapshots. Parquet is a folder with
    points.parquet and frames.parquet; it needs the extra `parquet`.
    """
    from twice.recorder.record.export import to_json_lines, to_parquet

    lines = None
    with RunRecord.open(record) as opened, output.writing(record) as partial:
        if form == "jsonl":
            with partial.open("x", encoding="utf-8") as out:
                lines = to_json_lines(opened.reader, out, blobs=blobs)
        else:
            to_parquet(opened.reader, partial)
    told = {"record": str(record), "out": str(output.out), "as": form, "lines": lines}
    said = f"exported {record} to {output.out}"
    return tell({"format": "twice.exported/1", **told}, [said], as_json=as_json)


@build_command
def migrate(
    record: RecordPath,
    output: Annotated[OutputOptions, {"out": "path of the new record"}],
    as_json: AsJson,
) -> int:
    """Write a record anew: the intact part of a torn one, or a record of an older format.

      twice migrate a.twice -o whole.twice

    The old record stays as it is. A torn record gets an ending that says so.
    """
    from twice.recorder.record import migrate as write_anew

    with output.writing(record) as partial:
        write_anew(record, partial)
    with RunRecord.open(output.out) as made:
        points = len(made.reader.points)
        how, said = str((made.ending or {}).get("how")), describe_ending(made.ending)
    told = {"record": str(record), "out": str(output.out), "points": points, "ending": how}
    lines = [
        f"wrote {output.out}: {pluralize(points, 'compare-point')}, {said}",
        f"next: twice verify {output.out}",
    ]
    return tell({"format": "twice.migrated/1", **told}, lines, as_json=as_json)


@build_command
def trace(
    record: RecordPath,
    tick: Annotated[int, option("--tick T", "the tick to trace")],
    events: Annotated[int | None, option(
        "--events N", "events whose whole state is written, of a tick with more (default: 512)")],
    output: Annotated[OutputOptions, {"out": "path of the trace"}],
    trust: TrustOptions,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Write the trace of one tick, to be compared with one from another machine.

      twice trace a.twice --tick 120 -o a.trace

    The record's program is executed up to that tick. Take both files to one place, and there run:
    twice diagnose --traces a.trace b.trace
    """
    from twice.diagnosis.trace_file.write import write_trace

    with trust.trusting(record), output.writing(record) as partial, Status() as status:
        limit = {} if events is None else {"events_max": events}
        write_trace(record, tick, partial, progress=status, **limit)
    told = {"record": str(record), "tick": tick, "out": str(output.out)}
    lines = [
        f"traced tick {tick} of {record}: {output.out}",
        f"next: twice diagnose --traces {output.out} OTHER",
    ]
    return tell({"format": "twice.traced/1", **told}, lines, as_json=as_json)


@build_command
def report(
    records: Annotated[tuple[Path, ...], argument(required=True, metavar="RECORD...")],
    anyway: Annotated[bool, option("--anyway", "compare although seed, code or config differ")],
    no_lines: Annotated[
        bool, option("--no-lines", "read only the logs: execute nothing, name no line")
    ],
    output: Annotated[OutputOptions, {"out": "path of the page"}],
    trust: TrustOptions,
    as_json: AsJson,
) -> int:
    """Write a page about one or two records: one HTML file, no network, no script.

      twice report a.twice -o a.html
      twice report a.twice b.twice -o both.html

    One record: identity, a timeline of its ticks, changes of state, streams, reads of the world, output.
    Two records: the verdict of `twice diagnose`, then the line, the fields, the cause and what to do.
    """
    if len(records) > 2:
        raise UsageError(
            f"twice report was given {pluralize(len(records), 'record')}.",
            "Expected one or two.",
            "For example: twice report a.twice b.twice -o both.html",
        )
    result = None
    with trust.trusting(*records), output.writing(*records) as partial:
        if len(records) == 1:
            from twice.report.record_pages import page_of_one

            with RunRecord.open(*records) as record:
                page = page_of_one(record)
        else:
            from twice.diagnosis.diagnose import diagnose
            from twice.report.record_pages import page_of_two

            with Status() as status:
                found = diagnose(*records, anyway=anyway, lines=not no_lines, progress=status)
            with RunRecord.open(records[0]) as a, RunRecord.open(records[1]) as b:
                page, result = page_of_two(a, b, found), found.result
        partial.write_text(page, encoding="utf-8")
    told = {"out": str(output.out), "records": [*map(str, records)], "result": result}
    said = f"wrote {output.out}" + ("" if result is None else f" ({result})")
    return tell({"format": "twice.reported/1", **told}, [said], as_json=as_json)
