"""Say what a record holds, without executing anything.

  twice show a.twice
  twice show a.twice --tick 120
  twice show a.twice --snapshot 2 --json
  twice show a.twice --secrets
  twice show a.twice --secrets secrets.txt

Opening a record from a stranger is safe: no code of it runs, and types stay names.
Exit code 0, and 1 when the record is torn or a byte of it was changed.

--secrets says what redaction blanked, by rule. Given secrets, one a line in a file or on standard
input, or in variables, it proves that they are not in the record: 0 none is, 1 one was found, with its
place, 2 not all of the record could be read. Values are never printed, and never part of a command.
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
from twice.report.overview import FORMAT, ending_text, overview, parent_text
from twice.report.values import inline, mapping


@make_command(
    record_argument,
    click.option("--tick", type=int, metavar="T", help="what went in and what stood at T"),
    click.option("--snapshot", "at", type=int, metavar="N", help="one snapshot, counted from 0"),
    click.option(
        "--secrets", is_flag=False, flag_value="", metavar="[FILE]",
        help="what was blanked; with a file of secrets (- is standard input), whether one is in it",
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
    """Print the overview, one tick, one snapshot, or what there is of secrets."""
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
    state = "" if told["intact"] else "TORN " if told["complete"] is False else "DAMAGED "
    yield (
        f"{state}{record.path}: {printable(told['program'])}, seed {told['seed']}, "
        f"{told['ticks']} ticks, {printable(ending_text(record))}"
    )
    rows = [*_identity_rows(record, told), *_content_rows(told)]
    yield from align(rows)
    yield from (f"  caveat: {printable(text)}" for text in _caveats(told))
    yield f"next: {_next(record, told)}"


def _identity_rows(record: RunRecord, told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not told["intact"]:
        yield "damage", printable(told["damage"])
    yield "run", told["run_id"]
    if told["parent"] is not None:
        yield "parent", printable(parent_text(record))
    yield "config", inline(told["config"])
    kind = told["class"]
    yield "class", f"{kind['class']}, scope {kind['scope']}"
    yield "predicate", printable(record.setup.predicate.sentence())
    policies = (f"{name} {value}" for name, value in told["policies"].items() if value)
    yield "policies", printable(", ".join(policies))
    code = told["code"]
    dirty = " with uncommitted changes" if code.get("dirty") else ""
    yield "code", printable(f"{code.get('commit') or 'no commit'}{dirty}")
    files = {**mapping(code.get("files")), **mapping(mapping(told["ending"]).get("files"))}
    for name, digest in sorted(files.items()):
        yield "", printable(f"{name} {digest}")
    yield "environment", printable(_environment(told["environment"]))


def _environment(environment: Mapping[str, Any]) -> str:
    python, system = mapping(environment.get("python")), mapping(environment.get("os"))
    libraries = mapping(environment.get("libraries"))
    parts = [
        f"Python {python.get('version')}",
        str(system.get("system")),
        str(mapping(environment.get("cpu")).get("arch")),
        f"numpy {libraries.get('numpy')}",
        f"{len(mapping(environment.get('probes')))} probes",
    ]
    return ", ".join(parts)


def _content_rows(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    ending = mapping(told["ending"])
    exception = mapping(ending.get("exception"))
    if exception:
        yield "exception", printable(f"{exception.get('type')}: {exception.get('message')}")
    yield "points", f"{told['points']} compare-points"
    yield "snapshots", _snapshots(told["snapshots"])
    for name, form in told["components"].items():
        yield "component", printable(f"{name} ({form})")
    for name, entry in told["streams"].items():
        facts = mapping(entry)
        draws = facts.get("draws")
        counted = "draws not counted" if draws is None else f"{draws} draws"
        yield "stream", printable(f"{name} ({facts.get('kind')}), {counted}")
    yield "world", printable(_manifest(told["effects"]))
    for text in _connections(told["connections"]):
        yield "connection", printable(text)
    for row in rows_of(ending.get("inventory")):
        if row.get("class") in ("assumed", "unsupported"):
            allowed = "allowed, " if row.get("allowed") else ""
            yield printable(f"{allowed}{row['class']}"), printable(in_words(row))
    for name, facts in mapping(ending.get("printed")).items():
        counts = mapping(facts)
        yield (
            "printed",
            printable(f"{name}: {counts.get('lines')} lines, {counts.get('bytes')} bytes"),
        )
    yield "size", _size(told["size"])
    yield "format", f"record format {told['record_format']}, digests {told['digest']}"


def _connections(connections: list[dict[str, Any]]) -> Iterator[str]:
    for one in connections[:_CONNECTIONS_MAX]:
        if one["failed"] is not None:
            yield f"{one['connection']} to {one['to']} failed: {one['failed']}"
        else:
            sizes = f"{one['sent_bytes']:,} bytes out, {one['received_bytes']:,} in"
            yield f"{one['connection']} to {one['to']}: {sizes}; {one['first']!r}"
    if len(connections) > _CONNECTIONS_MAX:
        yield f"and {len(connections) - _CONNECTIONS_MAX} more: see --json"


_CONNECTIONS_MAX = 12


def _snapshots(entries: list[dict[str, Any]]) -> str:
    if not entries:
        return "none"
    ticks = [str(entry["tick"]) for entry in entries]
    shown = ticks if len(ticks) <= 8 else [*ticks[:4], "...", *ticks[-2:]]
    return f"{len(ticks)}, before tick {', '.join(shown)}"


def _manifest(effects: Mapping[str, Any]) -> str:
    parts = [
        f"{kind}: " + ", ".join(f"{name} {count}" for name, count in mapping(reads).items())
        for kind, reads in effects.items()
        if mapping(reads)
    ]
    return "; ".join(parts) or "nothing was read from the world"


def _size(size: Mapping[str, Any]) -> str:
    kinds = [
        f"{kind} {entry['stored_bytes']:,}"
        for kind, entry in size["blocks"].items()
        if entry["count"]
    ]
    return f"{size['file_bytes']:,} bytes: {', '.join(kinds)}"


def _caveats(told: Mapping[str, Any]) -> list[str]:
    found = mapping(told["ending"]).get("caveats")
    return [str(text) for text in found] if isinstance(found, list) else []


def _next(record: RunRecord, told: Mapping[str, Any]) -> str:
    if told["complete"]:
        return f"twice verify {record.path}"
    return f"twice migrate {record.path} -o {record.path.with_suffix('.closed.twice')}"
