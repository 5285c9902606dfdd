"""Broadcast Wave: ``bext`` and ``iXML``, which recorders and workstations write into WAV files.

What they say of rates, depths and loudness is about the file, not about a session or a target, so it is
kept under other. A workstation is named only where ``Originator`` or the coding history begins with the
name of a known one.

Source: EBU Tech 3285 version 2 (2011); the iXML specification 3.01 (ixml.info).

Invariant: no value of a session is taken from a delivered file.
"""

from __future__ import annotations

import re
from typing import Final

from twice.assets.importers import fields, scalars
from twice.assets.importers.imported import Reading
from twice.assets.importers.xmltree import Element, XmlRefused, tree
from twice.foundation.printable import pluralize

_FIXED: Final = 602
_TEXTS: Final = (
    ("Description", 0, 256), ("Originator", 256, 32), ("OriginatorReference", 288, 32),
    ("OriginationDate", 320, 10), ("OriginationTime", 330, 8),
)  # fmt: skip
_LOUDNESS: Final = (
    ("LoudnessValue_LUFS", 412), ("LoudnessRange_LU", 414), ("MaxTruePeakLevel_dBTP", 416),
    ("MaxMomentaryLoudness_LUFS", 418), ("MaxShortTermLoudness_LUFS", 420),
)  # fmt: skip
_NO_LOUDNESS: Final = 0x7FFF
_WORKSTATIONS: Final = (
    "REAPER", "Pro Tools", "Nuendo", "Cubase", "Ableton Live", "Studio One", "Logic Pro", "Bitwig Studio",
    "FL Studio", "Digital Performer", "Samplitude", "Sequoia", "Pyramix", "WaveLab", "Ardour", "Audacity",
)  # fmt: skip
_NAMED = re.compile(
    rf"(?P<name>{'|'.join(map(re.escape, _WORKSTATIONS))})(?![A-Za-z])[ /]*v?(?P<version>[0-9]+(?:\.[0-9A-Za-z]+)*)?",
    re.IGNORECASE,
)
_CODING_KEYS: Final = {
    "A": "coding",
    "F": "rate",
    "B": "bit rate",
    "W": "word length",
    "M": "mode",
    "T": "text",
}
_LINES_MAX: Final = 256


def read_bext(data: bytes, reading: Reading) -> None:
    """Read a ``bext`` chunk."""
    if len(data) < _FIXED:
        reading.puzzle(
            "bext", f"it is cut off: {pluralize(len(data), 'byte')} of at least {_FIXED}"
        )
    said = {key: _text(data[at : at + size], key, reading) for key, at, size in _TEXTS}
    for key, value in said.items():
        reading.keep(key, value or None)
    if len(data) >= 348:
        reading.keep("TimeReference_samples", int.from_bytes(data[338:346], "little"))
        version = int.from_bytes(data[346:348], "little")
        reading.keep("Version", version)
        if version >= 2 and len(data) >= 422:
            _loudness(data, reading)
    history = _text(data[_FIXED:], "CodingHistory", reading)
    tool = _history(history, reading)
    for source in (said["Originator"], tool):
        match = _NAMED.match(source or "")
        if match is None:
            continue
        name = next(each for each in _WORKSTATIONS if each.lower() == match["name"].lower())
        reading.generator = name
        reading.say(fields.DAW_NAME, name)
        if match["version"]:
            reading.generator_version = match["version"]
            reading.say(fields.DAW_VERSION, match["version"])


def _text(data: bytes, key: str, reading: Reading) -> str:
    raw = data.split(b"\0", 1)[0]
    try:
        return raw.decode("utf-8").strip()
    except UnicodeDecodeError:
        reading.puzzle(key, "it is not ASCII; it was read as Latin-1")
        return raw.decode("latin-1").strip()


def _loudness(data: bytes, reading: Reading) -> None:
    """Keep what the writer measured, in hundredths; it is neither a target nor our measurement."""
    for key, at in _LOUDNESS:
        value = int.from_bytes(data[at : at + 2], "little", signed=True)
        if value not in (0, _NO_LOUDNESS):
            reading.keep(key, value / 100)


def _history(history: str, reading: Reading) -> str:
    """Keep the coding history by line; give the text of the first line that has one."""
    tool = ""
    for number, line in enumerate(history.splitlines()[:_LINES_MAX], 1):
        for part in line.split(","):
            key, equals, value = part.strip().partition("=")
            if not equals or key.upper() not in _CODING_KEYS:
                if part.strip():
                    reading.puzzle(
                        f"CodingHistory line {number}", f"{part.strip()[:80]!r} is no key=value"
                    )
                continue
            reading.keep(f"coding history {number}, {_CODING_KEYS[key.upper()]}", value.strip())
            if key.upper() == "T" and not tool:
                tool = value.strip()
    return tool


def read_ixml(data: bytes, reading: Reading) -> None:
    """Read an ``iXML`` chunk."""
    try:
        root = tree([data.rstrip(b"\0")])
    except XmlRefused as error:
        reading.puzzle("iXML", str(error))
        return
    for path, element in _leaves(root):
        reading.keep(path, scalars.text(element.text.strip()))


def _leaves(root: Element) -> list[tuple[str, Element]]:
    """Give the elements that hold only text, by path; of those of one path the first is kept."""
    found: list[tuple[str, Element]] = []
    waiting = [("", root)]
    while waiting:
        path, element = waiting.pop()
        if not element.children:
            found.append((path, element))
        waiting.extend((f"{path}/{e.name}".lstrip("/"), e) for e in reversed(element.children))
    return found
