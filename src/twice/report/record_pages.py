"""Pages about records: one record, or two and what the diagnosis found about them.

Invariant: the verdict on a page is the diagnosis' own, word for word; everything else is in the
records. Source lines are shown only from a file whose digest is the recorded one: a file that the
record does not name is never opened, so a record cannot make a page show another file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twice.diagnosis.divergence import Divergence
from twice.recorder.record_form import describe_ending
from twice.recorder.record_summary import next_command
from twice.recorder.runrecord import RunRecord
from twice.recorder.user_code import digest_sources
from twice.report.overview import (
    identity_rows,
    no_reads_text,
    overview,
    state_text,
)
from twice.report.page import render
from twice.report.timeline import changes, events, partings
from twice.report.values import mapping

_PRINTED_BYTES = 16 * 1024
_LINES_AROUND = 5
_SEEDS_SHOWN = 200
_ASKED_BY = {
    "strict": "the program",
    "lenient": "libraries, for themselves",
    "ungoverned": "threads without an actor (not recorded)",
}


def page_of_one(record: RunRecord) -> str:
    """Return a page about one record."""
    told = overview(record)
    ending = mapping(told["ending"])
    exception, caveats = mapping(ending.get("exception")), ending.get("caveats")
    printed = zip(("standard output", "standard error"), record.printed(), strict=True)
    ended_well = describe_ending(record.ending) == "completed"
    return render(
        "record",
        side=_side(record, told),
        told=told,
        state=state_text(told),
        mood=("good" if ended_well else "unsure") if told["intact"] else "bad",
        exception=f"{exception.get('type')}: {exception.get('message')}" if exception else "",
        caveats=caveats if isinstance(caveats, list) else [],
        changes=changes(record),
        blocks=[
            (kind, size["count"], size["stored_bytes"], size["raw_bytes"])
            for kind, size in told["size"]["blocks"].items()
            if size["count"]
        ],
        printed=[
            (
                name,
                len(data),
                data[:_PRINTED_BYTES].decode("utf-8", "backslashreplace").splitlines(),
            )
            for name, data in printed
            if data
        ],
        printed_max=_PRINTED_BYTES,
    )


def page_of_two(a: RunRecord, b: RunRecord, found: Divergence) -> str:
    """Return a page about two records."""
    sides = [_side(record, overview(record)) for record in (a, b)]
    samples = found.samples or {"seeds": (), "recorded": (), "replayed": ()}
    operations = found.candidates if found.operation is None else [found.operation]
    changed = [(row.what, row.recorded, row.now) for row in found.environment]
    draws = [{f"{row[0]} ({row[1]})": row[2] for row in side["streams"]} for side in sides]
    reads = [{f"{row[0]}, asked by {row[1]}": row[2] for row in side["reads"]} for side in sides]
    return render(
        "comparison",
        sides=sides,
        found=found,
        mood={0: "good", 1: "bad", 2: "unsure"}[found.exit_code],
        headline=found.headline().partition(": ")[2] or found.result,
        operations=[(each, excerpt(a, each.file, each.line)) for each in operations],
        mark=None if found.compare_point is None else max(found.compare_point.tick, 0),
        partings=partings(a, b),
        surroundings=[
            *((what, one or "unset", two or "unset") for what, one, two in found.surroundings),
            *changed,
        ],
        inputs=[(row.what, row.a, row.b) for row in found.input_differences],
        fields=[
            (
                row.path,
                f"{row.kind}, {row.differing:,} of {row.of:,}" if row.of > 1 else row.kind,
                row.a,
                row.b,
                "-" if row.ulps is None else row.ulps,
            )
            for row in found.fields
        ],
        outcome=[
            (f"{row.what} ({row.where})" if row.where else row.what, row.a, row.b)
            for row in found.outcome
        ],
        samples=[*zip(samples["seeds"], samples["recorded"], samples["replayed"], strict=True)][
            :_SEEDS_SHOWN
        ],
        identity=_pair(*(side["identity"] for side in sides)),
        draws=_pair(*draws),
        reads=_pair(*reads),
    )


def _side(record: RunRecord, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a page that both kinds have, for one record."""
    identity = {"program": told["program"], "seed": told["seed"]}
    last = ""
    for name, text in identity_rows(record, told):
        last = name or last
        identity[last] = text if name else f"{identity[last]}; {text}"
    return {
        "path": record.path,
        "name": record.path.name,
        "program": told["program"],
        "seed": told["seed"],
        "ticks": record.ticks,
        "ending": describe_ending(record.ending),
        "events": events(record),
        "identity": identity,
        "streams": list_streams(told),
        "reads": list_reads(told),
        "no_reads": no_reads_text(told),
        "next": next_command(record),
    }


def list_streams(told: Mapping[str, Any]) -> list[tuple[str, Any, Any, Any]]:
    """Return name, kind, number of draws and seed of the streams of an overview."""
    streams = []
    for name, entry in told["streams"].items():
        kind, draws, seed = (mapping(entry).get(key) for key in ("kind", "draws", "seed"))
        streams.append((name, kind, "not counted" if draws is None else draws, seed))
    return streams


def list_reads(told: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """Return operation, who asked, and how often, of the reads of an overview."""
    return [
        (name, _ASKED_BY.get(kind, kind), count)
        for kind, counts in told["effects"].items()
        for name, count in mapping(counts).items()
    ]


def _pair(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Return each name with its value on both sides, None where a side has none."""
    return [(name, one.get(name), two.get(name)) for name in {**one, **two}]


def excerpt(record: RunRecord, file: str, line: int) -> list[tuple[int, str]]:
    """Return the numbered lines around one of a source file; none if the file is not as recorded."""
    code, left = mapping(record.identity.get("code")), mapping(record.ending)
    recorded = {**mapping(code.get("files")), **mapping(left.get("files"))}
    root = record.setup.program.folder()
    wanted = (root / file).resolve()
    for listed, digest in sorted(recorded.items()):
        path = root / listed
        if path.resolve() == wanted and digest_sources([path], root).get(listed) == digest:
            rows = wanted.read_text(encoding="utf-8", errors="backslashreplace").splitlines()
            first = max(line - 1 - _LINES_AROUND, 0)
            shown = rows[first : line + _LINES_AROUND]
            return [(at, row.expandtabs()) for at, row in enumerate(shown, start=first + 1)]
    return []
