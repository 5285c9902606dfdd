"""Show the contents of a record, without executing anything.

  twice show a.twice
  twice show a.twice --tick 120
  twice show a.twice --snapshot 2 --json
  twice show a.twice --secrets
  twice show a.twice --secrets secrets.txt

It is safe to open a stranger's record: no code of it runs, and types stay names.
Exit code 0, or 1 if the record is torn or a byte of it was changed.

--secrets lists what redaction blanked, by rule. With secrets it searches the record for them: give
them in a file or on standard input, one a line, or in variables. Exit code 0 if none is found, 1 if
one is found, with its place, 2 if a part of the record cannot be read. Secrets are never printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from twice.cli.console import Progress
from twice.cli.group import make_command
from twice.cli.options import json_option, record_argument, several
from twice.cli.output import align, tell
from twice.cli.run_options import TrustOptions
from twice.cli.secrets import FORMAT as SECRETS_FORMAT
from twice.cli.secrets import (
    exit_code,
    search_json,
    search_lines,
    secrets_given,
    summary,
    summary_lines,
)
from twice.errors import UsageError
from twice.foundation.printable import printable
from twice.recording.redaction.searching import search
from twice.recording.runrecord import RunRecord
from twice.recording.sealing.inventory import in_words, rows_of
from twice.report.moment import moment, moment_lines, snapshot, snapshot_lines
from twice.report.overview import (
    FORMAT,
    ending_text,
    identity_rows,
    next_command,
    no_reads_text,
    overview,
    state_text,
)
from twice.report.values import mapping

_CONNECTIONS_MAX = 12


@make_command(
    record_argument,
    click.option("--tick", type=int, metavar="T", help="inputs, reads, compare-points and state of tick T"),
    click.option("--snapshot", "at", type=int, metavar="N", help="one snapshot, counted from 0"),
    click.option(
        "--secrets", is_flag=False, flag_value="", metavar="[FILE]",
        help="list what was blanked; with a file (- is standard input), search for its lines",
    ),
    several(
        "--secret-variable", "variables", metavar="NAME",
        help="with --secrets: search for the value of this environment variable",
    ),
    click.option(
        "--trust", is_flag=True, help="open states of any size of a record made elsewhere"
    ),
    json_option,
)  # fmt: skip
def command(
    record: Path,
    tick: int | None,
    at: int | None,
    secrets: str | None,
    variables: tuple[str, ...],
    trust: bool,
    as_json: bool,
) -> int:
    """Print the overview, one tick, one snapshot, or what is known of secrets."""
    parts = {"--tick": tick, "--snapshot": at, "--secrets": secrets}
    given = [name for name, value in parts.items() if value is not None]
    if len(given) > 1:
        raise UsageError(
            f"{' and '.join(given)} were given together.",
            "Expected one of them: each shows another part.",
            f"For example: twice show {record} {given[0]}",
        )
    if variables and secrets is None:
        raise UsageError(
            "--secret-variable was given without --secrets.",
            "It names a variable whose value is searched for.",
            f"For example: twice show {record} --secrets --secret-variable API_KEY",
        )
    if secrets is not None:
        return _secrets(record, secrets_given(secrets, variables), as_json=as_json)
    with TrustOptions(trust).trusting(record), RunRecord.open(record) as opened:
        if tick is None and at is None:
            return _overview(opened, as_json=as_json)
        head = {"format": FORMAT, "record": str(opened.path), "run_id": opened.run_id}
        if tick is not None:
            told = moment(opened, tick)
            return tell({**head, **told}, moment_lines(opened, told), as_json=as_json)
        assert at is not None, "one of the two"
        if as_json:
            return tell({**head, "snapshot": snapshot(opened, at)}, (), as_json=True)
        opened.state_at(at)
        return tell({}, snapshot_lines(opened, at), as_json=False)


def _secrets(path: Path, given: Mapping[str, bytes], *, as_json: bool) -> int:
    with RunRecord.open(path) as record:
        head = {"format": SECRETS_FORMAT, "record": str(record.path), "run_id": record.run_id}
        told = summary(record)
        if not given:
            return tell({**head, **told}, summary_lines(record, told), as_json=as_json)
    found = search(path, given)
    document = {**head, **told, **search_json(found)}
    return tell(document, search_lines(path, found), as_json=as_json, code=exit_code(found))


def _overview(record: RunRecord, *, as_json: bool) -> int:
    with Progress("reading") as progress:
        told = overview(record, progress=progress)
    return tell(told, _lines(record, told), as_json=as_json, code=0 if told["intact"] else 1)


def _lines(record: RunRecord, told: Mapping[str, Any]) -> Iterator[str]:
    state = "" if told["intact"] else f"{state_text(told).upper()} "
    yield (
        f"{state}{record.path}: {printable(told['program'])}, seed {told['seed']}, "
        f"{told['ticks']} ticks, {printable(ending_text(record))}"
    )
    damage = [] if told["intact"] else [("damage", told["damage"])]
    rows = [*damage, *identity_rows(record, told), *_content_rows(told)]
    yield from align([(name, printable(text)) for name, text in rows])
    caveats = mapping(told["ending"]).get("caveats")
    for text in caveats if isinstance(caveats, list) else ():
        yield f"  caveat: {printable(text)}"
    yield f"next: {next_command(record)}"


def _content_rows(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    ending = mapping(told["ending"])
    exception = mapping(ending.get("exception"))
    if exception:
        yield "exception", f"{exception.get('type')}: {exception.get('message')}"
    yield "points", f"{told['points']} compare-points"
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
            sizes = f"{one['sent_bytes']:,} bytes out, {one['received_bytes']:,} in"
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
    yield "size", f"{told['size']['file_bytes']:,} bytes: {', '.join(stored)}"
    yield "format", f"record format {told['record_format']}, digests {told['digest']}"
