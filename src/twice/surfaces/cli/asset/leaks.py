"""Look through what is published for traces of how it was made.

  twice asset leaks build/ --logs hot
  twice asset leaks book.epub --json
  twice asset leaks build/ --format sarif

Files are taken apart as deep as they go: archives, books, pages, pictures in sounds, text in pixels, bytes after an end. A trace
is a generator's parameters, a prompt, a seed, a model, a tool and its version, a path on the maker's machine, a log or
its id, a secret. Prose is not accused for its words. --known and --logs name values that are looked for as they are.

Exit code 0 nothing leaks, 1 something does, 2 something could not be looked into and nothing leaks, or wrong use.
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib.metadata import version
from pathlib import Path

from twice.assets.leaks.findings import Leaks
from twice.assets.leaks.known import Known, gathered
from twice.assets.leaks.looking import look
from twice.assets.leaks.reporting import to_json, to_sarif, to_text
from twice.assets.leaks.scanning import Limits
from twice.errors import UsageError
from twice.foundation.severity import Severity
from twice.surfaces.cli.showing import Doing, add_json, print_json

_LIMITS = Limits()


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files and folders")
    parser.add_argument(
        "--known", action="append", default=[], type=Path, metavar="FILE",
        help="values to look for as they are: one a line, or JSON; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--logs", action="append", default=[], type=Path, metavar="DIR",
        help="a folder of determinism logs, whose values are looked for; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--all", action="store_true", help="list every field of metadata, not traces only"
    )
    parser.add_argument(
        "--depth", type=int, default=_LIMITS.depth, help=f"how deep files may lie ({_LIMITS.depth})"
    )
    parser.add_argument(
        "--unpacked", type=int, default=_LIMITS.unpacked >> 20, metavar="MIB",
        help=f"how much one file may unpack to ({_LIMITS.unpacked >> 20})",
    )  # fmt: skip
    parser.add_argument(
        "--allow-empty", action="store_true", help="a folder may hold no file; it is an error else"
    )
    parser.add_argument("--progress", action="store_true", help="say how fast it went")
    parser.add_argument("--format", choices=["text", "json", "sarif"], default="text")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Look, and print."""
    if options.depth < 1 or options.unpacked < 1:
        raise UsageError(
            f"--depth {options.depth} and --unpacked {options.unpacked} were given.",
            "Expected numbers from 1 on.",
            "Leave them out: the limits are fit for a release build.",
        )
    known = gathered(options.known, options.logs)
    limits = Limits(depth=options.depth, unpacked=options.unpacked << 20)
    begun = time.perf_counter()
    with Doing() as doing:
        leaks = look(
            options.paths,
            known=known,
            limits=limits,
            empty=options.allow_empty,
            progress=lambda name, done, of: doing(f"{100 * done // max(of, 1)} % {name}"),
        )
    _say(leaks, known, time.perf_counter() - begun, fast=options.progress)
    shown = Severity.INFORMATIONAL if options.all else Severity.LOW
    if options.json or options.format == "json":
        print_json(to_json(leaks, shown))
    elif options.format == "sarif":
        sys.stdout.write(to_sarif(leaks, shown, version=version("twice")))
    else:
        print("\n".join(to_text(leaks, shown)))
        if leaks.result == "leaks":
            print(
                "\nnext: twice asset scrub FILE -o COPY, for each file that is one picture or sound"
            )
    return leaks.exit_code


def _say(leaks: Leaks, known: Known, seconds: float, *, fast: bool) -> None:
    if known.short:
        print(
            f"{known.short} known values are too short, or plain words: not looked for",
            file=sys.stderr,
        )
    if fast:
        speed = leaks.size / 1e6 / max(seconds, 1e-9)
        print(f"{leaks.files} files, {leaks.size / 1e6:.1f} MB, {speed:.1f} MB/s", file=sys.stderr)
