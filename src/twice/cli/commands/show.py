"""Show the contents of a record, without executing anything.

  twice show a.twice
  twice show a.twice --tick 120
  twice show a.twice --snapshot 2 --json
  twice show a.twice --tick 120 --path swarm.energy --limit 20
  twice show a.twice --secrets
  twice show a.twice --secrets secrets.txt

It is safe to open a stranger's record: no code of it runs, and types stay names.
Exit code 0, or 1 if the record is torn or a byte of it was changed.

--path shows one part of the state: a component, or a path below it as a diagnosis names it. In JSON, `values` then has
one member, with the path as its name. --limit keeps the first N entries of each list, the first N lines that the tick printed to a stream, and the first N
values of the state. `omitted` counts the others by list, and so does standard error.

--secrets lists what redaction blanked, by rule. With secrets it searches the record for them: give
them in a file or on standard input, one a line, or in variables. Exit code 0 if none is found, 1 if
one is found, with its place, 2 if a part of the record cannot be read. Secrets are never printed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Annotated, Any

from twice.cli.console import show_progress
from twice.cli.options import (
    AsJson,
    Limit,
    RecordPath,
    build_command,
    option,
    refuse_together,
    refuse_without,
)
from twice.cli.output import align, tell
from twice.cli.run_options import TrustFlag
from twice.cli.secrets import read_secrets, show_secrets
from twice.foundation.printable import pluralize, printable
from twice.recorder.audit.inventory import in_words, rows_of
from twice.recorder.record_form import describe_ending
from twice.recorder.record_summary import next_command
from twice.recorder.runrecord import RunRecord
from twice.report.moment import LISTS, moment, moment_lines, snapshot, snapshot_lines, value_lines
from twice.report.overview import (
    FORMAT,
    identity_rows,
    no_reads_text,
    overview,
    state_text,
)
from twice.report.values import limit_leaves, mapping

_CONNECTIONS_MAX = 12


@build_command
def command(
    record: RecordPath,
    tick: Annotated[int | None, option("--tick T", "inputs, reads, compare-points and state of tick T")],
    at: Annotated[int | None, option("--snapshot N", "one snapshot, counted from 0")],
    path: Annotated[str | None, option(
        "--path PATH", "with --tick or --snapshot: this part of the state, as a diagnosis names it")],
    secrets: Annotated[str | None, option(
        "--secrets [FILE]", "list what was blanked; with a file (- is standard input), search for its lines",
        is_flag=False, flag_value="")],
    variables: Annotated[tuple[str, ...], option(
        "--secret-variable NAME", "with --secrets: search for the value of this environment variable")],
    trust: Annotated[TrustFlag, {"trust": "open states of any size of a record made elsewhere"}],
    limit: Limit,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Print the overview, one tick, one snapshot, or what is known of secrets."""
    refuse_together(
        {"--tick": tick, "--snapshot": at, "--secrets": secrets},
        "one of them: each shows another part",
    )
    refuse_without({"--secret-variable": variables}, {"--secrets": secrets})
    refuse_without({"--path": path}, {"--tick": tick, "--snapshot": at})
    if secrets is not None:
        return show_secrets(record, read_secrets(secrets, variables), limit, as_json=as_json)
    with trust.trusting(record), RunRecord.open(record) as opened:
        if tick is None and at is None:
            with show_progress("reading") as progress:
                told = overview(opened, progress=progress)
            # Text shows a few snapshots and connections anyway, and how many there are.
            lists = ("components", "streams", *(("snapshots", "connections") if as_json else ()))
            _limit(told, lists, limit)
            return tell(
                told, _describe(opened, told), as_json=as_json, code=0 if told["intact"] else 1
            )
        told = {"format": FORMAT, "record": str(opened.path), "run_id": opened.run_id}
        told |= (
            {"snapshot": snapshot(opened, at, path)}
            if at is not None
            else moment(opened, tick or 0, path)
        )
        number = None if told["snapshot"] is None else told["snapshot"]["number"]
        values = [] if as_json or number is None else value_lines(opened, number, path)
        _limit(told, LISTS if at is None else (), limit, values=None if as_json else values)
        lines = (
            moment_lines(opened, told, values) if at is None else snapshot_lines(opened, at, values)
        )
        return tell(told, lines, as_json=as_json)


def _limit(
    told: dict[str, Any],
    lists: Iterable[str],
    limit: int | None,
    *,
    values: list[str] | None = None,
) -> None:
    """Keep the first entries of lists; ``omitted`` counts the others by list, and so does standard error.

    Args:
        told: the document.
        lists: names of lists and objects in it.
        limit: how many entries of each to keep.
        values: the lines of a state, where they are printed in place of its JSON.
    """
    if limit is None:
        return
    omitted = {}
    for name in lists:
        entries = told[name]
        omitted[name] = len(entries) - limit
        told[name] = (
            dict(islice(entries.items(), limit)) if isinstance(entries, dict) else entries[:limit]
        )
    if "printed" in told:
        rows = {name: text.splitlines(keepends=True) for name, text in told["printed"].items()}
        omitted["printed"] = sum(max(len(each) - limit, 0) for each in rows.values())
        told["printed"] = {name: "".join(each[:limit]) for name, each in rows.items()}
    if values is not None:
        omitted["values"] = len(values) - limit
        del values[limit:]
    elif told.get("snapshot") is not None:
        found = told["snapshot"]
        found["values"], omitted["values"] = limit_leaves(found["values"], limit)
    omitted = {name: count for name, count in omitted.items() if count > 0}
    if omitted:
        told["omitted"] = omitted
        nouns = {name: name.replace("_", "-").removesuffix("s") for name in omitted}
        nouns["printed"] = "printed line"
        said = ", ".join(pluralize(count, f"more {nouns[name]}") for name, count in omitted.items())
        print(f"{said}: --limit {limit + max(omitted.values())} lists them", file=sys.stderr)


def _describe(record: RunRecord, told: Mapping[str, Any]) -> Iterator[str]:
    state = "" if told["intact"] else f"{state_text(told).upper()} "
    yield (
        f"{state}{record.path}: {printable(told['program'])}, seed {told['seed']}, "
        f"{pluralize(told['ticks'], 'tick')}, {describe_ending(record.ending)}"
    )
    damage = [] if told["intact"] else [("damage", told["damage"])]
    yield from align([*damage, *identity_rows(record, told), *_list_contents(told)])
    caveats = mapping(told["ending"]).get("caveats")
    for text in caveats if isinstance(caveats, list) else ():
        yield f"  caveat: {printable(text)}"
    yield f"next: {next_command(record)}"


def _list_contents(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    ending = mapping(told["ending"])
    exception = mapping(ending.get("exception"))
    if exception:
        yield "exception", f"{exception.get('type')}: {exception.get('message')}"
    numerics = mapping(ending.get("numerics"))
    if policies := [str(numerics[key]) for key in ("profile", "gpu_policy") if key in numerics]:
        knobs = numerics.get("knobs")
        rows = knobs if isinstance(knobs, list) else []
        count = sum(mapping(row).get("holds") is True for row in rows)
        yield "numbers", f"held to {' and '.join(policies)}, {pluralize(count, 'knob')} read back"
    operations = numerics.get("operations")
    if isinstance(operations, list):
        varying = sum(not mapping(one).get("deterministic") for one in operations)
        held = f"; {varying} not deterministic" if varying else ", held deterministic"
        yield (
            "operations",
            f"{len(operations)} that may vary{held}" if operations else "none that may vary",
        )
    yield "points", pluralize(told["points"], "compare-point")
    ticks = [str(entry["tick"]) for entry in told["snapshots"]]
    shown = ticks if len(ticks) <= 8 else [*ticks[:4], "...", *ticks[-2:]]
    yield "snapshots", f"{len(ticks)}, before tick {', '.join(shown)}" if ticks else "none"
    for name, form in told["components"].items():
        yield "component", f"{name} ({form})"
    for name, entry in told["streams"].items():
        facts = mapping(entry)
        draws = facts.get("draws")
        counted = "draws not counted" if draws is None else f"{draws} draws"
        yield "stream", f"{name} ({facts.get('kind')}), {counted}"
    reads = [
        f"{kind}: " + ", ".join(f"{name} {count}" for name, count in mapping(counts).items())
        for kind, counts in told["effects"].items()
        if mapping(counts)
    ]
    yield "world", "; ".join(reads) or no_reads_text(told)
    for one in told["connections"][:_CONNECTIONS_MAX]:
        said = f"{one['connection']} to {one['to']}"
        if one["failed"] is not None:
            yield "connection", f"{said} failed: {one['failed']}"
        else:
            sizes = f"{pluralize(one['sent_bytes'], 'byte')} out, {one['received_bytes']:,} in"
            yield "connection", f"{said}: {sizes}; {one['first']!r}"
    if len(told["connections"]) > _CONNECTIONS_MAX:
        yield "", f"and {len(told['connections']) - _CONNECTIONS_MAX} more: see --json"
    for row in rows_of(ending.get("inventory")):
        if row.get("class") in {"assumed", "unsupported"}:
            allowed = "allowed, " if row.get("allowed") else ""
            yield printable(f"{allowed}{row['class']}"), in_words(row)
    for name, facts in mapping(ending.get("printed")).items():
        counts = mapping(facts)
        yield "printed", f"{name}: {counts.get('lines')} lines, {counts.get('bytes')} bytes"
    sizes = told["size"]["blocks"].items()
    stored = [f"{kind} {entry['stored_bytes']:,}" for kind, entry in sizes if entry["count"]]
    yield "size", f"{pluralize(told['size']['file_bytes'], 'byte')}: {', '.join(stored)}"
    yield "format", f"record format {told['record_format']}, digests {told['digest']}"
