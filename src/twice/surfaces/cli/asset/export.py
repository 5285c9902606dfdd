"""Write verdicts and manifests in the formats of QuestFoundry.

  twice asset export gatecheck hot --title TU-2026-01-31-IL01
  twice asset export art-manifest hot --project "The Lighthouse" -o art_manifest.json
  twice asset export cold-art-manifest cold --approvals approvals.toml
  twice asset export cold-manifest cold --snapshot cold-2026-01-31
  twice asset export build-lock hot

gatecheck is the gate's verdict: of eight bars it judges Determinism, and leaves the others yellow. art-manifest lists
images with their prompts: it is hot. cold-art-manifest takes from TOML, one table for each file, what was approved;
technique in it is refused. cold-manifest hashes the files of a snapshot, and refuses one without book.json and
art_manifest.json, or with a log in it. There is no cold list for sound.

Exit code 0 it is written, 2 it is refused; gatecheck: as twice asset gate.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from twice.assets.errors import ExportRefused
from twice.assets.exporting.gatecheck import gatecheck
from twice.assets.exporting.manifests import (
    art_manifest,
    build_lock,
    cold_art_manifest,
    cold_manifest,
)  # fmt: skip
from twice.assets.gate.gate import run_gate
from twice.assets.gate.gathering import gather
from twice.errors import OutputExists, UsageError
from twice.writing import write

KINDS: Final = ("gatecheck", "art-manifest", "cold-art-manifest", "cold-manifest", "build-lock")


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("kind", choices=KINDS, metavar="|".join(KINDS))
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--title", help="gatecheck: the work unit or view")
    parser.add_argument("--project", help="art-manifest: the project's name")
    parser.add_argument("--approvals", type=Path, metavar="FILE", help="cold-art-manifest: TOML")
    parser.add_argument("--snapshot", metavar="ID", help="cold-manifest: the snapshot's id")
    parser.add_argument(
        "--document-version", default="1.0.0", metavar="X.Y.Z", help="of the manifest or lock"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="instead of printing it")
    parser.add_argument("--force", action="store_true", help="write over FILE")


def run(options: argparse.Namespace) -> int:
    """Export it."""
    output: Path | None = options.output
    if output is not None and output.exists() and not options.force:
        raise OutputExists(
            f"{output} is there already.", "Expected a new file.", "Write over it: --force"
        )
    document, code = _made(options)
    text = json.dumps(document, indent=2, ensure_ascii=True) + "\n"
    if output is None:
        print(text, end="")
    else:
        write(output, text.encode())
    return code


def _made(options: argparse.Namespace) -> tuple[dict[str, Any], int]:
    now = datetime.now(UTC)
    instant = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    folder, version = options.folder, options.document_version
    match options.kind:
        case "gatecheck":
            report = run_gate(folder)
            title = _needed(options, "title")
            scope = f"Determinism logs of {title}"
            return gatecheck(report, title, scope, now.date()), report.exit_code
        case "art-manifest":
            return art_manifest(gather(folder), _needed(options, "project"), instant), 0
        case "cold-art-manifest":
            approvals = _approvals(Path(_needed(options, "approvals")))
            return cold_art_manifest(folder, approvals, version), 0
        case "cold-manifest":
            return cold_manifest(folder, _needed(options, "snapshot"), version, instant), 0
        case _:
            return build_lock(gather(folder), version), 0


def _needed(options: argparse.Namespace, name: str) -> str:
    value = getattr(options, name)
    if value is None:
        raise UsageError(
            f"{options.kind} was asked for without --{name}.",
            f"Expected --{name}.",
            f"See: twice asset export --help, then add --{name}",
        )
    return str(value)


def _approvals(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ExportRefused(
            f"{path} cannot be read: {error}.",
            "Expected TOML with a table for each file.",
            "Mend it; nothing was written.",
        ) from error
