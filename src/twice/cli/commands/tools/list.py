"""List the tools of a registry: class, version, what each needs, its fingerprint.

  twice tools list tables
  twice tools list my/tools.py:registry --json

--json prints every descriptor: schemas, defaults, needs, fingerprints.
"""

from __future__ import annotations

import contextlib
import sys

import click

from twice.cli.group import make_command
from twice.cli.options import json_option, limit_option
from twice.cli.output import align, limit_rows, tell
from twice.foundation.printable import printable


@make_command(click.argument("registry"), limit_option, json_option)
def command(registry: str, limit: int | None, as_json: bool) -> int:
    """Find the registry and print what it offers."""
    from twice.tooling.finding import find_registry

    with contextlib.redirect_stdout(sys.stderr):  # What a module prints is no part of the list.
        found = find_registry(registry)
    document = {
        "format": "twice.tools/1",
        "registry": registry,
        "fingerprint": found.fingerprint,
        "macros": found.macro_fingerprint,
        "tools": [{**each.descriptor, "fingerprint": each.fingerprint} for each in found],
    }
    rows = [
        (each.name, each.determinism.value, each.version, ", ".join(each.needs.world()) or "-", each.summary)
        for each in [*found][:limit]
    ]  # fmt: skip
    lines = [
        f"{registry}: {len(found)} tools, {found.fingerprint}",
        *map(printable, align(rows)),
        f"next: twice tools call {registry} TOOL --args '{{}}'",
    ]
    return tell(limit_rows(document, "tools", limit), lines, as_json=as_json)
