"""Hold every log against its file: bytes, payload, one log for one payload, the checkpoint.

  twice asset verify hot
  twice asset verify hot/cover.png --json

Every file is decoded again where its bytes are not those that were sealed. What a log does not say, and whether it keeps
its promise, is not asked here: see twice asset gate and twice asset rerender.

Exit code 0 they belong together, 1 one does not, 2 the bytes differ and the payload does not, or wrong use.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from twice.assets.gate.gate import verified
from twice.surfaces.cli.asset.judging import told
from twice.surfaces.cli.showing import Progress, add_json, print_json


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("path", nargs="?", type=Path, default=Path(), metavar="PATH")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Verify, and print."""
    with Progress("logs") as doing:
        report = verified(options.path, doing=doing)
    if options.json:
        print_json(report.to_json() | {"format": "twice.asset-verification/1"})
    else:
        print("\n".join(told(report)))
    return report.exit_code
