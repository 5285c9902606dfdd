"""What is known of an asset: read from its log, from the file itself, and from what generators put into it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sized
from pathlib import Path
from typing import Annotated, Any, Final

from twice.assets.errors import LogUnreadable
from twice.assets.gate.collector import collect_facts
from twice.assets.importers.merge import LogImport, import_into_log
from twice.assets.log.block import Mode
from twice.assets.log.diff import compare
from twice.assets.log.drafts import draft
from twice.assets.log.io import log_digest, read_log, to_document
from twice.assets.log.models import AssetKind
from twice.assets.media.measure import measure_file
from twice.cli.commands.asset.store import read_value
from twice.cli.console import Status
from twice.cli.options import (
    AsJson,
    Limit,
    argument,
    build_command,
    option,
    refuse_without,
    split_pairs,
)
from twice.cli.output import align, limit_rows, print_json, tell
from twice.errors import UsageError
from twice.foundation.printable import printable

_SHOWN_MAX: Final = 72
_BLOCKS: Final = ("work_unit", "producer", "provider", "model", "seed", "recipe", "asset")


@build_command
def show_asset(
    path: Annotated[Path | None, argument(metavar="[ASSET|LOG]")],
    kind: Annotated[str | None, option("--draft", "print one to fill in", AssetKind)],
    mode: Annotated[str, option(
        "--mode", "what the draft promises", Mode, default=str(Mode.DETERMINISTIC))],
    as_json: AsJson,
) -> int:  # fmt: skip
    """Say what is known of an asset, or print a draft to fill in.

      twice asset show hot/cover.png
      twice asset show hot/cover-1a2b3c4d.detlog.json --json
      twice asset show --draft audio

    Of a log it prints the promise, what made the asset, and what is missing. Of a file without a log it prints what is
    measured. --draft prints every field of a log with what it takes. Nothing is executed, nothing is written.

    Exit code 0 it could be read, 2 it could not.
    """
    if kind is not None:
        print_json(draft(AssetKind(kind), Mode(mode)))
        return 0
    if path is None or path.is_dir():
        raise UsageError(
            "No asset and no log was named.",
            "Expected one of the two, or --draft art or --draft audio.",
            "For example: twice asset show hot/cover.png",
        )
    facts = next(iter(collect_facts(path)))
    if facts.trouble:
        raise LogUnreadable(facts.trouble, "Expected a determinism log.", "Seal the asset again.")
    document: dict[str, Any] = {"format": "twice.asset/1"}
    if not facts.log_path:
        with Status() as status:  # A long sound is decoded to its end.
            status(f"measuring {path.name}")
            asset = to_document(measure_file(path))
        document |= {"asset": asset, "log": None, "missing": []}
        lines = [
            "no determinism log is about this file",
            *align([(name, _shorten(part)) for name, part in asset.items()]),
            f"next: twice asset seal {path} --log DRAFT",
        ]
    else:
        log, missing = to_document(facts.log), [each.pointer for each in facts.examined.problems]
        document |= {
            "asset": to_document(facts.log.asset) if facts.log.asset is not None else None,
            "log": log,
            "log_path": facts.log_path,
            "log_digest": log_digest(facts.log),
            "missing": missing,
        }
        promise = log.get("promise", {})
        grade = f", grade {promise['grade']}" if "grade" in promise else ""
        lines = [
            f"{log.get('log_id')} revision {log.get('revision')}: {promise.get('mode')}{grade}",
            *align([(name, _shorten(log[name])) for name in _BLOCKS if name in log]),
            *(f"missing or wrong: {pointer}" for pointer in missing),
            f"next: twice asset gate {path}",
        ]
    return tell(document, map(printable, lines), as_json=as_json)


def _shorten(value: object) -> str:
    """Give a value on one line; of an object, each of its values."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_cut(part)}" for name, part in value.items())
    return _cut(value)


def _cut(value: object) -> str:
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return printable(said if len(said) <= _SHOWN_MAX else f"{said[: _SHOWN_MAX - 1]}…")


@build_command
def diff_logs(
    a: Annotated[Path, argument()], b: Annotated[Path, argument()], limit: Limit, as_json: AsJson
) -> int:
    """Compare two logs: which fields differ, and what would a rendering change?

      twice asset diff a.detlog.json b.detlog.json
      twice asset diff before.json hot/cover.detlog.json

    Logs are compared as values; drafts may be compared too. What is expected of a rendering follows from which fields
    differ: it is no measurement.

    Exit code 0 they say the same, 1 they differ, 2 one cannot be read.
    """
    found = compare(read_log(a, draft=True), read_log(b, draft=True))
    document = limit_rows(found.to_json(), "differences", limit)
    rows = [
        (each["effect"], each["pointer"], f"{each['a'] or '(absent)'} -> {each['b'] or '(absent)'}")
        for each in document["differences"]
    ]
    lines = [found.verdict, *align(rows)]
    return tell(document, lines, as_json=as_json, code=1 if rows else 0)


@build_command
def import_file(
    file: Annotated[Path, argument()],
    into: Annotated[Path | None, option("--into LOG", "the log to fill")],
    merge: Annotated[bool, option("--merge", "write what is settled, and leave the rest of the log")],
    force: Annotated[bool, option("--force", "fill a log that is about another file as well")],
    choices: Annotated[tuple[str, ...], option("--choose POINTER=VALUE", "the value to take where there are several")],
    as_json: AsJson,
) -> int:  # fmt: skip
    """Read what generators and workstations embed, and put it into a determinism log.

      twice asset import cover.png
      twice asset import theme.rpp --into hot/theme.detlog.json
      twice asset import cover.png --choose /seed/effective=42 --into cover.json

    What was measured from the file itself stands apart and never becomes a value of a session. Where a file
    offers several values, none is taken; --choose takes one. Where the log says something else, nothing is
    written, unless --choose says which, or --merge leaves such fields as they are. A log that changes is a
    new revision, which names the one before; a draft stays a draft. A picture or a sound fills the log of its own
    payload alone, unless --force says otherwise; a project or a graph has no payload, and fills any.

    Exit code 0 all that was found is settled, 1 log and file differ, 2 a field is ambiguous, nothing was
    found, or wrong use.
    """
    refuse_without({"--merge": merge}, {"--into": into})
    given = split_pairs(choices, "--choose", "/seed/effective=42")
    # Seeds are digits in a log, and null is no value.
    chosen = {
        at: text if at.startswith("/seed/") or (value := read_value(text)) is None else value
        for at, text in given.items()
    }
    with Status() as status:
        found = import_into_log(file, chosen, status, into=into, merge=merge, force=force)
    lines = [*_list_imported(found), *_conclude(found, file, into)]
    return tell(found.to_json(), lines, as_json=as_json, code=found.exit_code)


def _list_imported(found: LogImport) -> Iterator[str]:
    """List what the file says, what is measured of it, and what is open."""
    imported = found.imported
    by = " ".join(filter(None, (imported.generator, imported.generator_version)))
    yield printable(f"{imported.file}: {by or 'nothing that is known here'}")
    values, evidence = imported.values.items(), imported.evidence
    tables: dict[str, list[tuple[str, ...]]] = {
        "": [(at, _cut(each), evidence[at].chunk) for at, each in values],
        "measured from the file": [(name, _cut(each)) for name, each in found.measured.items()],
        "ambiguous": [
            (each.pointer, " | ".join(map(_cut, each.candidates)) or "?", each.why)
            for each in imported.ambiguities
        ],
        "not understood": [(each.place, each.why) for each in imported.not_understood],
    }
    for title, rows in tables.items():
        yield from [title] if title and rows else []
        yield from align(rows)
    if kept := sum(map(len, imported.other.values())):
        yield f"{kept} other keys: see --json"


def _conclude(found: LogImport, file: Path, log: Path | None) -> Iterator[str]:
    """Say what became of the log, and what to do about what is open."""
    merge, doubts = found.merge, found.imported.ambiguities
    if merge is None:
        if doubts:
            value = _cut(doubts[0].candidates[0]) if doubts[0].candidates else "VALUE"
            yield printable(
                f"next: twice asset import {file} --choose '{doubts[0].pointer}={value}'"
            )
        return
    sorted_into: dict[str, Sized] = {
        "filled": merge.filled, "confirmed": merge.confirmed, "taken": merge.taken,
        "the same": merge.same, "in conflict": merge.conflicts, "unfit": merge.unfit,
    }  # fmt: skip
    counts = ", ".join(f"{len(each)} {word}" for word, each in sorted_into.items() if each)
    revision = merge.document.get("revision")
    kept = "it stays a draft" if revision is None else f"revision {revision}"
    end = kept if found.written else "nothing was written"
    yield printable(f"{log}: {counts or 'nothing to fill'}; {end}")
    yield from align([
        (each.pointer, f"the log says {_cut(each.log)}", f"the file says {_cut(each.file)}")
        for each in merge.conflicts
    ])  # fmt: skip
    yield from align(merge.unfit)
    if merge.conflicts and not found.written:
        first = f"{merge.conflicts[0].pointer}={_cut(merge.conflicts[0].file)}"
        yield printable(f"next: choose, as in --choose '{first}', or --merge to keep the log's")
