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

import json
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from twice.assets.errors import ExportRefused
from twice.assets.exporting.gatecheck import gatecheck
from twice.assets.exporting.manifests import (
    art_manifest,
    build_lock,
    cold_art_manifest,
    cold_manifest,
)
from twice.assets.gate.gate import run_gate
from twice.assets.gate.gathering import gather
from twice.cli.commands.asset.hot_store import read_clock
from twice.cli.group import make_command
from twice.cli.options import PATH
from twice.errors import UsageError
from twice.recording.recorder import refuse_existing
from twice.writing import write

_NEEDS: Final = {
    "gatecheck": "title",
    "art-manifest": "project",
    "cold-art-manifest": "approvals",
    "cold-manifest": "snapshot",
    "build-lock": "",
}
"""The option that each kind cannot do without."""


@make_command(
    click.argument("kind", type=click.Choice([*_NEEDS]), metavar="KIND"),
    click.argument("folder", type=PATH),
    click.option("--title", metavar="TITLE", help="gatecheck: the work unit or view"),
    click.option("--project", metavar="NAME", help="art-manifest: the project's name"),
    click.option("--approvals", metavar="FILE", help="cold-art-manifest: TOML"),
    click.option("--snapshot", metavar="ID", help="cold-manifest: the snapshot's id"),
    click.option(
        "--document-version", default="1.0.0", metavar="X.Y.Z", help="of the manifest or lock"
    ),
    click.option("-o", "--output", type=PATH, metavar="FILE", help="instead of printing it"),
    click.option("--force", is_flag=True, help="write over FILE"),
)
def command(
    kind: str,
    folder: Path,
    document_version: str,
    output: Path | None,
    force: bool,
    **given: str | None,
) -> int:
    """Export it."""
    if output is not None:
        refuse_existing(output, force=force)
    code, needed = 0, _NEEDS[kind]
    said = given[needed] if needed else ""
    if said is None:
        raise UsageError(
            f"{kind} was asked for without --{needed}.",
            f"Expected --{needed}.",
            f"See: twice asset export --help, then add --{needed}",
        )
    match kind:
        case "gatecheck":
            report, today = run_gate(folder), datetime.now(UTC).date()
            document = gatecheck(report, said, f"Determinism logs of {said}", today)
            code = report.exit_code
        case "art-manifest":
            document = art_manifest(gather(folder), said, read_clock())
        case "cold-art-manifest":
            document = cold_art_manifest(folder, _read_approvals(Path(said)), document_version)
        case "cold-manifest":
            document = cold_manifest(folder, said, document_version, read_clock())
        case _:
            document = build_lock(gather(folder), document_version)
    text = json.dumps(document, indent=2) + "\n"
    if output is None:
        print(text, end="")
    else:
        write(output, text.encode())
    return code


def _read_approvals(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ExportRefused(
            f"{path} cannot be read: {error}.",
            "Expected TOML with a table for each file.",
            "Mend it; nothing was written.",
        ) from error
