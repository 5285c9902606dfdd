"""Compare two logs: which fields differ, and what would a rendering change?

  twice asset diff a.detlog.json b.detlog.json
  twice asset diff hot/superseded/cover.r1.0a1b2c3d.json hot/cover.detlog.json --json

Logs are compared as values; drafts may be compared too. What is expected of a rendering follows from which fields
differ: it is no measurement.

Exit code 0 they say the same, 1 they differ, 2 one cannot be read.
"""

from __future__ import annotations

from pathlib import Path

import click

from twice.assets.comparing import compare
from twice.assets.model.text import read_log
from twice.cli.group import make_command
from twice.cli.options import PATH, json_option, limit_option
from twice.cli.output import align, limit_rows, tell
from twice.foundation.printable import printable


@make_command(
    click.argument("a", type=PATH), click.argument("b", type=PATH), limit_option, json_option
)
def command(a: Path, b: Path, limit: int | None, as_json: bool) -> int:
    """Compare, and print."""
    found = compare(read_log(a, draft=True), read_log(b, draft=True))
    document = limit_rows(found.to_json(), "differences", limit)
    rows = [
        (each["effect"], each["pointer"], f"{each['a'] or '(absent)'} -> {each['b'] or '(absent)'}")
        for each in document["differences"]
    ]
    lines = [found.verdict, *map(printable, align(rows))]
    return tell(document, lines, as_json=as_json, code=1 if rows else 0)
