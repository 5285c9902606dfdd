"""Write a copy without anything but its payload, and prove that.

  twice asset scrub master.png -o public/cover.png
  twice asset scrub master.wav -o public/theme.wav --json

The copy has the same pixels, samples or packets, by digest, or it is not written. Colour profile, orientation, loops and
cue points stay. Text that is hidden in pixels stays too, and is told: taking it out would change the picture.
Formats: PNG, JPEG, WebP, GIF, WAV, AIFF, FLAC, Ogg (Vorbis, Opus), MP3, AAC, MP4, Matroska.

Exit code 0 when the copy is written and nothing leaks from it, 1 when something still does, 2 when it cannot be
written, or wrong use.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from twice import writing
from twice.assets.containers.source import Source
from twice.assets.errors import ScrubRefused
from twice.assets.leaks.reporting import place_of
from twice.assets.scrubbing.scrubbing import Scrubbed, scrubbed
from twice.errors import OutputExists
from twice.foundation.printable import printable
from twice.surfaces.cli.showing import add_json, aligned, print_json

FORMAT = "twice.scrub/1"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="the hot master")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="COPY", help="the cold copy"
    )
    parser.add_argument("--force", action="store_true", help="write over what is there")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Scrub, write, and print."""
    if options.output.exists() and not options.force:
        raise OutputExists(
            f"{options.output} is there already.",
            "Expected a path at which nothing is.",
            "Name another one, or write over it with --force.",
        )
    try:
        with options.file.open("rb") as file:
            made = scrubbed(Source.of_file(file), str(options.file))
            writing.write(options.output, made.copy.read())
    except OSError as error:
        raise ScrubRefused(
            f"{options.file} cannot be read: {error.strerror or error}.",
            "Expected a file.",
            "See: twice asset scrub --help",
        ) from error
    if options.json:
        print_json(_document(options, made))
    else:
        print("\n".join(_lines(options, made)))
    return 1 if made.left else 0


def _document(options: argparse.Namespace, made: Scrubbed) -> dict[str, object]:
    return {
        "format": FORMAT,
        "input": str(options.file),
        "output": str(options.output),
        "payload": {"method": made.payload.method, "digest": made.payload.digest},
        "removed": [
            {"name": each.name, "offset": each.offset, "bytes": each.source.size}
            for each in made.removed
        ],
        "left": [each.to_json() for each in made.left],
    }


def _lines(options: argparse.Namespace, made: Scrubbed) -> list[str]:
    lines = [f"written: {printable(options.output)}, {made.copy.size:,} bytes"]
    lines.append(f"payload: {made.payload.method} {made.payload.digest}, as it was")
    rows = [(printable(each.name), f"{each.source.size:,} bytes") for each in made.removed]
    lines += ["removed:", *aligned(rows)] if rows else ["removed: nothing was there"]
    for each in made.left:
        lines.append(f"left: {each.rule} {printable(each.message)} {printable(place_of(each))}")
        lines.append(f"  do {each.remedy}")
    lines.append(f"next: twice asset leaks {printable(options.output)}")
    return lines
