"""Standard MIDI files, and the workstation that a recording names (``bext`` of Broadcast Wave, or a tag).

A MIDI file with several tempos has no one tempo; all of them are candidates, and so is what holds before the first
event: 120 beats per minute and 4/4. What a recording says of rates and depths is about the file, not about a session,
so it is kept under other. Not read: ``iXML``, and the loudness in ``bext``.

Source: Standard MIDI Files 1.0 (1996), read by mido; EBU Tech 3285 version 2 (2011), read by FFmpeg.

Invariant: no value of a session is taken from a delivered file.
"""

from __future__ import annotations

import re
from typing import Any, BinaryIO, Final

from twice.assets.importers.result import Reading, Value
from twice.assets.media.sniff import Damaged, decoding, load_library

MIDI_BYTES_MAX: Final = 2 << 20
_WORKSTATIONS: Final = (
    "REAPER", "Pro Tools", "Nuendo", "Cubase", "Ableton Live", "Studio One", "Logic Pro", "Bitwig Studio",
    "FL Studio", "Digital Performer", "Samplitude", "Sequoia", "Pyramix", "WaveLab", "Ardour", "Audacity",
)  # fmt: skip
_NAMED = re.compile(
    rf"(?:[^\n]*?\bT=)?({'|'.join(_WORKSTATIONS)})(?![A-Za-z])[ /]*v?([0-9]+(?:\.[0-9A-Za-z]+)*)?",
    re.IGNORECASE,
)
"""A name where a text begins, or the tool (``T=``) of the first line of a coding history."""


def read_midi(file: BinaryIO, reading: Reading) -> None:
    """Read tempo, meter and key of a MIDI file, with where they change.

    Raises:
        Damaged: mido cannot read it, or it is too long.
    """
    reading.begin("MIDI")
    if file.seek(0, 2) > MIDI_BYTES_MAX:
        raise Damaged(f"it is longer than {MIDI_BYTES_MAX >> 20} MiB")
    file.seek(0)
    with decoding("mido"):
        midi = load_library("mido").MidiFile(file=file)
    reading.name_generator("MIDI file")
    reading.add_other("format", midi.type)
    # mido reads a division into frames of SMPTE as a number below 0.
    is_timed = midi.ticks_per_beat > 0
    reading.add_other("ticks per quarter note", midi.ticks_per_beat if is_timed else None)
    for pointer, kind, default in (
        ("/audio/tempo_bpm", "set_tempo", 120), ("/audio/time_signature", "time_signature", "4/4"),
        ("/audio/key", "key_signature", None),
    ):  # fmt: skip
        values: list[Value] = []
        first = None
        for track in midi.tracks:
            tick = 0
            for message in track:
                tick += message.time
                if message.type == kind:
                    values.append(_to_value(message))
                    first = tick if first is None else min(tick, first)
        why = "it changes"
        if first and default is not None:
            values.insert(0, default)
            why = f"it is first said at tick {first}"
        reading.settle(pointer, values, kind, why)
        if kind == "set_tempo" and not is_timed:
            why = "time is counted in SMPTE frames, or a quarter note has no ticks"
            reading.doubt_stated([pointer], why)


def _to_value(message: Any) -> Value:
    if message.type == "set_tempo":
        bpm = 60_000_000 / message.tempo if message.tempo else 0
        return int(bpm) if bpm == int(bpm) else round(bpm, 6)
    if message.type == "time_signature":
        return f"{message.numerator}/{message.denominator}"
    tone = str(message.key)
    return f"{tone[:-1]} minor" if tone.endswith("m") else f"{tone} major"


def name_workstation(text: str, reading: Reading) -> None:
    """Name the workstation that wrote a recording, where ``Originator`` or the coding history begins with a known one."""
    match = _NAMED.match(text)
    if match is not None:
        name = next(each for each in _WORKSTATIONS if each.lower() == match[1].lower())
        reading.name_generator(name, match[2])
        reading.set("/audio/daw/name", name)
        reading.set("/audio/daw/version", match[2])
