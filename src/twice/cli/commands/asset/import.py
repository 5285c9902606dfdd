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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from twice.assets.importers.imported import Value
from twice.assets.importers.log_import import LogImport, Target, import_into_log
from twice.assets.importers.merging import Merged
from twice.cli.console import Status
from twice.cli.group import make_command
from twice.cli.options import PATH, gather, json_option, several, split_pairs
from twice.cli.output import align, tell
from twice.errors import UsageError
from twice.foundation.printable import printable

_SHOWN_MAX: Final = 72


@make_command(
    click.argument("file", type=PATH),
    gather(
        "target",
        Target,
        click.option("--into", type=PATH, metavar="LOG", help="the log to fill"),
        click.option(
            "--merge", is_flag=True, help="write what is settled, and leave the rest of the log"
        ),
        click.option("--force", is_flag=True, help="fill a log that is about another file as well"),
    ),
    several(
        "--choose", "choices", metavar="POINTER=VALUE",
        help="the value to take where there are several",
    ),
    json_option,
)  # fmt: skip
def command(file: Path, target: Target, choices: tuple[str, ...], as_json: bool) -> int:
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
        found = import_into_log(file, target, chosen, status)
    lines = _lines(found, file, target.into)
    return tell(found.to_json(), lines, as_json=as_json, code=found.exit_code)


def _parse_choice(pointer: str, text: str) -> Value:
    """Read a chosen value; what is JSON is that, but for digits where a log has text."""
    try:
        value: Value | None = None if pointer.startswith("/seed/") else json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if value is None else value


def _lines(found: LogImport, file: Path, log: Path | None) -> Iterator[str]:
    imported = found.imported
    by = " ".join(filter(None, (imported.generator, imported.generator_version)))
    yield printable(f"{imported.file}: {by or 'nothing that is known here'}")
    yield from _table(
        [(at, _shorten(each), imported.evidence[at].chunk) for at, each in imported.values.items()]
    )
    if found.measured:
        yield "measured from the file"
        yield from _table([(name, _shorten(each)) for name, each in found.measured.items()])
    if imported.ambiguities:
        yield "ambiguous"
        yield from _table([
            (each.pointer, " | ".join(map(_shorten, each.candidates)) or "?", each.why)
            for each in imported.ambiguities
        ])  # fmt: skip
    if imported.not_understood:
        yield "not understood"
        yield from _table([(each.place, each.why) for each in imported.not_understood])
    if kept := sum(map(len, imported.other.values())):
        yield f"{kept} other keys: see --json"
    if found.merge is not None:
        yield from _merge_lines(found.merge, log, written=found.written)
    elif imported.ambiguities:
        first = imported.ambiguities[0]
        value = _shorten(first.candidates[0]) if first.candidates else "VALUE"
        yield printable(f"next: twice asset import {file} --choose '{first.pointer}={value}'")


def _merge_lines(merge: Merged, log: Path | None, *, written: bool) -> Iterator[str]:
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
        (each.pointer, f"the log says {_shorten(each.log)}", f"the file says {_shorten(each.file)}")
        for each in merge.conflicts
    ])  # fmt: skip
    yield from _table(merge.unfit)
    if merge.conflicts and not written:
        first = f"{merge.conflicts[0].pointer}={_shorten(merge.conflicts[0].file)}"
        yield printable(f"next: choose, as in --choose '{first}', or --merge to keep the log's")


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    return align([[printable(cell) for cell in row] for row in rows])


def _shorten(value: object) -> str:
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return printable(said if len(said) <= _SHOWN_MAX else f"{said[: _SHOWN_MAX - 1]}…")
