"""List the tools of a registry: class, version, what each needs, its fingerprint.

  twice tools list tables
  twice tools list my/tools.py:registry --json

--json prints every descriptor: schemas, defaults, needs, fingerprints.
"""

from __future__ import annotations

import argparse
import contextlib
import sys

from twice.foundation.printable import printable
from twice.surfaces.cli.showing import add_json, aligned, print_json


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("registry", metavar="REGISTRY", help="built-in name or module:name")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Find the registry and print what it offers."""
    from twice.tooling.finding import find_registry

    with contextlib.redirect_stdout(sys.stderr):  # What a module prints is no part of the list.
        registry = find_registry(options.registry)
    if options.json:
        print_json(
            {
                "format": "twice.tools/1",
                "registry": options.registry,
                "fingerprint": registry.fingerprint,
                "macros": registry.macro_fingerprint,
                "tools": [
                    {**each.descriptor, "fingerprint": each.fingerprint} for each in registry
                ],
            }
        )
        return 0
    print(f"{options.registry}: {len(registry)} tools, {registry.fingerprint}")
    rows = [
        (
            each.name,
            each.determinism.value,
            each.version,
            ", ".join(each.needs.world()) or "-",
            each.summary,
        )
        for each in registry
    ]
    print(*(printable(row) for row in aligned(rows)), sep="\n")
    print(f"next: twice tools call {options.registry} TOOL --args '{{}}'")
    return 0
