"""Judging logs: as a gate, byte by byte alone, and as verdicts and manifests in the formats of others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import click

from twice.assets.export import build_art_manifest, build_gatecheck, build_lock_document
from twice.assets.gate.collector import collect_facts
from twice.assets.gate.gate import run_gate, verify_files
from twice.assets.gate.report import AssetGateReport
from twice.cli.commands.asset.store import read_clock
from twice.cli.console import show_progress
from twice.cli.options import AsJson, Limit, argument, build_command, option, refuse_together
from twice.cli.output import limit_rows, tell, write_text
from twice.errors import UsageError
from twice.recorder.recorder import refuse_existing


@build_command
def gate_assets(
    path: Annotated[Path, argument(default=Path())],
    measure: Annotated[bool, option("--measure", "decode and measure every file again")],
    markdown: Annotated[bool, option("--markdown", "print every row as Markdown")],
    output: Annotated[
        Path | None, option("-o, --output FILE", "write Markdown there, and print the summary")
    ],
    force: Annotated[bool, option("--force", "write over FILE")],
    limit: Limit,
    as_json: AsJson,
) -> int:
    """Judge whether logs are complete, consistent and true, for one asset or a build.

      twice asset gate hot/cover.png
      twice asset gate hot
      twice asset gate hot --measure --json
      twice asset gate hot --markdown -o gate.md

    PATH is an asset, a log or a folder; the folder's assets are one build, and those of one work unit one set in it.
    Files are hashed; --measure decodes and measures each of them again as well, which takes as long as decoding takes.
    A row says what was seen, the smallest thing that mends it, and whose it is. Nothing is executed, and no heuristic
    repairs anything.

    Exit code 0 pass, 1 block (a row is red), 2 conditional (a row is yellow), or wrong use.
    """
    refuse_together({"--markdown": markdown, "--json": as_json}, "one form of the report")
    if output is not None:
        refuse_existing(output, force=force)
    with show_progress("logs") as progress:
        report = run_gate(path, measure=measure, progress=progress)
    if output is not None:
        write_text(report.to_markdown(), output, force=force)
    elif markdown:
        print(report.to_markdown(), end="")
        return report.exit_code
    return _tell_report(report, report.to_json(), limit, as_json=as_json)


def _tell_report(
    report: AssetGateReport, document: Mapping[str, object], limit: int | None, *, as_json: bool
) -> int:
    """Print a report's document, or the rows that are not green; the exit code."""
    if as_json:
        document = limit_rows(document, "rows", limit)
    return tell(document, [report.to_text(limit)], as_json=as_json, code=report.exit_code)


@build_command
def verify_logs(
    path: Annotated[Path, argument(default=Path())], limit: Limit, as_json: AsJson
) -> int:
    """Compare every log with its file: bytes, payload, one log for one payload, the checkpoint.

      twice asset verify hot
      twice asset verify hot/cover.png --json

    Every file is decoded again where its bytes are not those that were sealed. What a log does not say, and whether it
    keeps its promise, is not asked here: see twice asset gate and twice asset rerender.

    Exit code 0 they belong together, 1 one does not, 2 the bytes differ and the payload does not, or wrong use.
    """
    with show_progress("logs") as progress:
        report = verify_files(path, progress=progress)
    document = report.to_json() | {"format": "twice.asset-verification/1"}
    return _tell_report(report, document, limit, as_json=as_json)


_NEEDS: Final = {"gatecheck": "title", "art-manifest": "project", "build-lock": ""}
"""The option that each kind cannot do without."""


@build_command
def export_verdicts(
    kind: Annotated[str, argument(type=click.Choice([*_NEEDS]), metavar="KIND")],
    folder: Annotated[Path, argument()],
    title: Annotated[str | None, option("--title TITLE", "gatecheck: the work unit or view")],
    project: Annotated[str | None, option("--project NAME", "art-manifest: the project's name")],
    version: Annotated[str, option("--document-version X.Y.Z", "of the lock", default="1.0.0")],
    output: Annotated[Path | None, option("-o, --output FILE", "instead of printing it")],
    force: Annotated[bool, option("--force", "write over FILE")],
) -> int:
    """Write what logs say in the formats of QuestFoundry.

      twice asset export gatecheck hot --title TU-2026-01-31-IL01
      twice asset export art-manifest hot --project "The Lighthouse" -o art.json
      twice asset export build-lock hot

    gatecheck is the gate's verdict: of eight bars it judges Determinism, and leaves the others yellow. art-manifest
    lists images with their prompts: it is hot. build-lock has the one version of every tool that rendered.

    Exit code 0 it is written, 2 it is refused; gatecheck: as twice asset gate.
    """
    if output is not None:
        refuse_existing(output, force=force)
    code, needed = 0, _NEEDS[kind]
    said = {"title": title, "project": project}.get(needed) or ""
    if needed and not said:
        raise UsageError(
            f"{kind} was asked for without --{needed}.",
            f"Expected --{needed}.",
            f"See: twice asset export --help, then add --{needed}",
        )
    match kind:
        case "gatecheck":
            report, today = run_gate(folder), datetime.now(UTC).date()
            document = build_gatecheck(report, said, f"Determinism logs of {said}", today)
            code = report.exit_code
        case "art-manifest":
            document = build_art_manifest(collect_facts(folder), said, read_clock())
        case _:
            document = build_lock_document(collect_facts(folder), version)
    write_text(json.dumps(document, indent=2) + "\n", output, force=force)
    return code
