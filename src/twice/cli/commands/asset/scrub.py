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

from collections.abc import Iterator
from pathlib import Path

import click

from twice.assets.containers.source import Source
from twice.assets.errors import ScrubRefused
from twice.assets.leaks.reporting import place_of
from twice.assets.scrubbing.scrubbing import Scrubbed, scrubbed
from twice.cli.group import make_command
from twice.cli.options import PATH, json_option
from twice.cli.output import align, tell
from twice.foundation.printable import printable
from twice.recording.recorder import refuse_existing
from twice.writing import write


@make_command(
    click.argument("file", type=PATH),
    click.option(
        "-o", "--output", type=PATH, required=True, metavar="COPY", help="the cold copy"
    ),
    click.option("--force", is_flag=True, help="write over what is there"),
    json_option,
)  # fmt: skip
def command(file: Path, output: Path, force: bool, as_json: bool) -> int:
    """Scrub, write, and print."""
    refuse_existing(output, force=force)
    try:
        with file.open("rb") as opened:
            made = scrubbed(Source.of_file(opened), str(file))
            write(output, made.copy.read())
    except OSError as error:
        raise ScrubRefused(
            f"{file} cannot be read: {error.strerror or error}.",
            "Expected a file.",
            "See: twice asset scrub --help",
        ) from error
    names = {"format": "twice.scrub/1", "input": str(file), "output": str(output)}
    return tell(
        names | made.to_json(), _lines(made, output), as_json=as_json, code=1 if made.left else 0
    )


def _lines(made: Scrubbed, output: Path) -> Iterator[str]:
    yield f"written: {printable(output)}, {made.copy.size:,} bytes"
    yield f"payload: {made.payload.method} {made.payload.digest}, as it was"
    rows = [(printable(each.name), f"{each.source.size:,} bytes") for each in made.removed]
    yield "removed:" if rows else "removed: nothing was there"
    yield from align(rows)
    for each in made.left:
        yield f"left: {each.rule} {printable(each.message)} {printable(place_of(each))}"
        yield f"  do {each.remedy}"
    yield f"next: twice asset leaks {printable(output)}"
