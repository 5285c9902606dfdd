"""Workstations that write XML: Ableton Live sets (``.als``, packed with gzip or not) and DAWproject (a zip).

Of a set: version, tempo and meter with their automation, the scale, and the devices of each track. A set says no sample
rate: Live uses the audio device's. A VST2 plugin's version is a whole number; VST3 and Audio Unit plugins have none
here. A DAWproject says the version of each plugin and carries their states, as Bitwig, Studio One and Cubase write it.

Source: the DAWproject 1.0 schema (github.com/bitwig/dawproject); sets are read as Live 8 to 12 write them.

Invariant: no more is unpacked than a bound, no clip or note stays in memory, no path is written.
"""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Iterator
from types import SimpleNamespace
from typing import BinaryIO, Final
from xml.etree.ElementTree import Element

from twice.assets.importers.result import Reading, Value, drop_none, to_number, to_text
from twice.assets.media.sniff import HEAD, Damaged, decoding, load_library
from twice.foundation.digests import Algorithm, digest_bytes

PROJECT: Final = "project.xml"
BYTES_MAX: Final = 256 << 20
DEPTH_MAX: Final = 256
ELEMENTS_MAX: Final = 8_000_000
_PIECE: Final = 8 << 20
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
_TEMPO: Final = "/audio/tempo_bpm"
_METER: Final = "/audio/time_signature"


def _parse_xml(data: bytes, expected: str) -> Element:
    """Read a document whose first element is the expected one; what is in clips and notes is dropped on the way."""
    xml = load_library("defusedxml.ElementTree")
    # An old expat reads a tag that comes in pieces from its start each time, so the pieces are large.
    pieces = (data[at : at + _PIECE] for at in range(0, len(data), _PIECE))
    source = SimpleNamespace(read=lambda _size: next(pieces, b""))
    count = depth = 0
    root = Element("nothing")
    with decoding("the XML parser"):
        try:
            for event, element in xml.iterparse(source, ("start", "end"), forbid_dtd=True):
                root = root if depth else element
                count += event == "start"
                depth += 1 if event == "start" else -1
                if depth > DEPTH_MAX or count > ELEMENTS_MAX:
                    raise Damaged(f"it is nested deeper than {DEPTH_MAX}, or has too many elements")
                if event == "end" and element.tag in _SKIPPED:
                    element.clear()
        except (xml.DTDForbidden, xml.EntitiesForbidden, xml.ExternalReferenceForbidden) as error:
            raise Damaged("it has a DOCTYPE, which could declare entities") from error
    if root.tag != expected:
        raise Damaged(f"its first element is {root.tag[:40]}, not {expected}")
    return root


def _value_of(element: Element, path: str) -> str | None:
    found = element.find(path)
    return None if found is None else found.get("Value", found.get("value"))


def read_ableton(file: BinaryIO, reading: Reading, *, is_packed: bool) -> None:
    """Read an Ableton Live set.

    Raises:
        Damaged: it is none, or not whole, or beyond a bound.
    """
    stream = gzip.GzipFile(fileobj=file) if is_packed else file
    with decoding("gzip"):
        data = stream.read(HEAD)
        if b"<Ableton" not in data:
            raise Damaged("there is no Live set in it")
        reading.begin("Ableton set")
        data += stream.read(BYTES_MAX)
    if len(data) > BYTES_MAX:
        raise Damaged(f"it unpacks to more than {BYTES_MAX >> 20} MiB")
    root = _parse_xml(data, "Ableton")
    _, _, version = root.get("Creator", "").partition("Ableton Live ")
    reading.name_daw("Ableton Live", "Ableton Live", to_text(version))
    masters = [each for tag in _MASTERS for each in root.findall(f"LiveSet/{tag}")][:1]
    if not masters:
        reading.add_unparsed("set", "it has no main track, so no tempo")
    for master in masters:
        tempo = _read_automated(master, "Tempo", reading)
        reading.settle(_TEMPO, tempo, "Tempo", "it is automated")
        meters = map(_to_live_meter, _read_automated(master, "TimeSignature", reading))
        reading.settle(_METER, meters, "TimeSignature", "it is automated")
    tone = to_number(_value_of(root, "LiveSet/ScaleInformation/RootNote"))
    scale = _value_of(root, "LiveSet/ScaleInformation/Name")
    if isinstance(tone, int) and 0 <= tone < 12 and scale:
        key = f"{_KEYS[tone]} {scale}"
        if _value_of(root, "LiveSet/InKey") == "true" and not scale.isdigit():
            reading.set("/audio/key", key)
        else:
            reading.add_other("scale", key)  # A scale that is not in use is no key.
    tracks = [*root.findall("LiveSet/Tracks/*"), *masters]
    chain = [each for track in tracks if track.tag in _TRACKS for each in _read_live_devices(track)]
    reading.set("/audio/chain", chain)


def _read_automated(master: Element, name: str, reading: Reading) -> list[str | None]:
    """Give the value of a parameter of the mixer, and those of its automation."""
    found = [master.find(f"{chain}/Mixer/{name}") for chain in ("DeviceChain", "MasterChain")]
    parameter = next((each for each in found if each is not None), None)
    if parameter is None:
        reading.add_unparsed(name, "the main track does not say it")
        return []
    target = next(parameter.iterfind("AutomationTarget"), Element("none")).get("Id")
    envelopes = [
        envelope.findall("Automation/Events/*")
        for envelope in master.iterfind("AutomationEnvelopes/Envelopes/*")
        if target is not None and _value_of(envelope, "EnvelopeTarget/PointeeId") == target
    ]
    envelopes.append(parameter.findall("ArrangerAutomation/Events/*"))  # Live 8
    return [_value_of(parameter, "Manual")] + [
        event.get("Value")
        for events in envelopes
        for event in events
        if len(events) == 1 or to_number(event.get("Time")) != _BEFORE_START
    ]


def _to_live_meter(said: str | None) -> str | None:
    """Give a time signature from its number: beats less one, and 99 for each halving of the note."""
    code = to_number(said)
    if isinstance(code, int) and 0 <= code < 99 * 5:
        return f"{code % 99 + 1}/{1 << code // 99}"
    return said


def _read_live_devices(track: Element) -> Iterator[Value]:
    named = _value_of(track, "Name/UserName") or _value_of(track, "Name/EffectiveName")
    name = "main" if track.tag in _MASTERS else named or track.tag
    chain = track.find("DeviceChain")
    while chain is not None and chain.find("Devices") is None:
        chain = chain.find("DeviceChain")
    for device in chain.findall("Devices/*") if chain is not None else []:
        found = _describe_live_device(device, name)
        yield found
        for inner in device.iterfind("Branches/*//Devices/*"):  # a rack
            found_inner = _describe_live_device(inner, f"{name}, {device.tag}")
            yield found_inner | ({"bypass": True} if found.get("bypass") else {})


def _describe_live_device(device: Element, track: str) -> dict[str, Value]:
    bypass = {"true": False, "false": True}.get(_value_of(device, "On/Manual") or "")
    name, form, version = device.tag, "Live", None
    for kind, (known, key) in _LIVE_PLUGINS.items():
        info = device.find(f"PluginDesc/{kind}")
        if info is not None:
            name, form = _value_of(info, key) or name, known
            said = _value_of(info, "Version")
            version = to_text(said) if known == "VST2" and said != "0" else None
    return drop_none(name=name, track=track, format=form, version=version, bypass=bypass)


def read_dawproject(file: BinaryIO, reading: Reading) -> None:
    """Read a zip, which is a DAWproject where one of its members is ``project.xml``.

    Raises:
        Damaged: it is none, or not whole, or beyond a bound.
    """
    with decoding("zip"):
        archive = zipfile.ZipFile(file)
    if (named := archive.namelist().count(PROJECT)) != 1:
        why = f"its {PROJECT} stands twice" if named else f"it has no {PROJECT}"
        raise Damaged(f"{why}, so it is no DAWproject that can be read")
    reading.begin("DAWproject")
    left = BYTES_MAX

    def unpack(name: str) -> bytes:
        nonlocal left
        with decoding("zip"):
            # A member never gives more than the size that is said of it.
            left -= archive.getinfo(name).file_size
            if left < 0:
                raise Damaged(f"it unpacks to more than {BYTES_MAX >> 20} MiB")
            return archive.read(name)

    root = _parse_xml(unpack(PROJECT), "Project")
    said = next(root.iterfind("Application"), Element("Application"))
    reading.name_daw("DAWproject", to_text(said.get("name")), to_text(said.get("version")))
    reading.add_other("format version", root.get("version"))
    places = ("Transport/Tempo", "Arrangement/TempoAutomation/RealPoint")
    tempos = [each.get("value") for place in places for each in root.iterfind(place)]
    reading.settle(_TEMPO, tempos, "Tempo", "it is automated")
    places = ("Transport/TimeSignature", "Arrangement/TimeSignatureAutomation/*")
    points = [each for place in places for each in root.iterfind(place)]
    meters = [f"{each.get('numerator')}/{each.get('denominator')}" for each in points]
    reading.settle(_METER, meters, "TimeSignature", "it is automated")
    chain: list[Value] = []
    for around in root.iterfind("Structure//*"):
        for channel in around.findall("Channel"):
            track = around.get("name") or channel.get("name") or channel.get("role") or "channel"
            for device in channel.iterfind("Devices/*"):
                name, own = to_text(device.get("name")), device.get("deviceName")
                is_on = (_value_of(device, "Enabled") or "").lower()
                found = drop_none(
                    name=own or name or device.tag,
                    track=track,
                    format=_PLUGINS.get(device.tag, device.tag),
                    version=to_text(device.get("pluginVersion")),
                    preset=name if own and name != own else None,
                    bypass={"true": False, "false": True}.get(is_on),
                )
                for path in (each.get("path", "") for each in device.iterfind("State")):
                    try:
                        found["state_sha256"] = digest_bytes(unpack(path), Algorithm.SHA256).hex
                    except Damaged as damage:
                        reading.add_unparsed(path[:200], f"the state of a device: {damage}")
                chain.append(found)
    reading.set("/audio/chain", chain)
