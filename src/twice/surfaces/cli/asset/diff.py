"""Compare two logs: which fields differ, and what would a rendering change?

  twice asset diff a.detlog.json b.detlog.json
  twice asset diff hot/superseded/cover.r1.0a1b2c3d.json hot/cover.detlog.json --json

Logs are compared as values; drafts may be compared too. What is expected of a rendering follows from which fields
differ: it is no measurement.

Exit code 0 they say the same, 1 they differ, 2 one cannot be read.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from twice.assets.comparing import compare
from twice.assets.model.text import read_log
from twice.foundation.printable import printable
from twice.surfaces.cli.showing import add_json, aligned, print_json


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("a", type=Path, metavar="A")
    parser.add_argument("b", type=Path, metavar="B")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Compare, and print."""
    found = compare(read_log(options.a, draft=True), read_log(options.b, draft=True))
    if options.json:
        print_json(found.to_json())
    else:
        print(found.verdict)
        rows = [
            (each.effect.value, each.pointer, f"{each.a or '(absent)'} -> {each.b or '(absent)'}")
            for each in found.differences
        ]
        print("\n".join(map(printable, aligned(rows))) if rows else "", end="\n" if rows else "")
    return 1 if found.differences else 0
