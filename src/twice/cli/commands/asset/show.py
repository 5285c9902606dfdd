"""Say what is known of an asset, or print a draft to fill in.

  twice asset show hot/cover.png
  twice asset show hot/cover-1a2b3c4d.detlog.json --json
  twice asset show --draft audio

Of a log it prints the promise, what made the asset, and what is missing. Of a file without a log it prints what is
measured. --draft prints every field of a log with what it takes. Nothing is executed, nothing is written.

Exit code 0 it could be read, 2 it could not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from twice.assets.errors import LogUnreadable
from twice.assets.gate.gathering import gather
from twice.assets.measuring.file import measure_file
from twice.assets.model.drafting import draft
from twice.assets.model.log import AssetKind
from twice.assets.model.promise import Mode
from twice.assets.model.reading import to_document
from twice.assets.model.text import log_digest
from twice.cli.group import make_command
from twice.cli.options import PATH, json_option
from twice.cli.output import align, print_json, tell
from twice.errors import UsageError
from twice.foundation.printable import printable


@make_command(
    click.argument("path", type=PATH, required=False, metavar="[ASSET|LOG]"),
    click.option(
        "--draft", "kind", type=click.Choice([*map(str, AssetKind)]), help="print one to fill in"
    ),
    click.option(
        "--mode", type=click.Choice([*map(str, Mode)]), default=str(Mode.DETERMINISTIC),
        help="what the draft promises",
    ),
    json_option,
)  # fmt: skip
def command(path: Path | None, kind: str | None, mode: str, as_json: bool) -> int:
    """Show it."""
    if kind is not None:
        print_json(draft(AssetKind(kind), Mode(mode)))
        return 0
    if path is None or path.is_dir():
        raise UsageError(
            "No asset and no log was named.",
            "Expected one of the two, or --draft art or --draft audio.",
            "For example: twice asset show hot/cover.png",
        )
    document = _describe(path)
    return tell(document, map(printable, _lines(document, path)), as_json=as_json)


def _describe(path: Path) -> dict[str, Any]:
    """Say what a log says, or what is measured of a file without one."""
    facts = next(iter(gather(path)))
    if facts.trouble:
        raise LogUnreadable(facts.trouble, "Expected a determinism log.", "Seal the asset again.")
    if not facts.log_path:
        measured = to_document(measure_file(path))
        return {"format": "twice.asset/1", "asset": measured, "log": None, "missing": []}
    return {
        "format": "twice.asset/1",
        "asset": to_document(facts.log.asset) if facts.log.asset is not None else None,
        "log": to_document(facts.log),
        "log_path": facts.log_path,
        "log_digest": log_digest(facts.log),
        "missing": [each.pointer for each in facts.examined.problems],
    }


def _lines(document: dict[str, Any], path: Path) -> Iterator[str]:
    log = document["log"]
    if log is None:
        yield "no determinism log is about this file"
        yield from align([(name, _shorten(part)) for name, part in document["asset"].items()])
        yield f"next: twice asset seal {path} --log DRAFT"
        return
    promise = log.get("promise", {})
    grade = f", grade {promise['grade']}" if "grade" in promise else ""
    yield f"{log.get('log_id')} revision {log.get('revision')}: {promise.get('mode')}{grade}"
    blocks = ("work_unit", "producer", "provider", "model", "seed", "recipe", "asset")
    yield from align([(name, _shorten(log[name])) for name in blocks if name in log])
    yield from (f"missing or wrong: {pointer}" for pointer in document["missing"])
    yield f"next: twice asset gate {path}"


def _shorten(value: Any) -> str:
    """Give a block, or a value, on one line."""
    if not isinstance(value, dict):
        return _brief(value)
    return ", ".join(f"{name} {_brief(part)}" for name, part in value.items())


def _brief(value: Any) -> str:
    text = json.dumps(value) if isinstance(value, dict | list) else str(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
