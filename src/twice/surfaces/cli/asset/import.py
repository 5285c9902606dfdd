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

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

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
from twice.errors import ExtraMissing, UsageError
from twice.foundation.printable import printable
from twice.surfaces.cli.showing import Doing, add_json, aligned, print_json

FORMAT: Final = "twice.asset-import/1"
_SHOWN_MAX: Final = 72


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="a picture, a sound, a graph or a project"
    )
    parser.add_argument("--into", type=Path, metavar="LOG", help="the log to fill")
    parser.add_argument(
        "--merge", action="store_true", help="write what is settled, and leave the rest of the log"
    )
    parser.add_argument(
        "--choose", action="append", default=[], metavar="POINTER=VALUE",
        help="the value to take where there are several; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--force", action="store_true", help="fill a log that is about another file as well"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Read, put in, say what is open."""
    if options.merge and options.into is None:
        raise UsageError(
            "--merge was given without a log.",
            "Expected the log that is to be filled.",
            "For example: twice asset import FILE --into LOG --merge",
        )
    chosen = dict(map(_choice, options.choose))
    with Doing() as doing:
        doing(f"reading {options.file.name}")
        imported = with_choices(import_file(options.file), chosen)
        merge = None
        if options.into is not None:
            log = _log(options.into)
            if not options.force:
                _refuse_other(log, options)
            merge = merged(log, imported, chosen)
        hold_choices(imported, merge, chosen)
        doing(f"measuring {options.file.name}")
        measured = _measured(options.file)
    result = _result(imported, merge)
    settled = result == "settled" or (options.merge and result != "nothing")
    written = merge is not None and merge.changed and settled
    if merge is not None and written:
        _bind(merge.document, options)
        keep_revision(options.into, merge.document)
    if options.json:
        print_json(_document(result, imported, measured, merge, written=written))
    else:
        for line in _lines(options, imported, measured, merge, written=written):
            print(line)
    return 0 if settled else 1 if result == "conflict" else 2


def _choice(said: str) -> tuple[str, Value]:
    """Read ``POINTER=VALUE``; what is JSON is that, but for digits where a log has text."""
    pointer, equals, text = said.partition("=")
    if not equals or not pointer.startswith("/"):
        raise UsageError(
            f"{said!r} chooses nothing.",
            "Expected a JSON pointer, an equals sign and a value.",
            "For example: --choose /seed/effective=42",
        )
    if pointer.startswith("/seed/"):
        return pointer, text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return pointer, text
    return pointer, text if value is None else value


def _log(path: Path) -> dict[str, Any]:
    """Read a log or a draft, which may be unfinished but says nothing wrong."""
    document, _ = examine_bytes(read_bytes(path), str(path))
    problems = examine(without_wanted(document)).problems
    wrong = [each for each in problems if each.fault not in (Fault.MISSING, Fault.UNKNOWN)]
    if wrong:
        raise refusal(str(path), wrong[0], len(wrong))
    assert isinstance(document, dict), "a log without a wrong value is an object"
    return document


def _refuse_other(log: Mapping[str, Any], options: argparse.Namespace) -> None:
    """Refuse a picture or a sound that is not what the log is about; a project has no payload of its own."""
    asset = log.get("asset")
    said = asset.get("payload") if isinstance(asset, Mapping) else None
    if not isinstance(said, Mapping) or None in (said.get("digest"), said.get("method")):
        return
    if asset is not None and asset.get("file_sha256") == file_sha256(options.file):
        return
    found = payload(options.file)
    if found.method == NO_PAYLOAD:
        return
    if (found.method, found.digest) != (said["method"], said["digest"]):
        why = f"its payload is {found.method} {found.digest}"
        raise ImportRefused(
            f"{options.file} is not the asset that {options.into} is about: {why}.",
            f"Expected the payload {said['method']} {said['digest']}.",
            "Name the log's own asset, or fill the log from this file all the same: --force",
        )


def _bind(document: dict[str, Any], options: argparse.Namespace) -> None:
    """Say in a draft which picture or sound filled it, so that it is sealed with that one alone."""
    if "asset" in document or options.force:
        return
    try:
        found = payload(options.file)
    except PayloadRefused:
        return
    if found.method != NO_PAYLOAD:
        document["asset"] = {"payload": {"method": found.method, "digest": found.digest}}


def _measured(path: Path) -> dict[str, Any]:
    """Measure the delivered file; nothing where it is no picture or sound, or cannot be decoded."""
    try:
        asset = to_document(measure_file(path))
    except (ExtraMissing, PayloadRefused):
        return {}
    found: dict[str, Any] = asset.get("measured", {})
    return found


def _result(imported: Imported, merge: Merged | None) -> str:
    if merge is not None and (merge.conflicts or merge.unfit):
        return "conflict"
    if imported.ambiguities:
        return "ambiguous"
    return "settled" if imported.values else "nothing"


def _document(
    result: str,
    imported: Imported,
    measured: Mapping[str, Any],
    merge: Merged | None,
    *,
    written: bool,
) -> dict[str, object]:
    return {
        "format": FORMAT,
        "result": result,
        **imported.document(),
        "measured": dict(measured),
        "log": None if merge is None else {
            "filled": list(merge.filled),
            "confirmed": list(merge.confirmed),
            "taken": list(merge.taken),
            "same": list(merge.same),
            "conflicts": [
                {"pointer": each.pointer, "log": each.log, "file": each.file}
                for each in merge.conflicts
            ],
            "unfit": [{"pointer": at, "why": why} for at, why in merge.unfit],
            "revision": merge.document.get("revision"),
            "written": written,
        },
    }  # fmt: skip


def _lines(
    options: argparse.Namespace, imported: Imported, measured: Mapping[str, Any],
    merge: Merged | None, *, written: bool,
) -> Iterator[str]:  # fmt: skip
    by = " ".join(filter(None, (imported.generator, imported.generator_version)))
    yield printable(f"{imported.file}: {by or 'nothing that is known here'}")
    rows = [
        (pointer, _short(value), imported.evidence[pointer].chunk)
        for pointer, value in imported.values.items()
    ]
    yield from _table(rows)
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
        yield from _merge_lines(options, merge, written=written)
    elif imported.ambiguities:
        first = imported.ambiguities[0]
        value = _short(first.candidates[0]) if first.candidates else "VALUE"
        yield printable(
            f"next: twice asset import {options.file} --choose '{first.pointer}={value}'"
        )


def _merge_lines(options: argparse.Namespace, merge: Merged, *, written: bool) -> Iterator[str]:
    counts = ", ".join(
        f"{len(which)} {word}"
        for word, which in (
            ("filled", merge.filled), ("confirmed", merge.confirmed), ("taken", merge.taken),
            ("the same", merge.same), ("in conflict", merge.conflicts), ("unfit", merge.unfit),
        )
        if which
    )  # fmt: skip
    revision = merge.document.get("revision")
    kept = "; it stays a draft" if revision is None else f"; revision {revision}"
    end = kept if written else "; nothing was written"
    yield printable(f"{options.into}: {counts or 'nothing to fill'}{end}")
    yield from _table([
        (each.pointer, f"the log says {_short(each.log)}", f"the file says {_short(each.file)}")
        for each in merge.conflicts
    ])  # fmt: skip
    yield from _table(list(merge.unfit))
    if merge.conflicts and not written:
        first = merge.conflicts[0]
        yield printable(
            f"next: choose, as in --choose '{first.pointer}={_short(first.file)}', or --merge to keep the log's"
        )


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    return [
        printable(line) for line in aligned([[printable(cell) for cell in row] for row in rows])
    ]


def _short(value: object) -> str:
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return printable(said if len(said) <= _SHOWN_MAX else f"{said[: _SHOWN_MAX - 1]}…")
