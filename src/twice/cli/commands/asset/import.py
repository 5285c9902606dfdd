# ruff: noqa: N999  (the command is called import, and a module is found by its name)
"""Read what generators and workstations embed, and put it into a determinism log.

  twice asset import cover.png
  twice asset import theme.rpp --into hot/theme.detlog.json
  twice asset import cover.png --choose /seed/effective=42 --into hot/cover.detlog.json

What was measured from the file itself stands apart and never becomes a value of a session. Where a file
offers several values, none is taken; --choose takes one. Where the log says something else, nothing is
written, unless --choose says which, or --merge leaves such fields as they are. A log that changes is a
new revision, which names the one before; a draft stays a draft. A picture or a sound fills the log of its own
payload alone, unless --force says otherwise; a project or a graph has no payload, and fills any.

Exit code 0 all that was found is settled, 1 log and file differ, 2 a field is ambiguous, nothing was
found, or wrong use.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import click

from twice.assets.errors import ImportRefused, PayloadRefused
from twice.assets.importers.imported import Imported, Value
from twice.assets.importers.merging import Merged, hold_choices, merged, with_choices
from twice.assets.importers.opening import import_file
from twice.assets.measuring.file import file_sha256, measure_file
from twice.assets.model.drafting import without_wanted
from twice.assets.model.kinds import Fault
from twice.assets.model.reading import examine, to_document
from twice.assets.model.text import examine_bytes, read_bytes, refusal
from twice.assets.payload import NO_PAYLOAD, payload
from twice.assets.store.revising import keep_revision
from twice.cli.console import Status
from twice.cli.group import make_command
from twice.cli.options import PATH, gather, json_option, several, split_pairs
from twice.cli.output import aligned, tell
from twice.errors import ExtraMissing, UsageError
from twice.foundation.printable import printable

_SHOWN_MAX: Final = 72


@dataclass(frozen=True, slots=True)
class LogOptions:
    """The log to fill, and how far."""

    into: Path | None
    merge: bool
    force: bool


@make_command(
    click.argument("file", type=PATH),
    gather(
        "target",
        LogOptions,
        click.option("--into", type=PATH, metavar="LOG", help="the log to fill"),
        click.option(
            "--merge", is_flag=True, help="write what is settled, and leave the rest of the log"
        ),
        click.option(
            "--force", is_flag=True, help="fill a log that is about another file as well"
        ),
    ),
    several(
        "--choose", "choices", metavar="POINTER=VALUE",
        help="the value to take where there are several",
    ),
    json_option,
)  # fmt: skip
def command(file: Path, target: LogOptions, choices: tuple[str, ...], as_json: bool) -> int:
    """Read, put in, say what is open."""
    if target.merge and target.into is None:
        raise UsageError(
            "--merge was given without a log.",
            "Expected the log that is to be filled.",
            "For example: twice asset import FILE --into LOG --merge",
        )
    given = split_pairs(choices, "--choose", "/seed/effective=42")
    chosen = {pointer: _parse_choice(pointer, text) for pointer, text in given.items()}
    with Status() as status:
        status(f"reading {file.name}")
        imported, merge = with_choices(import_file(file), chosen), None
        if target.into is not None:
            log = _read_log(target.into)
            if not target.force:
                _refuse_other(log, target.into, file)
            merge = merged(log, imported, chosen)
        hold_choices(imported, merge, chosen)
        status(f"measuring {file.name}")
        measured = _measure(file)
    result = _conclude(imported, merge)
    settled = result == "settled" or (target.merge and result != "nothing")
    written = False
    if target.into is not None and merge is not None and merge.changed and settled:
        if not target.force:
            _bind(merge.document, file)
        keep_revision(target.into, merge.document)
        written = True
    document = {
        "format": "twice.asset-import/1",
        "result": result,
        **imported.document(),
        "measured": measured,
        "log": None if merge is None else _describe_merge(merge, written=written),
    }
    return tell(
        document,
        _lines(file, target.into, imported, measured, merge, written=written),
        as_json=as_json,
        code=0 if settled else 1 if result == "conflict" else 2,
    )


def _parse_choice(pointer: str, text: str) -> Value:
    """Read a chosen value; what is JSON is that, but for digits where a log has text."""
    if pointer.startswith("/seed/"):
        return text
    try:
        value: Value | None = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if value is None else value


def _read_log(path: Path) -> dict[str, Any]:
    """Read a log or a draft, which may be unfinished but says nothing wrong."""
    document, _ = examine_bytes(read_bytes(path), str(path))
    problems = examine(without_wanted(document)).problems
    wrong = [each for each in problems if each.fault not in (Fault.MISSING, Fault.UNKNOWN)]
    if wrong:
        raise refusal(str(path), wrong[0], len(wrong))
    assert isinstance(document, dict), "a log without a wrong value is an object"
    return document


def _refuse_other(log: Mapping[str, Any], path: Path, file: Path) -> None:
    """Refuse a picture or a sound that is not what the log is about; a project has no payload of its own."""
    asset = log.get("asset")
    said = asset.get("payload") if isinstance(asset, Mapping) else None
    if not isinstance(said, Mapping) or None in (said.get("digest"), said.get("method")):
        return
    if asset is not None and asset.get("file_sha256") == file_sha256(file):
        return
    found = payload(file)
    if found.method == NO_PAYLOAD:
        return
    if (found.method, found.digest) != (said["method"], said["digest"]):
        why = f"its payload is {found.method} {found.digest}"
        raise ImportRefused(
            f"{file} is not the asset that {path} is about: {why}.",
            f"Expected the payload {said['method']} {said['digest']}.",
            "Name the log's own asset, or fill the log from this file all the same: --force",
        )


def _bind(document: dict[str, Any], file: Path) -> None:
    """Say in a draft which picture or sound filled it, so that it is sealed with that one alone."""
    if "asset" in document:
        return
    try:
        found = payload(file)
    except PayloadRefused:
        return
    if found.method != NO_PAYLOAD:
        document["asset"] = {"payload": {"method": found.method, "digest": found.digest}}


def _measure(path: Path) -> dict[str, Any]:
    """Measure the delivered file; nothing where it is no picture or sound, or cannot be decoded."""
    try:
        return dict(to_document(measure_file(path)).get("measured", {}))
    except (ExtraMissing, PayloadRefused):
        return {}


def _conclude(imported: Imported, merge: Merged | None) -> str:
    if merge is not None and (merge.conflicts or merge.unfit):
        return "conflict"
    if imported.ambiguities:
        return "ambiguous"
    return "settled" if imported.values else "nothing"


def _describe_merge(merge: Merged, *, written: bool) -> dict[str, Any]:
    return {
        **{name: list(getattr(merge, name)) for name in ("filled", "confirmed", "taken", "same")},
        "conflicts": [asdict(each) for each in merge.conflicts],
        "unfit": [{"pointer": at, "why": why} for at, why in merge.unfit],
        "revision": merge.document.get("revision"),
        "written": written,
    }


def _lines(
    file: Path,
    log: Path | None,
    imported: Imported,
    measured: Mapping[str, Any],
    merge: Merged | None,
    *,
    written: bool,
) -> Iterator[str]:
    by = " ".join(filter(None, (imported.generator, imported.generator_version)))
    yield printable(f"{imported.file}: {by or 'nothing that is known here'}")
    where = imported.evidence
    yield from _table(
        [(at, _short(value), where[at].chunk) for at, value in imported.values.items()]
    )
    if measured:
        yield "measured from the file"
        yield from _table([(name, _short(value)) for name, value in measured.items()])
    if imported.ambiguities:
        yield "ambiguous"
        yield from _table([
            (each.pointer, " | ".join(map(_short, each.candidates)) or "?", each.why)
            for each in imported.ambiguities
        ])  # fmt: skip
    if imported.not_understood:
        yield "not understood"
        yield from _table([(each.place, each.why) for each in imported.not_understood])
    kept = sum(map(len, imported.other.values()))
    if kept:
        yield f"{kept} other keys: see --json"
    if merge is not None:
        yield from _merge_lines(log, merge, written=written)
    elif imported.ambiguities:
        first = imported.ambiguities[0]
        value = _short(first.candidates[0]) if first.candidates else "VALUE"
        yield printable(f"next: twice asset import {file} --choose '{first.pointer}={value}'")


def _merge_lines(log: Path | None, merge: Merged, *, written: bool) -> Iterator[str]:
    counts = ", ".join(
        f"{len(which)} {word}"
        for word, which in (
            ("filled", merge.filled), ("confirmed", merge.confirmed), ("taken", merge.taken),
            ("the same", merge.same), ("in conflict", merge.conflicts), ("unfit", merge.unfit),
        )
        if which
    )  # fmt: skip
    revision = merge.document.get("revision")
    kept = "it stays a draft" if revision is None else f"revision {revision}"
    end = kept if written else "nothing was written"
    yield printable(f"{log}: {counts or 'nothing to fill'}; {end}")
    yield from _table([
        (each.pointer, f"the log says {_short(each.log)}", f"the file says {_short(each.file)}")
        for each in merge.conflicts
    ])  # fmt: skip
    yield from _table(merge.unfit)
    if merge.conflicts and not written:
        first = f"{merge.conflicts[0].pointer}={_short(merge.conflicts[0].file)}"
        yield printable(f"next: choose, as in --choose '{first}', or --merge to keep the log's")


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    return aligned([[printable(cell) for cell in row] for row in rows])


def _short(value: object) -> str:
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return printable(said if len(said) <= _SHOWN_MAX else f"{said[: _SHOWN_MAX - 1]}…")
