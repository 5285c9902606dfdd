"""Standard MIDI files, and Broadcast Wave: ``bext`` and ``iXML``, which recorders and workstations write into WAV files.

A MIDI file with several tempos has no one tempo; all of them are candidates, and so is what holds before the first
event: 120 beats per minute and 4/4. What a WAV file says of rates, depths and loudness is about the file, not about a
session or a target, so it is kept under other. A workstation is named only where ``Originator`` or the coding history
names a known one.

Source: Standard MIDI Files 1.0 (1996), read by mido; EBU Tech 3285 version 2 (2011); iXML 3.01 (ixml.info).

Invariant: no value of a session is taken from a delivered file, and a read never leaves its chunk.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO, Final
from xml.etree.ElementTree import Element

from twice.assets.importers.daw_xml import XmlRefused, parse_xml
from twice.assets.importers.result import Reading, Value, to_meter, to_tempo, to_text
from twice.assets.media.sniff import Damaged, decoding, load_library
from twice.foundation.printable import pluralize

MIDI_BYTES_MAX: Final = 2 << 20
_CHUNK_MAX: Final = 16 << 20
_CHUNKS_MAX: Final = 4096
_LINES_MAX: Final = 256
_BEXT_SIZE: Final = 602
_TEXTS: Final = (
    ("Description", 0, 256), ("Originator", 256, 32), ("OriginatorReference", 288, 32),
    ("OriginationDate", 320, 10), ("OriginationTime", 330, 8),
)  # fmt: skip
_LOUDNESS: Final = (
    "LoudnessValue_LUFS", "LoudnessRange_LU", "MaxTruePeakLevel_dBTP", "MaxMomentaryLoudness_LUFS",
    "MaxShortTermLoudness_LUFS",
)  # fmt: skip
_NO_LOUDNESS: Final = (0, 0x7FFF)
_WORKSTATIONS: Final = (
    "REAPER", "Pro Tools", "Nuendo", "Cubase", "Ableton Live", "Studio One", "Logic Pro", "Bitwig Studio",
    "FL Studio", "Digital Performer", "Samplitude", "Sequoia", "Pyramix", "WaveLab", "Ardour", "Audacity",
)  # fmt: skip
_NAMED = re.compile(
    rf"({'|'.join(_WORKSTATIONS)})(?![A-Za-z])[ /]*v?([0-9]+(?:\.[0-9A-Za-z]+)*)?", re.IGNORECASE
)
_TOOL = re.compile(r"(?:^|,)\s*T=([^,]*)", re.IGNORECASE)


def read_midi(file: BinaryIO, reading: Reading) -> None:
    """Read tempo, meter and key of a MIDI file, with where they change."""
    reading.begin("MIDI")
    data_size = file.seek(0, 2)
    file.seek(0)
    if data_size > MIDI_BYTES_MAX:
        reading.add_unparsed("file", f"it is longer than {MIDI_BYTES_MAX >> 20} MiB")
        return
    try:
        with decoding("mido"):
            midi = load_library("mido").MidiFile(file=file)
    except Damaged as damage:
        reading.add_unparsed("file", damage.why)
        return
    reading.name_generator("MIDI file")
    reading.add_other("format", midi.type)
    # mido reads a division into frames of SMPTE as a number below 0.
    is_timed = midi.ticks_per_beat > 0
    reading.add_other("ticks per quarter note", midi.ticks_per_beat if is_timed else None)
    events: dict[str, list[tuple[int, Any]]] = {
        "set_tempo": [],
        "time_signature": [],
        "key_signature": [],
    }
    for track in midi.tracks:
        tick = 0
        for message in track:
            tick += message.time
            if message.type in events:
                events[message.type].append((tick, message))
    for pointer, kind, default in (
        ("/audio/tempo_bpm", "set_tempo", 120), ("/audio/time_signature", "time_signature", "4/4"),
        ("/audio/key", "key_signature", None),
    ):  # fmt: skip
        found = [(tick, _to_value(message)) for tick, message in events[kind]]
        values: list[Value] = [value for _, value in found if value is not None]
        if len(values) < len(found):
            reading.add_unparsed(kind, f"an event holds no value for {pointer}")
        first = min((tick for tick, _ in found), default=0)
        if kind == "set_tempo" and values and not is_timed:
            why = "time is counted in SMPTE frames, or a quarter note has no ticks"
            reading.add_candidates(pointer, values, why)
        elif first > 0 and default is not None:
            reading.settle(pointer, [default, *values], f"it is first said at tick {first}")
        else:
            reading.settle(pointer, values, "it changes")


def _to_value(message: Any) -> Value | None:
    if message.type == "set_tempo":
        bpm = 60_000_000 / message.tempo if message.tempo else 0.0
        return to_tempo(int(bpm) if bpm.is_integer() else round(bpm, 6))
    if message.type == "time_signature":
        return to_meter(message.numerator, message.denominator)
    tone = str(message.key)
    return f"{tone[:-1]} minor" if tone.endswith("m") else f"{tone} major"


def read_wave(file: BinaryIO, reading: Reading) -> None:
    """Read ``bext`` and ``iXML`` of a WAV file; other chunks are not looked at."""
    for name, data, is_whole in _read_chunks(file):
        reading.begin(name)
        if not is_whole:
            reading.add_unparsed(name, "the chunk is cut off")
        if name == "bext":
            _read_bext(data, reading)
        if name != "iXML":
            continue
        try:
            root = parse_xml([data.rstrip(b"\0")])
        except XmlRefused as error:
            reading.add_unparsed("iXML", str(error))
            continue
        for path, text in _list_leaves(root):
            reading.add_other(path, to_text(text.strip()))


def _read_chunks(file: BinaryIO) -> Iterator[tuple[str, bytes, bool]]:
    """Give name, bytes and wholeness of each ``bext`` and ``iXML`` chunk of a RIFF, RF64 or BW64 file."""
    end, at, data_size = file.seek(0, 2), 12, 0
    for _ in range(_CHUNKS_MAX):
        file.seek(at)
        head = file.read(8)
        if len(head) < 8:
            return
        name, size = head[:4], int.from_bytes(head[4:], "little")
        if name == b"ds64":
            data_size = int.from_bytes(file.read(16)[8:], "little")
        elif name == b"data" and size == 0xFFFFFFFF:
            size = data_size or end - at - 8
        elif name in {b"bext", b"iXML"}:
            yield name.decode(), file.read(min(size, _CHUNK_MAX)), at + 8 + size <= end
        elif at + 8 + size > end:
            yield name.decode("latin-1"), b"", False
        at += 8 + size + size % 2


def _read_bext(data: bytes, reading: Reading) -> None:
    if len(data) < _BEXT_SIZE:
        reading.add_unparsed(
            "bext", f"it is cut off: {pluralize(len(data), 'byte')} of at least {_BEXT_SIZE}"
        )
    said = {key: _decode(data[at : at + size], key, reading) for key, at, size in _TEXTS}
    for key, value in said.items():
        reading.add_other(key, value or None)
    if len(data) >= 348:
        reference, version = struct.unpack_from("<QH", data, 338)
        reading.add_other("TimeReference_samples", reference)
        reading.add_other("Version", version)
        # What the writer measured, in hundredths, is neither a target nor our measurement.
        measured = struct.unpack_from("<5h", data, 412) if version >= 2 and len(data) >= 422 else ()
        for key, hundredths in zip(_LOUDNESS, measured, strict=False):
            if hundredths not in _NO_LOUDNESS:
                reading.add_other(key, hundredths / 100)
    history = _decode(data[_BEXT_SIZE:], "CodingHistory", reading).splitlines()[:_LINES_MAX]
    for number, line in enumerate(history, 1):
        reading.add_other(f"coding history {number}", line.strip() or None)
    tools = [match[1].strip() for line in history if (match := _TOOL.search(line))]
    for source in (said["Originator"], *tools[:1]):
        if match := _NAMED.match(source):
            name = next(each for each in _WORKSTATIONS if each.lower() == match[1].lower())
            reading.name_generator(name, match[2])
            reading.set("/audio/daw/name", name)
            reading.set("/audio/daw/version", match[2])


def _decode(data: bytes, key: str, reading: Reading) -> str:
    raw = data.split(b"\0", 1)[0]
    try:
        return raw.decode("utf-8").strip()
    except UnicodeDecodeError:
        reading.add_unparsed(key, "it is not ASCII; it was read as Latin-1")
        return raw.decode("latin-1").strip()


def _list_leaves(root: Element) -> Iterator[tuple[str, str]]:
    """Give the elements that hold only text, by path."""
    waiting = [("", root)]
    while waiting:
        path, element = waiting.pop()
        if not len(element):
            yield path, element.text or ""
        waiting += [(f"{path}/{each.tag}".lstrip("/"), each) for each in reversed(element)]
