"""Say what is known of an asset, or print a draft to fill in.

  twice asset show hot/cover.png
  twice asset show hot/cover-1a2b3c4d.detlog.json --json
  twice asset show --draft audio

Of a log it prints the promise, what made the asset, and what is missing. Of a file without a log it prints what is
measured. --draft prints every field of a log with what it takes. Nothing is executed, nothing is written.

Exit code 0 it could be read, 2 it could not.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from twice.assets.errors import LogUnreadable
from twice.assets.gate.facts import Facts
from twice.assets.gate.gathering import gather
from twice.assets.measuring.file import measure_file
from twice.assets.model.drafting import draft
from twice.assets.model.log import AssetKind
from twice.assets.model.promise import Mode
from twice.assets.model.reading import to_document
from twice.assets.model.text import log_digest
from twice.errors import UsageError
from twice.foundation.printable import printable
from twice.surfaces.cli.showing import add_json, aligned, print_json


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("path", nargs="?", type=Path, metavar="ASSET|LOG")
    parser.add_argument("--draft", choices=[str(each) for each in AssetKind])
    parser.add_argument("--mode", choices=[str(each) for each in Mode], default=Mode.DETERMINISTIC)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Show it."""
    if options.draft is not None:
        print(json.dumps(draft(AssetKind(options.draft), Mode(options.mode)), indent=2))
        return 0
    if options.path is None or options.path.is_dir():
        raise UsageError(
            "No asset and no log was named.",
            "Expected one of the two, or --draft art or --draft audio.",
            "For example: twice asset show hot/cover.png",
        )
    facts = next(iter(gather(options.path)))
    if facts.trouble:
        raise LogUnreadable(facts.trouble, "Expected a determinism log.", "Seal the asset again.")
    document = _document(facts, options.path)
    if options.json:
        print_json(document)
    else:
        print("\n".join(map(printable, _told(document, options.path))))
    return 0


def _document(facts: Facts, path: Path) -> dict[str, Any]:
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


def _told(document: dict[str, Any], path: Path) -> Iterator[str]:
    log = document["log"]
    if log is None:
        yield "no determinism log is about this file"
        yield from aligned([_row(name, value) for name, value in document["asset"].items()])
        yield f"next: twice asset seal {path} --log DRAFT"
        return
    promise = log.get("promise", {})
    grade = f", grade {promise['grade']}" if "grade" in promise else ""
    yield f"{log.get('log_id')} revision {log.get('revision')}: {promise.get('mode')}{grade}"
    blocks = ("work_unit", "producer", "provider", "model", "seed", "recipe", "asset")
    yield from aligned([_row(name, log[name]) for name in blocks if name in log])
    for pointer in document["missing"]:
        yield f"missing or wrong: {pointer}"
    yield f"next: twice asset gate {path}"


def _row(name: str, value: Any) -> tuple[str, str]:
    if isinstance(value, dict):
        return name, ", ".join(f"{key} {_brief(part)}" for key, part in value.items())
    return name, _brief(value)


def _brief(value: Any) -> str:
    text = json.dumps(value) if isinstance(value, dict | list) else str(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
