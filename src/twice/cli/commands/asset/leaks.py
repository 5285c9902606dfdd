"""What is published: looked through for traces of how it was made, and copied without any."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final, Literal

import click

from twice.assets.errors import ScrubRefused
from twice.assets.leaks.folders import scan_paths
from twice.assets.leaks.known import load_known_values
from twice.assets.leaks.report import to_json, to_sarif, to_text
from twice.assets.leaks.scan import ScanLimits
from twice.assets.scrub import scrub
from twice.cli.console import Status
from twice.cli.options import AsJson, Limit, argument, build_command, option
from twice.cli.output import align, limit_rows, tell
from twice.foundation.printable import pluralize, printable
from twice.foundation.severity import Severity
from twice.recorder.recorder import refuse_existing
from twice.writing import write

_DEPTH: Final = ScanLimits().depth
_UNPACKED: Final = ScanLimits().unpacked >> 20


@build_command
def find_leaks(
    paths: Annotated[tuple[Path, ...], argument(required=True)],
    known: Annotated[tuple[Path, ...], option("--known FILE", "values to look for as they are: one a line, or JSON")],
    logs: Annotated[tuple[Path, ...], option("--logs DIR", "a folder of determinism logs, whose values are looked for")],
    every: Annotated[bool, option("--all", "list every field of metadata, not traces only")],
    depth: Annotated[int, option(
        "--depth N", f"how deep files may lie ({_DEPTH})", default=_DEPTH, type=click.IntRange(1))],
    unpacked: Annotated[int, option(
        "--unpacked MIB", f"how much one file may unpack to ({_UNPACKED})", default=_UNPACKED, type=click.IntRange(1))],
    allow_empty: Annotated[bool, option("--allow-empty", "a folder may hold no file; it is an error else")],
    form: Annotated[Literal["text", "json", "sarif"], option("--format", "how it is printed", default="text")],
    limit: Limit,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Look through what is published for traces of how it was made.

      twice asset leaks build/ --logs hot
      twice asset leaks book.epub --json
      twice asset leaks build/ --format sarif

    Files are taken apart as deep as they go: archives, books, pages, pictures in sounds, text in pixels, bytes after
    an end. A trace is a generator's parameters, a prompt, a seed, a model, a tool and its version, a path on the
    maker's machine, a log or its id, a secret. Prose is not accused for its words. --known and --logs name values that
    are looked for as they are.

    Exit code 0 nothing leaks, 1 something does, 2 something could not be looked into and nothing leaks, or wrong use.
    """
    values = load_known_values(list(known), list(logs))
    with Status() as status:
        leaks = scan_paths(
            paths,
            known=values,
            limits=ScanLimits(depth=depth, unpacked=unpacked << 20),
            empty=allow_empty,
            progress=lambda name, done, of: status(f"{100 * done // max(of, 1)} % {name}"),
        )
    if values.short:
        said = f"{values.short} known values are too short, or plain words: not looked for"
        print(said, file=sys.stderr)
    shown = Severity.INFORMATIONAL if every else Severity.LOW
    if form == "sarif" and not as_json:
        sys.stdout.write(to_sarif(leaks, shown))
        return leaks.exit_code
    as_json = as_json or form == "json"
    document = to_json(leaks, shown)
    if as_json:
        document = limit_rows(document, "findings", limit)
    lines = [*to_text(leaks, shown, limit)]
    if leaks.result == "leaks":
        step = "twice asset scrub FILE -o COPY, for each file that is one picture or sound"
        lines += ["", f"next: {step}"]
    return tell(document, lines, as_json=as_json, code=leaks.exit_code)


@build_command
def scrub_asset(
    file: Annotated[Path, argument()],
    output: Annotated[Path, option("-o, --output COPY", "the cold copy")],
    force: Annotated[bool, option("--force", "write over what is there")],
    as_json: AsJson,
) -> int:
    """Write a copy without anything but its payload, and prove that.

      twice asset scrub master.png -o public/cover.png
      twice asset scrub master.wav -o public/theme.wav --json

    The copy has the same pixels, samples or packets, by digest, or it is not written. Colour profile, orientation,
    loops and cue points stay. Text that is hidden in pixels stays too, and is reported: taking it out would change the
    picture. Formats: PNG, JPEG, WebP, GIF, WAV, AIFF, FLAC, Ogg (Vorbis, Opus), MP3, AAC, MP4, Matroska.

    Exit code 0 when the copy is written and nothing leaks from it, 1 when something still does, 2 when it cannot be
    written, or wrong use.
    """
    refuse_existing(output, force=force)
    if output.exists() and file.exists() and output.samefile(file):
        raise ScrubRefused(
            f"{output} is the original itself.",
            "Expected another file: a copy takes the place of nothing that it was made of.",
            "Name a place among what is published: -o public/COPY",
        )
    try:
        with file.open("rb") as opened:
            made = scrub(opened, str(file), str(output))
            copy = made.copy.read()
            write(output, copy)
    except OSError as error:
        raise ScrubRefused(
            f"{file} cannot be read: {error.strerror or error}.",
            "Expected a file.",
            "See: twice asset scrub --help",
        ) from error
    names = {"format": "twice.scrub/1", "input": str(file), "output": str(output)}
    lines = [
        f"written: {printable(output)}, {pluralize(len(copy), 'byte')}",
        f"payload: {made.payload.method} {made.payload.digest}, as it was",
        "removed:" if made.removed else "removed: nothing was there",
        *align([(each.name, pluralize(each.size_bytes, "byte")) for each in made.removed]),
    ]
    for each in made.left:
        place = printable(each.place)
        lines.append(f"left: {each.rule} {printable(each.message)} {place}")
        lines.append(f"  do {each.remedy}")
    lines.append(f"next: twice asset leaks {printable(output)}")
    document, code = names | made.to_json(), 1 if made.left else 0
    return tell(document, lines, as_json=as_json, code=code)
