"""A file scrubbed, its payload proven to be the same, and what is left looked at.

Pixels are never changed: text that is hidden in them stays, and is told.

Invariant: a copy is given only when its payload's digest is the original's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from twice.assets.containers.parts import Damaged, Kind, Part
from twice.assets.containers.sniffing import HEAD, Format, sniff
from twice.assets.containers.source import Source
from twice.assets.containers.unpacking import Budget
from twice.assets.containers.walking import is_container, walk
from twice.assets.errors import PayloadRefused, ScrubRefused
from twice.assets.leaks.report import LeakFinding
from twice.assets.leaks.scan import FileScan
from twice.assets.payload import Payload, payload_of
from twice.assets.scrubbing import films, pictures, sounds
from twice.foundation.severity import Severity

SCRUBBERS: Final[dict[Format, Callable[[Source], Iterator[bytes]]]] = {
    Format.PNG: pictures.png,
    Format.JPEG: pictures.jpeg,
    Format.WEBP: pictures.webp,
    Format.GIF: pictures.gif,
    Format.WAV: sounds.iff,
    Format.AIFF: sounds.iff,
    Format.FLAC: sounds.flac,
    Format.OGG: sounds.ogg,
    Format.MPEG: sounds.mpeg,
    Format.AAC: sounds.mpeg,
    Format.MP4: films.mp4,
    Format.MATROSKA: films.matroska,
}


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A cold copy.

    Args:
        copy: its bytes.
        payload: of the original, and of the copy.
        removed: the parts of the original that are no longer there.
        left: leaks that are in the copy still, such as text in its pixels.
    """

    copy: Source
    payload: Payload
    removed: tuple[Part, ...]
    left: tuple[LeakFinding, ...]

    def to_json(self) -> dict[str, object]:
        """Give it as JSON, without the names of the files."""
        return {
            "payload": {"method": self.payload.method, "digest": self.payload.digest},
            "removed": [
                {"name": each.name, "offset": each.offset, "bytes": each.source.size}
                for each in self.removed
            ],
            "left": [each.to_json() for each in self.left],
        }


def scrubbed(source: Source, name: str) -> Scrubbed:
    """Return the cold copy of a file.

    Args:
        source: the bytes of the file.
        name: the name of the file in messages.

    Raises:
        ScrubRefused: E-SCRUB-001, the format is not one of those that can be scrubbed, the file is damaged, or
            its payload would not be the same.
        ExtraMissing: E-EXTRA-001, the decoder of the payload is not installed.
    """
    kind = sniff(source.read(0, HEAD))
    scrub = SCRUBBERS.get(kind)
    if scrub is None:
        accepted = ", ".join(each.rpartition("/")[2] for each in SCRUBBERS)
        raise ScrubRefused(
            f"{name} is {kind}, which cannot be scrubbed.",
            f"Expected one of: {accepted}.",
            "Export it in one of these, or build it again from clean parts.",
        )
    try:
        before = payload_of(source, name)
        copy = Source.spooled(scrub(source))
        after = payload_of(copy, name)
    except (Damaged, PayloadRefused) as error:
        why = error.why if isinstance(error, Damaged) else error.happened
        raise ScrubRefused(
            f"{name} cannot be scrubbed: {why.rstrip('.')}.",
            "Expected a whole file of its kind.",
            "Export it again; nothing was written.",
        ) from error
    if (before.method, before.digest) != (after.method, after.digest):
        raise ScrubRefused(
            f"The payload of {name} would not be the same: {before.digest} became {after.digest}.",
            "Expected the same pixels, samples or packets without what is said about them.",
            "Export it again without its extras; nothing was written.",
        )
    return Scrubbed(copy, before, tuple(_removed(source, copy, kind)), tuple(_left(copy, name)))


def _removed(source: Source, copy: Source, kind: Format) -> Iterator[Part]:
    """Yield the parts that carry information and are not in the copy."""
    kept = [(part.name, part.source.size) for part in _said(copy, kind)]
    for part in _said(source, kind):
        if (part.name, part.source.size) in kept:
            kept.remove((part.name, part.source.size))
        elif part.source.size:
            yield part


def _said(source: Source, kind: Format) -> Iterator[Part]:
    if is_container(kind):
        for part in walk(source, kind, Budget()):
            if part.kind in {Kind.METADATA, Kind.FILE, Kind.TRAILING}:
                yield part


def _left(copy: Source, name: str) -> Iterator[LeakFinding]:
    for found in FileScan().scan(copy.as_file(), Path(name).suffix or "copy"):
        if isinstance(found, LeakFinding) and found.severity >= Severity.HIGH:
            yield found
