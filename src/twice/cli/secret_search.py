"""Proof that given values are not in a record: every byte of it is looked through, opened and as it lies.

Every block's payload is searched as it was before it was packed, the file as it lies, what was printed
and every component of every snapshot as a whole, because pieces and pages cut them. Each value is
searched for in all of its forms (``list_forms``).

Not for: values that are spread over several reads, compressed by the program, or only digested.

Invariant: nothing that is found or said here holds a value; a value goes by the name it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from twice.errors import RedactionRefused
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize
from twice.recorder.record import RecordReader
from twice.recorder.record.block_file import BlockFile
from twice.recorder.record.layout import Kind
from twice.recorder.record_form import ERRORS, OUTPUT
from twice.recorder.redaction.mask import list_forms
from twice.recorder.snapshots import load

SECRET_MIN = 4
"""Fewest bytes of a value that can be searched for: fewer stand everywhere by chance."""


@dataclass(frozen=True)
class Sighting:
    """One place where a value stands.

    Attributes:
        name: of the value.
        form: how it stands there.
        place: block, frame or component, in words.
        tick: the tick it belongs to; None where that means nothing.
        count: how many times.
    """

    name: str
    form: str
    place: str
    tick: int | None
    count: int


@dataclass(frozen=True)
class SecretSearch:
    """What was looked through, and what was found.

    Attributes:
        sightings: places, in the order of the file.
        secrets: how many values were searched for.
        forms: in how many forms.
        blocks: blocks that were opened.
        file_bytes: bytes of the file.
        unread: why a part of the file could not be opened; empty when all of it was.
    """

    sightings: list[Sighting]
    secrets: int
    forms: int
    blocks: int
    file_bytes: int
    unread: str


_Find = Callable[[str, int | None, bytes], list[Sighting]]


def search(path: Path, secrets: Mapping[str, bytes]) -> SecretSearch:
    """Look for values in a record.

    Raises:
        RedactionRefused: E-REDACT-001, for a value that is too short.
        RecordCorrupt: E-RECORD-004, when a block was changed.
    """
    for name, value in secrets.items():
        if len(value) < SECRET_MIN:
            raise RedactionRefused(
                f"The secret {name} has {pluralize(len(value), 'byte')}.",
                f"Expected at least {SECRET_MIN}: shorter values stand in any file by chance.",
                "Leave it out.",
                name=name,
            )
    needles = {
        form: (name, how)
        for name, value in secrets.items()
        for form, how in list_forms(value).items()
        if len(form) >= SECRET_MIN
    }

    def find(place: str, tick: int | None, data: bytes) -> list[Sighting]:
        return [
            Sighting(name, form, place, tick, data.count(needle))
            for needle, (name, form) in needles.items()
            if needle in data
        ]

    file = BlockFile(path)
    try:
        with RecordReader.open(path) as reader:
            framed, kept = [*_search_frames(reader, find)], [*_search_snapshots(reader, find)]
            tear = reader.tear
        # What frames and components say better stands there once.
        better = {Kind.FRAMES: framed, Kind.PAGES: kept}
        kinds = [Kind(int(kind)) for kind in file.table["kind"]]
        sightings = []
        for number in range(file.blocks):
            place = f"block {number} ({kinds[number].name.lower()})"
            said = {(one.name, one.form) for one in better.get(kinds[number], ())}
            found = find(place, None, file.payload(number))
            sightings += [one for one in found if (one.name, one.form) not in said]
        sightings += [*framed, *kept]
        if not sightings:
            sightings = find("the file as it lies", None, file.copy_bytes(0, file.size_bytes))
        unread = "" if tear is None else f"{tear.reason}, from byte {tear.offset} on"
        return SecretSearch(
            sightings, len(secrets), len(needles), file.blocks, file.size_bytes, unread
        )
    finally:
        file.close()


def _search_frames(reader: RecordReader, find: _Find) -> Iterator[Sighting]:
    printed: dict[str, list[bytes]] = {OUTPUT: [], ERRORS: []}
    said: set[tuple[str, str, str]] = set()
    for frame in reader.frames():
        payload = bytes(frame.payload)
        if frame.kind in printed:
            printed[frame.kind].append(payload)
        place = f"{frame.kind} before compare-point {frame.point}, actor {frame.actor}"
        for one in find(place, frame.tick, payload):
            said.add((one.name, one.form, frame.kind))
            yield one
    for kind, pieces in printed.items():
        for one in find(f"{kind}, over several compare-points", None, b"".join(pieces)):
            if (one.name, one.form, kind) not in said:
                yield one


def _search_snapshots(reader: RecordReader, find: _Find) -> Iterator[Sighting]:
    for entry in reader.snapshots:
        captured = load(reader, entry.number)
        for name, parts in sorted(captured.subsystems.items()):
            place = f"snapshot {entry.number}, {name}"
            yield from find(place, entry.tick, b"".join(bytes(part) for part in parts))
