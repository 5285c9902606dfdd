"""REAPER projects: version, tempo, meter, sample rate, and the effects of each track in order.

A project says no plugin's version, so none is said here. ``BYPASS`` stands before the effect that it is
about. A sample rate that the project does not force is not the session's: the device's was used.

Invariant: effects come in the order in which sound goes through them, the master's last.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final

from twice.assets.importers import fields, scalars
from twice.assets.importers.imported import Reading, Value, distinct
from twice.assets.importers.rpp import Block, RppRefused, project, words
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.printable import pluralize

_EFFECTS: Final = ("VST", "AU", "JS", "DX", "LV2", "CLAP", "VIDEO_EFFECT")
_CHAINS: Final = ("FXCHAIN", "TAKEFX", "MASTERFXLIST")
_FORMATS: Final = {
    "VST": "VST2", "VSTI": "VST2", "VST3": "VST3", "VST3I": "VST3", "AU": "AU", "AUI": "AU",
    "CLAP": "CLAP", "CLAPI": "CLAP", "DX": "DX", "DXI": "DX", "LV2": "LV2", "LV2I": "LV2", "JS": "JS",
}  # fmt: skip
_KEPT: Final = ("RENDER_FMT", "RENDER_DITHER", "RENDER_RESAMPLE", "RENDER_NORMALIZE")
_EFFECTS_MAX: Final = 4096


def read_reaper(data: bytes, reading: Reading) -> None:
    """Read a project's bytes into a reading."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reading.puzzle("text", f"it is not UTF-8 at byte {error.start}")
        text = data.decode("utf-8", "replace")
    try:
        root = project(text)
    except RppRefused as error:
        reading.puzzle("project", str(error))
        return
    reading.say(fields.DAW_NAME, "REAPER")
    _version(root, reading)
    reading.say(fields.DAW_PROJECT, digest_bytes(data, Algorithm.SHA256).hex)
    _tempo(root, reading)
    _rate(root, reading)
    for key in _KEPT:
        for line in root.lines(key):
            reading.keep(key, " ".join(line[1:]))
    effects = list(_all_effects(root, reading))
    if len(effects) > _EFFECTS_MAX:
        reading.puzzle("effects", f"{pluralize(len(effects), 'effect')} are more than are read")
    else:
        reading.say(fields.CHAIN, effects)


def _version(root: Block, reading: Reading) -> None:
    said = root.words[2] if len(root.words) > 2 else ""
    version, _, system = said.partition("/")
    reading.generator_version = scalars.text(version)
    reading.say(fields.DAW_VERSION, reading.generator_version)
    reading.keep("platform", scalars.text(system))


def _tempo(root: Block, reading: Reading) -> None:
    tempos: list[Value] = []
    meters: list[Value] = []
    for line in root.lines("TEMPO"):
        tempo = scalars.number(line[1]) if len(line) > 1 else None
        if tempo is None or not 0 < tempo <= 10**6:
            reading.puzzle("TEMPO", f"{' '.join(line)[:80]!r} says no tempo")
        else:
            tempos.append(tempo)
        meters += _meter(line[2:4], reading)
    for envelope in root.blocks("TEMPOENVEX"):
        for point in envelope.lines("PT"):
            tempo = scalars.number(point[2]) if len(point) > 2 else None
            if tempo is not None and 0 < tempo <= 10**6:
                tempos.append(tempo)
            packed = scalars.count(point[4]) if len(point) > 4 else None
            if packed is not None and packed >> 16:
                meters.append(f"{packed & 0xFFFF}/{packed >> 16}")
    for pointer, values in ((fields.TEMPO, tempos), (fields.METER, meters)):
        known = distinct(values)
        if len(known) == 1:
            reading.say(pointer, known[0])
        elif known:
            reading.doubt(
                pointer, known[:64], f"the project changes it: {pluralize(len(known), 'value')}"
            )


def _meter(pair: list[str], reading: Reading) -> Iterator[Value]:
    beats = [scalars.count(each) for each in pair]
    if len(beats) == 2 and all(each is not None and each < 10**4 for each in beats):
        yield f"{beats[0]}/{beats[1]}"
    elif pair:
        reading.puzzle("TEMPO", f"{' '.join(pair)[:80]!r} is no time signature")


def _rate(root: Block, reading: Reading) -> None:
    for line in root.lines("SAMPLERATE"):
        rate = scalars.count(line[1]) if len(line) > 1 else None
        if rate is None:
            reading.puzzle("SAMPLERATE", f"{' '.join(line)[:80]!r} says no rate")
        elif len(line) > 2 and line[2] == "1":
            reading.say(fields.SAMPLE_RATE, rate)
        else:
            why = "the project does not force its rate, so the audio device's was used"
            reading.doubt(fields.SAMPLE_RATE, [rate], why)


def _all_effects(root: Block, reading: Reading) -> Iterator[Value]:
    for at, track in enumerate(root.blocks("TRACK"), 1):
        name = next((line[1] for line in track.lines("NAME") if len(line) > 1), "") or f"track {at}"
        if any(line[1:2] == ["1"] for line in track.lines("MUTESOLO")):
            reading.keep(f"muted: {name}", value=True)
        if any(True for _ in track.blocks("FREEZE")):
            reading.puzzle(name[:80], "the track is frozen; effects that went into it are not read")
        for item in track.blocks("ITEM"):
            _item(item, name, reading)
            for chain in item.blocks(*_CHAINS):
                yield from _effects(chain, f"{name}, item", reading)
        off = ["FX", "0"] in list(track.lines("FX"))
        for chain in track.blocks(*_CHAINS):
            yield from _effects(chain, name, reading, off=off)
    off = ["MASTER_FX", "0"] in list(root.lines("MASTER_FX"))
    for chain in root.blocks("MASTERFXLIST"):
        yield from _effects(chain, "master", reading, off=off)


def _item(item: Block, track: str, reading: Reading) -> None:
    """Say what of an item is not read: other takes than the one that sounds, and projects in it."""
    place = f"line {item.line} ({track[:60]})"
    if any(True for _ in item.lines("TAKE")) and any(True for _ in item.blocks("TAKEFX")):
        reading.puzzle(place, "it has several takes; one sounds, and the effects of all are listed")
    if any(line[1:2] == ["1"] for line in item.lines("MUTE")):
        reading.keep(f"muted: {track}, item of line {item.line}", value=True)
    waiting = list(item.blocks("SOURCE"))
    while waiting:
        source = waiting.pop()
        if source.words[1:2] == ["RPP_PROJECT"]:
            file = next((line[1] for line in source.lines("FILE") if len(line) > 1), "?")
            reading.puzzle(place, f"the project {file[:80]!r} sounds in it, and is not read")
        waiting += source.blocks("SOURCE")


def _effects(chain: Block, track: str, reading: Reading, *, off: bool = False) -> Iterator[Value]:
    """Give the effects of a chain; what stands before an effect or after it belongs to that one.

    Args:
        chain: the block.
        track: what it sits on.
        reading: takes what is not understood.
        off: whether the whole chain is switched off.
    """
    bypass = True if off else None
    found: dict[str, Value] | None = None
    for item in chain.items:
        line = words(item) if isinstance(item, str) else []
        if line[:1] == ["PRESETNAME"] and len(line) > 1 and found is not None:
            if scalars.text(line[1]):
                found["preset"] = line[1]
            continue
        begins = isinstance(item, Block) and item.name in (*_EFFECTS, "CONTAINER")
        if found is not None and (begins or line[:1] == ["BYPASS"]):
            yield found
            found = None
        if line[:1] == ["BYPASS"] and len(line) > 1:
            bypass = off or "1" in line[1:3]
        elif isinstance(item, Block) and begins:
            if item.name == "CONTAINER":
                why = "a container holds effects; how they are routed is not read"
                reading.puzzle(f"line {item.line}", why)
                yield from _effects(item, f"{track}, container", reading, off=bypass is True)
            else:
                found = _effect(item, track, bypass)
            bypass = True if off else None
    if found is not None:
        yield found


def _effect(block: Block, track: str, bypass: bool | None) -> dict[str, Value]:
    said = block.words[1] if len(block.words) > 1 else block.name
    prefix, colon, name = said.partition(": ")
    known = _FORMATS.get(prefix.upper()) if colon else _FORMATS.get(block.name)
    state = _state(block)
    return fields.effect(
        (name if colon and known else said).strip() or block.name,
        track=track,
        form=known,
        state_sha256=digest_bytes(state, Algorithm.SHA256).hex if state else None,
        bypass=bypass,
    )


def _state(block: Block) -> bytes:
    """Give what a plugin's state is: base64 unpacked where it is that, the lines as text where not."""
    lines = [each for each in block.items if isinstance(each, str)]
    try:
        return b"".join(base64.b64decode(each, validate=True) for each in lines)
    except (binascii.Error, ValueError):
        return "\n".join(lines).encode("utf-8", "surrogatepass")
