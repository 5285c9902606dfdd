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
from dataclasses import dataclass
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
from twice.assets.gate.gathering import gather as gather_facts
from twice.cli.commands.asset.hot_store import read_clock
from twice.cli.group import make_command
from twice.cli.options import PATH, gather
from twice.errors import UsageError
from twice.recording.recorder import refuse_existing
from twice.writing import write

KINDS: Final = ("gatecheck", "art-manifest", "cold-art-manifest", "cold-manifest", "build-lock")


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """What a document says that no asset does."""

    title: str | None
    project: str | None
    approvals: str | None
    snapshot: str | None
    document_version: str

    def require(self, name: str, kind: str) -> str:
        """Give what a kind of document cannot do without.

        Raises:
            UsageError: E-USE-001: it was not given.
        """
        value: str | None = getattr(self, name)
        if value is None:
            raise UsageError(
                f"{kind} was asked for without --{name}.",
                f"Expected --{name}.",
                f"See: twice asset export --help, then add --{name}",
            )
        return value


_DOCUMENT: Final = gather(
    "says",
    DocumentOptions,
    click.option("--title", metavar="TITLE", help="gatecheck: the work unit or view"),
    click.option("--project", metavar="NAME", help="art-manifest: the project's name"),
    click.option("--approvals", metavar="FILE", help="cold-art-manifest: TOML"),
    click.option("--snapshot", metavar="ID", help="cold-manifest: the snapshot's id"),
    click.option(
        "--document-version", default="1.0.0", metavar="X.Y.Z", help="of the manifest or lock"
    ),
)


@make_command(
    click.argument("kind", type=click.Choice(KINDS)),
    click.argument("folder", type=PATH),
    _DOCUMENT,
    click.option("-o", "--output", type=PATH, metavar="FILE", help="instead of printing it"),
    click.option("--force", is_flag=True, help="write over FILE"),
)
def command(
    kind: str, folder: Path, says: DocumentOptions, output: Path | None, force: bool
) -> int:
    """Export it."""
    if output is not None:
        refuse_existing(output, force=force)
    document, code = _make(kind, folder, says)
    text = json.dumps(document, indent=2) + "\n"
    if output is None:
        print(text, end="")
    else:
        write(output, text.encode())
    return code


def _make(kind: str, folder: Path, says: DocumentOptions) -> tuple[dict[str, Any], int]:
    """Make a document; the exit code."""
    version = says.document_version
    match kind:
        case "gatecheck":
            report, title = run_gate(folder), says.require("title", kind)
            today = datetime.now(UTC).date()
            scope = f"Determinism logs of {title}"
            return gatecheck(report, title, scope, today), report.exit_code
        case "art-manifest":
            facts = gather_facts(folder)
            return art_manifest(facts, says.require("project", kind), read_clock()), 0
        case "cold-art-manifest":
            approvals = _read_approvals(Path(says.require("approvals", kind)))
            return cold_art_manifest(folder, approvals, version), 0
        case "cold-manifest":
            snapshot = says.require("snapshot", kind)
            return cold_manifest(folder, snapshot, version, read_clock()), 0
        case _:
            return build_lock(gather_facts(folder), version), 0


def _read_approvals(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ExportRefused(
            f"{path} cannot be read: {error}.",
            "Expected TOML with a table for each file.",
            "Mend it; nothing was written.",
        ) from error
