"""DAWproject files: a zip with ``project.xml``, as Bitwig, Studio One and Cubase exchange it.

Source: the DAWproject 1.0 schema (github.com/bitwig/dawproject).

Invariant: members are read by name from the zip's directory, each up to a bound; no path is written.
"""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

from twice.assets.containers.source import PIECE, Source
from twice.assets.importers import fields, scalars
from twice.assets.importers.imported import Reading, Value, distinct
from twice.assets.importers.xmltree import Element, XmlRefused, tree
from twice.foundation.digests import Algorithm, digest_parts
from twice.foundation.printable import pluralize

PROJECT: Final = "project.xml"
_PROJECT_MAX: Final = 256 << 20
_STATE_MAX: Final = 256 << 20
_MEMBERS_MAX: Final = 100_000
_PLUGINS: Final = {
    "Vst2Plugin": "VST2",
    "Vst3Plugin": "VST3",
    "AuPlugin": "AU",
    "ClapPlugin": "CLAP",
}
_SKIPPED: Final = ("Notes", "Warps", "Markers", "Clips")
_ZIP_TROUBLE: Final = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, EOFError, OSError, ValueError,
    KeyError, UnicodeError,
)  # fmt: skip


class _Refused(ValueError):
    """A member cannot be read within its bound; the message says why."""


def read_dawproject(source: Source, reading: Reading) -> None:
    """Read a project."""
    try:
        with zipfile.ZipFile(source.as_file()) as archive:
            if len(archive.infolist()) > _MEMBERS_MAX:
                reading.puzzle("zip", f"it holds more than {_MEMBERS_MAX} members")
                return
            named = sum(each.filename == PROJECT for each in archive.infolist())
            if named != 1:
                why = "it stands twice in the zip" if named else "there is none in the zip"
                reading.puzzle(PROJECT, why)
                return
            _read(archive, reading)
    except _ZIP_TROUBLE as error:
        reading.puzzle(PROJECT, str(error) or type(error).__name__)
        return
    reading.say(fields.DAW_PROJECT, digest_parts(source.pieces(), Algorithm.SHA256).hex)


def _read(archive: zipfile.ZipFile, reading: Reading) -> None:
    root = tree(_member(archive, PROJECT, _PROJECT_MAX), skipped=_SKIPPED)
    if root.name != "Project":
        raise XmlRefused(f"its first element is {root.name[:40]}, not Project")
    application = root.child("Application")
    if application is not None:
        reading.say(fields.DAW_NAME, scalars.text(application.get("name")))
        reading.generator_version = scalars.text(application.get("version"))
        reading.say(fields.DAW_VERSION, reading.generator_version)
    reading.keep("format version", root.get("version"))
    _tempo(root, reading)
    structure = root.child("Structure")
    chain = [
        each
        for around in (structure.walk() if structure else ())
        for channel in around.children
        if channel.name == "Channel"
        for each in _devices(archive, channel, _named(around, channel), reading)
    ]
    reading.say(fields.CHAIN, chain)


def _member(archive: zipfile.ZipFile, name: str, most: int) -> Iterator[bytes]:
    given = 0
    with archive.open(name) as member:
        while piece := member.read(PIECE):
            given += len(piece)
            if given > most:
                raise _Refused(f"{name[:80]} unpacks to more than {most >> 20} MiB")
            yield piece


def _tempo(root: Element, reading: Reading) -> None:
    tempo = scalars.number(root.said("Transport", "Tempo"))
    meter = root.child("Transport", "TimeSignature")
    arrangement = root.child("Arrangement")
    points = [
        point
        for name in ("TempoAutomation", "TimeSignatureAutomation")
        for lane in [arrangement.child(name) if arrangement else None]
        for point in (lane.children if lane else [])
    ]
    tempos = [tempo, *(scalars.number(p.get("value")) for p in points if p.name == "RealPoint")]
    meters = [_meter(p) for p in [meter, *points] if p is not None and p.get("numerator")]
    _settle(fields.TEMPO, [t for t in tempos if t is not None and 0 < t <= 10**6], reading)
    _settle(fields.METER, [m for m in meters if m is not None], reading)


def _settle(pointer: str, values: list[Value], reading: Reading) -> None:
    known = distinct(values)
    if len(known) == 1:
        reading.say(pointer, known[0])
    elif known:
        reading.doubt(pointer, known[:64], f"it is automated: {pluralize(len(known), 'value')}")


def _meter(element: Element) -> Value | None:
    beats = scalars.count(element.get("numerator")), scalars.count(element.get("denominator"))
    return f"{beats[0]}/{beats[1]}" if all(each and each < 10**4 for each in beats) else None


def _named(around: Element, channel: Element) -> str:
    """Give the name of the track that a channel belongs to, or its role."""
    return around.get("name") or channel.get("name") or channel.get("role") or "channel"


def _devices(
    archive: zipfile.ZipFile, channel: Element, track: str, reading: Reading
) -> Iterator[Value]:
    devices = channel.child("Devices")
    for device in devices.children if devices else []:
        enabled = device.said("Enabled")
        name = device.get("deviceName") or device.get("name") or device.name
        yield fields.effect(
            name,
            track=track,
            form=_PLUGINS.get(device.name, device.name),
            version=scalars.text(device.get("pluginVersion")),
            preset=_preset(device),
            state_sha256=_state(archive, device, reading),
            bypass={"true": False, "false": True}.get((enabled or "").lower()),
        )


def _preset(device: Element) -> str | None:
    """Give the name that the user sees, where it is not the plugin's own."""
    name = scalars.text(device.get("name"))
    return name if name != device.get("deviceName") and device.get("deviceName") else None


def _state(archive: zipfile.ZipFile, device: Element, reading: Reading) -> str | None:
    state = device.child("State")
    path = state.get("path") if state else None
    if not path:
        return None
    try:
        return digest_parts(_member(archive, path, _STATE_MAX), Algorithm.SHA256).hex
    except _ZIP_TROUBLE as error:
        reading.puzzle(path[:200], f"the state of a device cannot be read: {error}")
        return None
