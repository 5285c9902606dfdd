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

import sys
import time
from importlib.metadata import version
from pathlib import Path

import click

from twice.assets.leaks.known import gathered
from twice.assets.leaks.looking import look
from twice.assets.leaks.reporting import to_json, to_sarif, to_text
from twice.assets.leaks.scanning import Limits
from twice.cli.console import Status
from twice.cli.group import make_command
from twice.cli.options import PATH, json_option, limit_option, several
from twice.cli.output import limit_rows, tell
from twice.foundation.severity import Severity

_LIMITS = Limits()


@make_command(
    click.argument("paths", nargs=-1, required=True, type=PATH),
    several(
        "--known", "known", type=PATH, metavar="FILE",
        help="values to look for as they are: one a line, or JSON",
    ),
    several(
        "--logs", "logs", type=PATH, metavar="DIR",
        help="a folder of determinism logs, whose values are looked for",
    ),
    click.option(
        "--all", "every", is_flag=True, help="list every field of metadata, not traces only"
    ),
    click.option(
        "--depth", type=click.IntRange(1), default=_LIMITS.depth, metavar="N",
        help=f"how deep files may lie ({_LIMITS.depth})",
    ),
    click.option(
        "--unpacked", type=click.IntRange(1), default=_LIMITS.unpacked >> 20, metavar="MIB",
        help=f"how much one file may unpack to ({_LIMITS.unpacked >> 20})",
    ),
    click.option(
        "--allow-empty", is_flag=True, help="a folder may hold no file; it is an error else"
    ),
    click.option("--progress", is_flag=True, help="say how fast it went"),
    click.option(
        "--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text",
        help="how it is printed",
    ),
    limit_option,
    json_option,
)  # fmt: skip
def command(
    paths: tuple[Path, ...],
    known: tuple[Path, ...],
    logs: tuple[Path, ...],
    every: bool,
    depth: int,
    unpacked: int,
    allow_empty: bool,
    progress: bool,
    form: str,
    limit: int | None,
    as_json: bool,
) -> int:
    """Look, and print."""
    values = gathered(list(known), list(logs))
    begun = time.perf_counter()
    with Status() as status:
        leaks = look(
            paths,
            known=values,
            limits=Limits(depth=depth, unpacked=unpacked << 20),
            empty=allow_empty,
            progress=lambda name, done, of: status(f"{100 * done // max(of, 1)} % {name}"),
        )
    megabytes, seconds = leaks.size / 1e6, max(time.perf_counter() - begun, 1e-9)
    if values.short:
        said = f"{values.short} known values are too short, or plain words: not looked for"
        print(said, file=sys.stderr)
    if progress:
        speed = f"{megabytes:.1f} MB, {megabytes / seconds:.1f} MB/s"
        print(f"{leaks.files} files, {speed}", file=sys.stderr)
    shown = Severity.INFORMATIONAL if every else Severity.LOW
    if form == "sarif" and not as_json:
        sys.stdout.write(to_sarif(leaks, shown, version=version("twice")))
        return leaks.exit_code
    as_json = as_json or form == "json"
    document = to_json(leaks, shown)
    if as_json:
        document = limit_rows(document, "findings", limit)
    lines = [*to_text(leaks, shown, limit)]
    if leaks.result == "leaks":
        lines += [
            "",
            "next: twice asset scrub FILE -o COPY, for each file that is one picture or sound",
        ]
    return tell(document, lines, as_json=as_json, code=leaks.exit_code)
