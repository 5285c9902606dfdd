"""Try to prove the declarations of a registry's tools wrong, and say what was seen.

  twice tools verify tables
  twice tools verify my/tools.py:registry scatter.points --json
  twice tools verify my/tools.py:registry --cases cases.json --certificates certificates

Each tool is called from one state: twice in two processes, once with everything perturbed at once
(hash seed, clock, processors, time zone, locale, home, folders, orders, addresses, network), and what
differs is tried factor by factor. Then: another seed, a second call, steps one by one, a restored start.

The tools run without enforcement, so a tool that is not yours runs with all that you may do. Cases
are those of --cases, else those that stand with the declaration, else one made from the schema.
--certificates writes one file for each tool; sessions read them. No difference seen is no proof.

Exit code 0 no declaration was broken, 1 one was, 2 of a tool it could not be told, or wrong use.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from twice.errors import UsageError
from twice.surfaces.cli.showing import Doing, add_json, print_json
from twice.surfaces.cli.tools.reading_source import source_checker


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("registry", metavar="REGISTRY", help="built-in name or module:name")
    parser.add_argument("tool", metavar="TOOL", nargs="?", help="one of its tools; all without it")
    parser.add_argument("--cases", metavar="FILE", help="what to try them with, as JSON")
    parser.add_argument(
        "--certificates",
        metavar="DIR",
        help="write certificates there; repeat those of other hosts",
    )
    parser.add_argument(
        "--python", default="", metavar="FILE", help="the interpreter that the tools run in"
    )
    parser.add_argument(
        "--seconds", type=float, default=60.0, metavar="S", help="how long one trial may take"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Verify, write, print."""
    from twice.tooling.verifying.certificates import write_certificates
    from twice.tooling.verifying.verifying import verify_tools

    if not 0 < options.seconds < float("inf"):
        raise UsageError(
            f"--seconds is {options.seconds}.",
            "Expected a number above 0.",
            "For example: --seconds 60",
        )
    folder = None if options.certificates is None else Path(options.certificates)
    with Doing() as progress:
        found = verify_tools(
            options.registry,
            options.tool,
            cases=None if options.cases is None else Path(options.cases),
            certificates=folder,
            python=options.python,
            limit_s=options.seconds,
            checker=source_checker(),
            progress=progress,
        )
    written = [] if folder is None else write_certificates(folder, found)
    if options.json:
        print_json(found.to_json())
        return found.exit_code
    print(*found.lines(), sep="\n")
    print(
        *(f"certificate: {each}" for each in found.said), sep="\n", end="\n" if found.said else ""
    )
    if written:
        print(f"{len(written)} certificates in {folder}")
        print(f"next: twice tools call {options.registry} TOOL --certificates {folder}")
    return found.exit_code
