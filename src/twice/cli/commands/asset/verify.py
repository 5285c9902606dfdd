"""Hold every log against its file: bytes, payload, one log for one payload, the checkpoint.

  twice asset verify hot
  twice asset verify hot/cover.png --json

Every file is decoded again where its bytes are not those that were sealed. What a log does not say, and whether it keeps
its promise, is not asked here: see twice asset gate and twice asset rerender.

Exit code 0 they belong together, 1 one does not, 2 the bytes differ and the payload does not, or wrong use.
"""

from __future__ import annotations

from pathlib import Path

import click

from twice.assets.gate.gate import verified
from twice.cli.commands.asset.gate import tell_report
from twice.cli.console import Progress
from twice.cli.group import make_command
from twice.cli.options import PATH, json_option, limit_option


@make_command(click.argument("path", type=PATH, default=Path()), limit_option, json_option)
def command(path: Path, limit: int | None, as_json: bool) -> int:
    """Verify, and print."""
    with Progress("logs") as progress:
        report = verified(path, doing=progress)
    document = report.to_json() | {"format": "twice.asset-verification/1"}
    return tell_report(report, document, limit=limit, as_json=as_json)
