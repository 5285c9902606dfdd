"""Records with right checksums and wrong content: sound ones, written anew with a few values changed.

A forgery is told by its number: the same number is the same forgery.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from twice.errors import TwiceError
from twice.foundation.encoding import decode, encode
from twice.recorder.record import Frame, RecordWriter
from twice.recorder.runrecord import RunRecord
from twice.recorder.trust import digest_identity, remember_record

WEIRD: tuple[Any, ...] = (
    None, True, -1, 0, 2**53 - 1, 1.5, "", "x", "\0", "a/../../b", "../" * 40, "é" * 300, [], {}, [[]], {"": None},
    [None], ["x"], {"x": 1}, "9" * 400, "/etc/passwd", "\x1b[31m", "{program}", "blake3:" + "0" * 64,
)  # fmt: skip
"""What stands where something else is expected."""


@dataclass
class Content:
    """All of a record that a forger can change."""

    identity: dict[str, Any]
    ending: dict[str, Any]
    frames: list[Frame]
    points: list[tuple[tuple[str, ...], int, str, bytes, bytes, bytes]]
    snapshots: list[tuple[int, int, bytes]]
    blobs: list[list[bytes]] = field(default_factory=list)


def content_of(path: Path) -> Content:
    """Everything that a record holds."""
    with RunRecord.open(path) as record:
        reader = record.reader
        points = [
            (tuple(each.digests), each.tick, each.name, each.root, each.chain, b"".join(each.digests.values()))
            for each in reader.points.iterate()
        ]  # fmt: skip
        return Content(
            copy.deepcopy(dict(record.identity)),
            copy.deepcopy(dict(record.ending or {})),
            [frame._replace(payload=bytes(frame.payload)) for frame in reader.frames()],
            points,
            [
                (each.tick, each.point, bytes(reader.envelope(each.number)))
                for each in reader.snapshots
            ],
            [
                [bytes(part) for part in reader.blobs.parts(number)]
                for number in range(len(reader.blobs))
            ],
        )


def write(content: Content, out: Path) -> None:
    """Write a record with right checksums for any content; it belongs to this account."""
    writer = RecordWriter.create(out, content.identity, force=True)
    for number, parts in enumerate(content.blobs):
        writer.page_blob(str(number), parts, dedupe=False)
    frames, snapshots = list(content.frames), list(content.snapshots)
    for index in range(len(content.points) + 1):
        while frames and (frames[0].point <= index or index == len(content.points)):
            frame = frames.pop(0)
            writer.frame(frame.kind, frame.actor, frame.payload, tick=frame.tick)
        while snapshots and (snapshots[0][1] <= index or index == len(content.points)):
            tick, _, envelope = snapshots.pop(0)
            writer.snapshot(tick, envelope)
        if index < len(content.points):
            names, tick, name, root, chain, digests = content.points[index]
            writer.point(writer.layout(names), tick, name, root, chain, digests)
    writer.close(content.ending)
    remember_record(digest_identity(content.identity))


def list_compared(content: Content) -> list[object]:
    """Return the parts that every verification compares with a run: points, texts up to the last one, result, end."""
    texts = {
        kind: b"".join(
            frame.payload
            for frame in content.frames
            if frame.kind == kind and frame.point < len(content.points)
        )
        for kind in ("output", "errors")
    }
    ends = [content.ending.get(name) for name in ("how", "exit_code")]
    try:
        returned = content.ending["results"]["returned"]["digest"]
    except (KeyError, TypeError):
        returned = None
    return [content.points, texts, returned, *ends]


def forge(content: Content, number: int) -> Content:
    """Copy the content with one to three changes."""
    draw = random.Random(number)
    forged = copy.deepcopy(content)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        draw.choice(_CHANGES)(forged, draw)
    return forged


def _change_identity(content: Content, draw: random.Random) -> None:
    _change_document(content.identity, draw)


def _change_ending(content: Content, draw: random.Random) -> None:
    _change_document(content.ending, draw)


def _change_document(document: dict[str, Any], draw: random.Random) -> None:
    holder, key = draw.choice([*_places(document)])
    match draw.randrange(4):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        case 1:
            holder[draw.choice(("x", "", key + "s"))] = holder.pop(key)
        case _:
            holder[key] = copy.deepcopy(draw.choice(WEIRD))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _change_frame(content: Content, draw: random.Random) -> None:
    """Change one value of a payload that decodes, or replace it by bytes that do not."""
    if not content.frames:
        return
    at = draw.randrange(len(content.frames))
    frame = content.frames[at]
    try:
        payload = encode(_changed(decode(frame.payload), draw))
    except (TwiceError, TypeError, ValueError):
        payload = draw.randbytes(draw.randrange(60))
    if draw.randrange(5) == 0:
        payload = draw.choice(
            (
                b"",
                draw.randbytes(9),
                frame.payload[: len(frame.payload) // 2],
                encode(draw.choice(WEIRD)),
            )
        )
    content.frames[at] = frame._replace(payload=payload)


def _changed(value: Any, draw: random.Random) -> Any:
    """Replace something in a decoded value."""
    if isinstance(value, tuple | list) and value and draw.randrange(6):
        parts = list(value)
        at = draw.randrange(len(parts))
        if draw.randrange(8) == 0:
            del parts[at]
        else:
            parts[at] = _changed(parts[at], draw)
        return type(value)(parts) if type(value) in {tuple, list} else parts
    if isinstance(value, dict) and value and draw.randrange(6):
        key = draw.choice(list(value))
        return {**value, key: _changed(value[key], draw)}
    if isinstance(value, bytes) and draw.randrange(3):
        return draw.randbytes(draw.randrange(20))
    if isinstance(value, int) and draw.randrange(3):
        return draw.choice((value + 1, -value, 2**40, 2**70, 65535))
    return copy.deepcopy(draw.choice(WEIRD))


def _move_frame(content: Content, draw: random.Random) -> None:
    """Remove, double or move a frame, or give it another kind, actor or tick."""
    if not content.frames:
        return
    at = draw.randrange(len(content.frames))
    frame = content.frames[at]
    match draw.randrange(6):
        case 0:
            del content.frames[at]
        case 1:
            content.frames.insert(at, frame)
        case 2:
            content.frames.insert(draw.randrange(at + 1), content.frames.pop(at))
        case 3:
            kinds = sorted({each.kind for each in content.frames} | {"", "x"})
            content.frames[at] = frame._replace(kind=draw.choice(kinds))
        case 4:
            content.frames[at] = frame._replace(actor=draw.choice((0, 1, 7, 2**32 - 1)))
        case _:
            content.frames[at] = frame._replace(tick=draw.choice((-1, 0, 2**61, -(2**61))))


def _change_point(content: Content, draw: random.Random) -> None:
    if not content.points:
        return
    at = draw.randrange(len(content.points))
    names, tick, name, root, chain, digests = content.points[at]
    content.points[at] = draw.choice((
        (names, tick + draw.choice((-5, 1, 2**60)), name, root, chain, digests),
        (names, tick, draw.choice(("", "x", "\0", "tick", "files", "\x1b[2J")), root, chain, digests),
        (("x", *names[1:]), tick, name, root, chain, digests[: 16 * max(1, len(names))] or bytes(16)),
        (names, tick, name, bytes(16), chain, digests),
        (names, tick, name, root, bytes(16), digests),
        (names, tick, name, root, chain, bytes(len(digests))),
    ))  # fmt: skip


def _change_snapshot(content: Content, draw: random.Random) -> None:
    if not content.snapshots:
        return
    at = draw.randrange(len(content.snapshots))
    tick, point, envelope = content.snapshots[at]
    changed = draw.randbytes(9)
    if draw.randrange(8):
        document = json.loads(envelope)
        _change_document(document, draw)
        changed = json.dumps(document).encode()
    content.snapshots[at] = draw.choice(
        ((tick, point, changed), (tick, point, changed), (tick + 2**50, point, envelope))
    )
    if content.blobs and draw.randrange(4) == 0:
        content.blobs[draw.randrange(len(content.blobs))] = [draw.randbytes(50)]


_CHANGES: tuple[Callable[[Content, random.Random], None], ...] = (
    _change_identity, _change_identity, _change_ending, _change_ending, _change_frame, _change_frame,
    _change_frame, _move_frame, _change_point, _change_snapshot,
)  # fmt: skip
