"""Workstations that write XML: Ableton Live sets (``.als``, packed with gzip or not) and DAWproject (a zip).

Of a set: version, tempo and meter with their automation, the scale, and the devices of each track. A set says no sample
rate: Live uses the audio device's. A VST2 plugin's version is a whole number; VST3 and Audio Unit plugins have none
here. A DAWproject says the version of each plugin and carries their states, as Bitwig, Studio One and Cubase write it.

Source: the DAWproject 1.0 schema (github.com/bitwig/dawproject); sets are read as Live 8 to 12 write them.

Invariant: what is unpacked is read in pieces up to a bound, clips and notes never become a tree, no path is written.
"""

from __future__ import annotations

import gzip
import lzma
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, Any, BinaryIO, Final
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from twice.assets.importers.result import (
    Reading,
    Value,
    drop_none,
    to_integer,
    to_meter,
    to_number,
    to_tempo,
    to_text,
)
from twice.assets.media.sniff import load_library
from twice.foundation.digests import Algorithm, digest_parts

PROJECT: Final = "project.xml"
BYTES_MAX: Final = 256 << 20
DEPTH_MAX: Final = 256
ELEMENTS_MAX: Final = 8_000_000
TOKEN_MAX: Final = 4 << 20
"""A tag or comment longer than this: a parser that gets it in pieces reads it from its start each time."""
_PIECE: Final = 1 << 20
_SKIPPED: Final = frozenset({
    "ClipSlotList", "MidiClip", "AudioClip", "KeyTracks", "Notes", "WarpMarkers", "SampleRef", "BrowserContentPath",
    "ViewStates", "ParameterSettings", "Warps", "Markers", "Clips",
})  # fmt: skip
_MASTERS: Final = ("MainTrack", "MasterTrack")
_TRACKS: Final = ("MidiTrack", "AudioTrack", "GroupTrack", "ReturnTrack", *_MASTERS)
_KEYS: Final = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
_LIVE_PLUGINS: Final = {
    "VstPluginInfo": ("VST2", "PlugName"), "Vst3PluginInfo": ("VST3", "Name"), "AuPluginInfo": ("AU", "Name"),
}  # fmt: skip
_PLUGINS: Final = {
    "Vst2Plugin": "VST2",
    "Vst3Plugin": "VST3",
    "AuPlugin": "AU",
    "ClapPlugin": "CLAP",
}
_BEFORE_START: Final = -63072000
"""The time of the automation point that stands for the value itself."""
_TROUBLE: Final = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, EOFError, OSError, ValueError,
    KeyError,
)  # fmt: skip


class _XmlRefused(ValueError):
    """A text is not XML within the bounds; the message says why."""


class _BoundedTree(TreeBuilder):
    """Builds a tree, leaves out what is in skipped elements, and counts."""

    def __init__(self) -> None:
        super().__init__()
        self._count = self._depth = self._skipping = 0

    def start(self, tag: Any, attrs: dict[Any, Any], /) -> Any:
        self._count += 1
        self._depth += 1
        if self._depth > DEPTH_MAX or self._count > ELEMENTS_MAX:
            raise _XmlRefused(
                f"it is nested deeper than {DEPTH_MAX}, or has more than {ELEMENTS_MAX} elements"
            )
        if self._skipping or tag in _SKIPPED:
            self._skipping += 1
            return None
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Any:
        self._depth -= 1
        if self._skipping:
            self._skipping -= 1
            return None
        return super().end(tag)

    def data(self, data: str, /) -> None:
        if not self._skipping:
            super().data(data)


def _parse_xml(pieces: Iterable[bytes]) -> Element:
    """Read a document; clips and notes are left out.

    Raises:
        _XmlRefused: it is no XML, has a DOCTYPE, or is beyond the bounds.
    """
    xml = load_library("defusedxml.ElementTree")
    parser = xml.DefusedXMLParser(target=_BoundedTree(), forbid_dtd=True)
    size = 0
    try:
        for piece in pieces:
            size += len(piece)
            parser.feed(piece)
            if size - parser.parser.CurrentByteIndex > TOKEN_MAX + len(piece):
                raise _XmlRefused(f"a tag is longer than {TOKEN_MAX >> 20} MiB")
        root: Element = parser.close()
    except (xml.DTDForbidden, xml.EntitiesForbidden, xml.ExternalReferenceForbidden) as error:
        raise _XmlRefused("it has a DOCTYPE, which could declare entities") from error
    except ParseError as error:
        raise _XmlRefused(str(error)) from error
    except LookupError as error:
        raise _XmlRefused(f"its encoding cannot be read: {error}") from error
    return root


class _Unpacking:
    """Gives what a file and its members unpack to, up to one bound for all of them."""

    def __init__(self) -> None:
        self._left = BYTES_MAX

    def read(self, stream: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
        while piece := stream.read(_PIECE):
            self._left -= len(piece)
            if self._left < 0:
                raise _XmlRefused(f"it unpacks to more than {BYTES_MAX >> 20} MiB")
            yield piece


def read_ableton(file: BinaryIO, reading: Reading, *, is_packed: bool) -> None:
    """Read an Ableton Live set."""
    reading.begin("Ableton set")
    try:
        root = _parse_xml(_Unpacking().read(gzip.GzipFile(fileobj=file) if is_packed else file))
    except _TROUBLE as error:
        reading.add_unparsed("set", str(error))
        return
    if root.tag != "Ableton":
        reading.add_unparsed("set", f"its first element is {root.tag[:40]}, not Ableton")
        return
    creator = root.get("Creator", "")
    version = to_text(creator.removeprefix("Ableton Live").strip())
    reading.name_generator("Ableton Live", version)
    reading.set("/audio/daw/name", "Ableton Live")
    reading.set("/audio/daw/project_sha256", reading.sha256)
    if creator.startswith("Ableton Live") and version:
        reading.set("/audio/daw/version", version)
    else:
        reading.add_unparsed("Creator", f"{creator[:80]!r} names no version of Live")
    for key in ("MajorVersion", "MinorVersion", "SchemaChangeCount"):
        reading.add_other(key, root.get(key))
    masters = [each for tag in _MASTERS for each in root.findall(f"LiveSet/{tag}")]
    for master in masters[:1]:
        _read_live_tempo(master, reading)
    if not masters:
        reading.add_unparsed("set", "it has no main track, so no tempo")
    tone = to_integer(_value_of(root, "LiveSet/ScaleInformation/RootNote"))
    scale = _value_of(root, "LiveSet/ScaleInformation/Name")
    if tone is not None and scale and 0 <= tone < 12:
        key = f"{_KEYS[tone]} {scale}"
        if _value_of(root, "LiveSet/InKey") == "true" and not scale.isdigit():
            reading.set("/audio/key", key)
        else:
            reading.add_other("scale", key)  # A scale that is not in use is no key.
    tracks = [*root.findall("LiveSet/Tracks/*"), *masters[:1]]
    chain = [each for track in tracks if track.tag in _TRACKS for each in _read_live_devices(track)]
    reading.set("/audio/chain", chain)


def _value_of(element: Element, path: str) -> str | None:
    found = element.find(path)
    return None if found is None else found.get("Value", found.get("value"))


def _read_live_tempo(master: Element, reading: Reading) -> None:
    for name, pointer in (
        ("Tempo", "/audio/tempo_bpm"),
        ("TimeSignature", "/audio/time_signature"),
    ):
        found = [master.find(f"{chain}/Mixer/{name}") for chain in ("DeviceChain", "MasterChain")]
        parameter = next((each for each in found if each is not None), None)
        if parameter is None:
            reading.add_unparsed(name, "the main track does not say it")
            continue
        target = parameter.find("AutomationTarget")
        envelopes = [
            envelope.findall("Automation/Events/*")
            for envelope in master.iterfind("AutomationEnvelopes/Envelopes/*")
            if target is not None
            and _value_of(envelope, "EnvelopeTarget/PointeeId") == target.get("Id")
        ]
        envelopes.append(parameter.findall("ArrangerAutomation/Events/*"))  # Live 8
        said = [_value_of(parameter, "Manual")]
        said += [
            event.get("Value")
            for events in envelopes
            for event in events
            if len(events) == 1 or to_number(event.get("Time")) != _BEFORE_START
        ]
        values = [to_tempo(each) if name == "Tempo" else _to_live_meter(each) for each in said]
        for text, value in zip(said, values, strict=True):
            if value is None and text is not None:
                reading.add_unparsed(name, f"{text!r} is no value for it"[:200])
        reading.settle(pointer, values, "it is automated")


def _to_live_meter(said: str | None) -> str | None:
    """Give a time signature from its number: beats less one, and 99 for each halving of the note."""
    code = to_integer(said)
    return None if code is None or not 0 <= code < 99 * 5 else f"{code % 99 + 1}/{1 << code // 99}"


def _read_live_devices(track: Element) -> Iterator[Value]:
    named = _value_of(track, "Name/UserName") or _value_of(track, "Name/EffectiveName")
    name = "main" if track.tag in _MASTERS else named or track.tag
    chain = track.find("DeviceChain")
    while chain is not None and chain.find("Devices") is None:
        chain = chain.find("DeviceChain")
    for device in chain.findall("Devices/*") if chain is not None else []:
        yield _describe_live_device(device, name)
        is_off = _value_of(device, "On/Manual") == "false"
        for inner in device.iterfind("Branches/*//Devices/*"):  # a rack
            found = _describe_live_device(inner, f"{name}, {device.tag}")
            yield found | {"bypass": True} if is_off else found


def _describe_live_device(device: Element, track: str) -> dict[str, Value]:
    bypass = {"true": False, "false": True}.get(_value_of(device, "On/Manual") or "")
    for kind, (form, key) in _LIVE_PLUGINS.items():
        info = device.find(f"PluginDesc/{kind}")
        if info is not None:
            name, said = _value_of(info, key) or device.tag, to_text(_value_of(info, "Version"))
            version = said if form == "VST2" and said != "0" else None
            return drop_none(name=name, track=track, format=form, version=version, bypass=bypass)
    return drop_none(name=device.tag, track=track, format="Live", bypass=bypass)


def read_dawproject(file: BinaryIO, reading: Reading) -> None:
    """Read a zip, which is a DAWproject where one of its members is ``project.xml``."""
    try:
        with zipfile.ZipFile(file) as archive:
            named = sum(each.filename == PROJECT for each in archive.infolist())
            if named != 1:
                why = f"its {PROJECT} stands twice" if named else f"it has no {PROJECT}"
                reading.add_unparsed(
                    reading.file, f"{why}, so it is no DAWproject that can be read"
                )
                return
            reading.begin("DAWproject")
            unpacking = _Unpacking()
            with archive.open(PROJECT) as member:
                root = _parse_xml(unpacking.read(member))
            if root.tag != "Project":
                raise _XmlRefused(f"its first element is {root.tag[:40]}, not Project")
            _read_project(root, archive, unpacking, reading)
    except _TROUBLE as error:
        reading.add_unparsed(PROJECT, str(error) or type(error).__name__)


def _read_project(
    root: Element, archive: zipfile.ZipFile, unpacking: _Unpacking, reading: Reading
) -> None:
    said = next(root.iterfind("Application"), Element("Application"))
    version = to_text(said.get("version"))
    reading.name_generator("DAWproject", version)
    reading.set("/audio/daw/name", to_text(said.get("name")))
    reading.set("/audio/daw/version", version)
    reading.set("/audio/daw/project_sha256", reading.sha256)
    reading.add_other("format version", root.get("version"))
    points = [
        *root.iterfind("Transport/Tempo"),
        *root.iterfind("Arrangement/TempoAutomation/RealPoint"),
    ]
    tempos = [to_tempo(each.get("value")) for each in points]
    reading.settle("/audio/tempo_bpm", tempos, "it is automated")
    points = [
        *root.iterfind("Transport/TimeSignature"),
        *root.iterfind("Arrangement/TimeSignatureAutomation/*"),
    ]
    meters = [to_meter(each.get("numerator"), each.get("denominator")) for each in points]
    reading.settle("/audio/time_signature", meters, "it is automated")
    chain: list[Value] = []
    for around in root.iterfind("Structure//*"):
        for channel in around.findall("Channel"):
            track = around.get("name") or channel.get("name") or channel.get("role") or "channel"
            for device in channel.iterfind("Devices/*"):
                state, path = (
                    None,
                    "".join(each.get("path", "") for each in device.iterfind("State")),
                )
                try:
                    if path:
                        with archive.open(path) as member:
                            state = digest_parts(unpacking.read(member), Algorithm.SHA256).hex
                except _TROUBLE as error:
                    why = f"the state of a device cannot be read: {error}"
                    reading.add_unparsed(path[:200], why)
                chain.append(_describe_device(device, track, state))
    reading.set("/audio/chain", chain)


def _describe_device(device: Element, track: str, state: str | None) -> dict[str, Value]:
    name, own = to_text(device.get("name")), device.get("deviceName")
    return drop_none(
        name=own or name or device.tag,
        track=track,
        format=_PLUGINS.get(device.tag, device.tag),
        version=to_text(device.get("pluginVersion")),
        preset=name if own and name != own else None,
        state_sha256=state,
        bypass={"true": False, "false": True}.get((_value_of(device, "Enabled") or "").lower()),
    )
