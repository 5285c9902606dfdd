"""Writes the theme as a MIDI file: a bell tune in six-eight over a held fifth."""

import struct
import sys
from pathlib import Path

TICKS = 96
"""Ticks to a quarter note."""

TUNE = [(74, 3), (77, 3), (81, 3), (79, 3), (77, 3), (76, 3), (74, 6), (69, 3), (74, 9)]
"""Notes of the bell, with their lengths in eighths."""


def varied(number):
    """Write a number as MIDI does: seven bits to a byte, the last without the high bit."""
    parts = [number & 0x7F]
    while number := number >> 7:
        parts.append(number & 0x7F | 0x80)
    return bytes(reversed(parts))


def events():
    """Yield the messages of the one track, each with the ticks since the one before."""
    yield 0, b"\xff\x51\x03" + (60_000_000 // 96).to_bytes(3, "big")
    yield 0, b"\xff\x58\x04" + bytes([6, 3, 36, 8])
    yield 0, bytes([0xC0, 14])
    yield 0, bytes([0xC1, 48])
    yield 0, bytes([0x91, 50, 60])
    yield 0, bytes([0x91, 57, 50])
    for note, eighths in TUNE:
        yield 0, bytes([0x90, note, 92])
        yield eighths * TICKS // 2, bytes([0x80, note, 0])
    yield 0, bytes([0x81, 50, 0])
    yield 0, bytes([0x81, 57, 0])
    yield TICKS, b"\xff\x2f\x00"


track = b"".join(varied(wait) + message for wait, message in events())
head = b"MThd" + struct.pack(">IHHH", 6, 0, 1, TICKS)
Path(sys.argv[1]).write_bytes(head + b"MTrk" + struct.pack(">I", len(track)) + track)
