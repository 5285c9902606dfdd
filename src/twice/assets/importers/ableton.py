"""Ableton Live sets (``.als``): XML packed with gzip, or unpacked by somebody.

Read are the version, tempo and meter with their automation, the scale, and the devices of each track. A
set says no sample rate: Live uses the audio device's. A VST2 plugin's version is a whole number; VST3
and Audio Unit plugins have none here.

Invariant: a packed file is unpacked in pieces and parsed as it comes; clips' notes never become a tree.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

from twice.assets.containers.source import Source
from twice.assets.containers.unpacking import gunzipped
from twice.assets.importers import fields, scalars
from twice.assets.importers.imported import Reading, Value, distinct
from twice.assets.importers.xmltree import Element, XmlRefused, tree
from twice.foundation.digests import Algorithm, digest_parts
from twice.foundation.printable import pluralize

_SKIPPED: Final = (
    "ClipSlotList", "MidiClip", "AudioClip", "KeyTracks", "Notes", "WarpMarkers",
    "SampleRef", "BrowserContentPath", "ViewStates", "ParameterSettings",
)  # fmt: skip
_MASTERS: Final = ("MainTrack", "MasterTrack")
_TRACKS: Final = ("MidiTrack", "AudioTrack", "GroupTrack", "ReturnTrack", *_MASTERS)
_KEYS: Final = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
_PLUGINS: Final = {
    "VstPluginInfo": ("VST2", "PlugName"), "Vst3PluginInfo": ("VST3", "Name"), "AuPluginInfo": ("AU", "Name"),
}  # fmt: skip
_GZIP: Final = b"\x1f\x8b"
_BEFORE_START: Final = -63072000.0
"""The time of the automation point that stands for the value itself."""


def read_ableton(source: Source, reading: Reading) -> None:
    """Read a set."""
    packed = source.read(0, 2) == _GZIP
    try:
        root = tree(gunzipped(source) if packed else source.pieces(), skipped=_SKIPPED)
    except (zlib.error, EOFError, XmlRefused) as error:
        reading.puzzle("set", str(error))
        return
    if root.name != "Ableton":
        reading.puzzle("set", f"its first element is {root.name[:40]}, not Ableton")
        return
    reading.say(fields.DAW_NAME, "Ableton Live")
    reading.say(fields.DAW_PROJECT, digest_parts(source.pieces(), Algorithm.SHA256).hex)
    _version(root, reading)
    live = root.child("LiveSet") or root
    master = next((each for each in live.children if each.name in _MASTERS), None)
    if master is None:
        reading.puzzle("set", "it has no main track, so no tempo")
    else:
        _tempo(master, reading)
    _scale(live, reading)
    tracks = live.child("Tracks")
    chain = [
        each
        for track in [*(tracks.children if tracks else []), *([master] if master else [])]
        if track.name in _TRACKS
        for each in _devices(track)
    ]
    reading.say(fields.CHAIN, chain)


def _version(root: Element, reading: Reading) -> None:
    creator = root.get("Creator") or ""
    version = creator.removeprefix("Ableton Live").strip()
    if creator.startswith("Ableton Live") and scalars.text(version):
        reading.generator_version = version
        reading.say(fields.DAW_VERSION, version)
    else:
        reading.puzzle("Creator", f"{creator[:80]!r} names no version of Live")
    for key in ("MajorVersion", "MinorVersion", "SchemaChangeCount"):
        reading.keep(key, root.get(key))


def _tempo(master: Element, reading: Reading) -> None:
    mixer = master.child("DeviceChain", "Mixer") or master
    for name, pointer in (("Tempo", fields.TEMPO), ("TimeSignature", fields.METER)):
        parameter = mixer.child(name)
        if parameter is None:
            reading.puzzle(name, "the main track does not say it")
            continue
        said = [parameter.said("Manual"), *_automated(master, parameter)]
        values = [_tempo_of(each) if name == "Tempo" else _meter_of(each) for each in said]
        if None in values:
            reading.puzzle(name, f"{said[values.index(None)]!r} is no value for it"[:200])
        known = distinct(each for each in values if each is not None)
        if len(known) == 1:
            reading.say(pointer, known[0])
        elif known:
            reading.doubt(pointer, known[:64], f"it is automated: {pluralize(len(known), 'value')}")


def _automated(master: Element, parameter: Element) -> Iterator[str | None]:
    """Give the values of a parameter's automation."""
    target = parameter.child("AutomationTarget")
    wanted = target.get("Id") if target else None
    envelopes = master.child("AutomationEnvelopes", "Envelopes")
    for envelope in envelopes.children if envelopes and wanted else []:
        if envelope.said("EnvelopeTarget", "PointeeId") != wanted:
            continue
        events = envelope.child("Automation", "Events")
        for event in events.children if events else []:
            if (
                scalars.number(event.get("Time")) != _BEFORE_START
                or len(events.children if events else []) == 1
            ):
                yield event.get("Value")


def _tempo_of(said: str | None) -> Value | None:
    tempo = scalars.number(said)
    return tempo if tempo is not None and 0 < tempo <= 10**6 else None


def _meter_of(said: str | None) -> Value | None:
    """Give a time signature from its number: beats less one, and 99 for each halving of the note."""
    code = scalars.whole(said)
    if code is None or not 0 <= code < 99 * 5:
        return None
    return f"{code % 99 + 1}/{1 << code // 99}"


def _scale(live: Element, reading: Reading) -> None:
    """Read the set's scale; only where it is in use is it the key."""
    root, name = live.said("ScaleInformation", "RootNote"), live.said("ScaleInformation", "Name")
    at = scalars.whole(root)
    if at is None or name is None or not 0 <= at < 12:
        return
    if live.said("InKey") == "true" and not name.isdigit():
        reading.say(fields.KEY, f"{_KEYS[at]} {name}")
    else:
        reading.keep("scale", f"{_KEYS[at]} {name}")


def _devices(track: Element) -> Iterator[Value]:
    said = track.said("Name", "UserName") or track.said("Name", "EffectiveName") or track.name
    name = "main" if track.name in _MASTERS else said
    waiting = [track.child("DeviceChain")]
    while waiting:
        chain = waiting.pop(0)
        devices = chain.child("Devices") if chain else None
        if chain is None:
            continue
        if devices is None:
            waiting.append(chain.child("DeviceChain"))
            continue
        for device in devices.children:
            yield _device(device, name)
            yield from _inside(device, name)


def _inside(device: Element, track: str) -> Iterator[Value]:
    """Give the devices of a rack's branches."""
    branches = device.child("Branches")
    off = device.said("On", "Manual") == "false"
    for branch in branches.children if branches else []:
        for each in branch.walk():
            if each.name == "Devices":
                for one in each.children:
                    found = _device(one, f"{track}, {device.name}")
                    yield found | {"bypass": True} if off else found


def _device(device: Element, track: str) -> dict[str, Value]:
    on = device.said("On", "Manual")
    bypass = {"true": False, "false": True}.get(on or "")
    for kind, (form, key) in _PLUGINS.items():
        info = device.child("PluginDesc", kind)
        if info is None:
            continue
        version = info.said("Version") if kind == "VstPluginInfo" else None
        return fields.effect(
            info.said(key) or device.name, track=track, form=form,
            version=scalars.text(version) if version != "0" else None, bypass=bypass,
        )  # fmt: skip
    return fields.effect(device.name, track=track, form="Live", bypass=bypass)
