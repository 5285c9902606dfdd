"""REAPER projects: version, tempo, meter, sample rate, and the effects of each track in order.

A block begins with ``<NAME arguments`` and ends with ``>`` on a line of its own; other lines are words, quoted with
``"``, ``'`` or a backtick where they hold spaces. A project says no plugin's version, so none is said here. A sample
rate that the project does not force is not the session's: the device's was used.

Not read, and reported: frozen effects, projects inside items, the choice between takes, the routing in a container.

Invariant: effects come in the order in which sound goes through them, the master's last.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from twice.assets.importers.result import (
    Reading,
    Value,
    drop_none,
    to_count,
    to_meter,
    to_tempo,
    to_text,
)
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.printable import pluralize

MARK: Final = b"<REAPER_PROJECT"
BYTES_MAX: Final = 128 << 20
DEPTH_MAX: Final = 128
_LINE_MAX: Final = 1 << 20
_EFFECTS_MAX: Final = 4096
_WORD = re.compile(r"""\s*(?:"([^"]*)"?|'([^']*)'?|`([^`]*)`?|(\S+))""")
_EFFECTS: Final = ("VST", "AU", "JS", "DX", "LV2", "CLAP", "VIDEO_EFFECT", "CONTAINER")
_CHAINS: Final = ("FXCHAIN", "TAKEFX", "MASTERFXLIST")
_FORMATS: Final = {
    "VST": "VST2", "VST3": "VST3", "AU": "AU", "CLAP": "CLAP", "DX": "DX", "LV2": "LV2", "JS": "JS",
}  # fmt: skip
_KEPT: Final = ("RENDER_FMT", "RENDER_DITHER", "RENDER_RESAMPLE", "RENDER_NORMALIZE")


class _ProjectDamaged(ValueError):
    """A text is not a whole project; the message says why and on which line."""


@dataclass(slots=True)
class _Block:
    """A block: its words, and in order its lines (as text) and blocks."""

    words: list[str]
    line: int
    items: list[str | _Block] = field(default_factory=list)

    def blocks(self, *names: str) -> Iterator[_Block]:
        """Give the blocks directly in it, of some names."""
        return (each for each in self.items if isinstance(each, _Block) and each.words[0] in names)

    def lines(self, name: str) -> Iterator[list[str]]:
        """Give the lines directly in it that begin with a word, padded with empty words."""
        for each in self.items:
            if isinstance(each, str) and each.startswith(name):
                words = _split_words(each)
                if words[0] == name:
                    yield [*words, "", "", "", ""]


def _split_words(line: str) -> list[str]:
    return ["".join(match) for match in _WORD.findall(line[:_LINE_MAX])] or [""]


def _parse_project(text: str) -> _Block:
    root = _Block([""], 0)
    around = [root]
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if len(around) == 1 and root.items and line:
            raise _ProjectDamaged(f"something stands after its end, on line {number}")
        if line.startswith("<") and len(line) > 1:
            if len(around) > DEPTH_MAX:
                raise _ProjectDamaged(f"it is nested deeper than {DEPTH_MAX}, on line {number}")
            block = _Block(_split_words(line[1:]), number)
            around[-1].items.append(block)
            around.append(block)
        elif line == ">":
            around.pop()
        elif line:
            around[-1].items.append(line)
    if len(around) > 1:
        begun = around[-1]
        raise _ProjectDamaged(
            f"it is cut off: {begun.words[0][:40]} of line {begun.line} does not end"
        )
    (project,) = (each for each in root.items if isinstance(each, _Block))
    return project


def read_reaper(file: BinaryIO, reading: Reading) -> None:
    """Read a project."""
    reading.begin("REAPER project")
    reading.name_generator("REAPER")
    data = file.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:
        reading.add_unparsed("project", f"it is larger than {BYTES_MAX >> 20} MiB")
        return
    text = data.decode("utf-8-sig", "replace")
    if "\ufffd" in text:
        reading.add_unparsed("text", "it is not UTF-8")
    try:
        root = _parse_project(text)
    except _ProjectDamaged as error:
        reading.add_unparsed("project", str(error))
        return
    said = "".join(root.words[2:3]).partition("/")
    version = to_text(said[0])
    reading.name_generator("REAPER", version)
    reading.set("/audio/daw/name", "REAPER")
    reading.set("/audio/daw/version", version)
    reading.set("/audio/daw/project_sha256", reading.sha256)
    reading.add_other("platform", to_text(said[2]))
    tempos: list[Value | None] = []
    meters: list[Value | None] = []
    for line in root.lines("TEMPO"):
        tempos.append(to_tempo(line[1]))
        meters.append(to_meter(line[2], line[3]))
        if None in (tempos[-1], meters[-1]):
            why = f"{' '.join(line).strip()[:80]!r} says no tempo or no time signature"
            reading.add_unparsed("TEMPO", why)
    for envelope in root.blocks("TEMPOENVEX"):
        for point in envelope.lines("PT"):
            tempos.append(to_tempo(point[2]))
            packed = to_count(point[4]) or 0
            meters.append(to_meter(packed & 0xFFFF, packed >> 16))
    reading.settle("/audio/tempo_bpm", tempos, "the project changes it")
    reading.settle("/audio/time_signature", meters, "the project changes it")
    for line in root.lines("SAMPLERATE"):
        rate = to_count(line[1])
        if rate is None:
            reading.add_unparsed("SAMPLERATE", f"{' '.join(line)[:80]!r} says no rate")
        elif line[2] == "1":
            reading.set("/audio/session_sample_rate_hz", rate)
        else:
            why = "the project does not force its rate, so the audio device's was used"
            reading.add_candidates("/audio/session_sample_rate_hz", [rate], why)
    for key in _KEPT:
        for line in root.lines(key):
            reading.add_other(key, " ".join(line[1:]).strip())
    effects = list(_read_all_effects(root, reading))
    if len(effects) <= _EFFECTS_MAX:
        reading.set("/audio/chain", effects)
    else:
        reading.add_unparsed(
            "effects", f"{pluralize(len(effects), 'effect')} are more than are read"
        )


def _read_all_effects(root: _Block, reading: Reading) -> Iterator[Value]:
    for at, track in enumerate(root.blocks("TRACK"), 1):
        name = next((line[1] for line in track.lines("NAME")), "") or f"track {at}"
        if any(line[1] == "1" for line in track.lines("MUTESOLO")):
            reading.add_other(f"muted: {name}", value=True)
        for _ in track.blocks("FREEZE"):
            why = "the track is frozen; effects that went into it are not read"
            reading.add_unparsed(name[:80], why)
        for item in track.blocks("ITEM"):
            _report_item(item, name, reading)
            for chain in item.blocks(*_CHAINS):
                yield from _read_effects(chain, f"{name}, item", reading)
        is_off = any(line[1] == "0" for line in track.lines("FX"))
        for chain in track.blocks(*_CHAINS):
            yield from _read_effects(chain, name, reading, is_off=is_off)
    is_off = any(line[1] == "0" for line in root.lines("MASTER_FX"))
    for chain in root.blocks("MASTERFXLIST"):
        yield from _read_effects(chain, "master", reading, is_off=is_off)


def _report_item(item: _Block, track: str, reading: Reading) -> None:
    """Say what of an item is not read: other takes than the one that sounds, and projects in it."""
    place = f"line {item.line} ({track[:60]})"
    if any(True for _ in item.lines("TAKE")) and any(True for _ in item.blocks("TAKEFX")):
        why = "it has several takes; one sounds, and the effects of all are listed"
        reading.add_unparsed(place, why)
    if any(line[1] == "1" for line in item.lines("MUTE")):
        reading.add_other(f"muted: {track}, item of line {item.line}", value=True)
    waiting = list(item.blocks("SOURCE"))
    for source in waiting:
        waiting += source.blocks("SOURCE")
        if source.words[1:2] == ["RPP_PROJECT"]:
            file = next((line[1] for line in source.lines("FILE")), "?")
            reading.add_unparsed(place, f"the project {file[:80]!r} sounds in it, and is not read")


def _read_effects(
    chain: _Block, track: str, reading: Reading, *, is_off: bool = False
) -> Iterator[dict[str, Value]]:
    """Give the effects of a chain; ``BYPASS`` stands before the effect that it is about, a preset after it."""
    bypass = True if is_off else None
    found: dict[str, Value] = {}
    for item in chain.items:
        line = [*_split_words(item), "", ""] if isinstance(item, str) else []
        if isinstance(item, _Block) and item.words[0] in _EFFECTS:
            if found:
                yield found
            found = {}
            if item.words[0] == "CONTAINER":
                why = "a container holds effects; how they are routed is not read"
                reading.add_unparsed(f"line {item.line}", why)
                inside = f"{track}, container"
                yield from _read_effects(item, inside, reading, is_off=bypass is True)
            else:
                found = _describe_effect(item, track, bypass)
            bypass = True if is_off else None
        elif line[:1] == ["BYPASS"]:
            bypass = is_off or "1" in line[1:3]
        elif line[:1] == ["PRESETNAME"] and found and to_text(line[1]):
            found["preset"] = line[1]
    if found:
        yield found


def _describe_effect(block: _Block, track: str, bypass: bool | None) -> dict[str, Value]:
    said = block.words[1] if len(block.words) > 1 else block.words[0]
    prefix, colon, name = said.partition(": ")
    # An instrument's prefix has an i behind it: VST3i.
    known = _FORMATS.get(prefix.upper().removesuffix("I") if colon else block.words[0])
    lines = [each for each in block.items if isinstance(each, str)]
    try:
        state = b"".join(b64decode(each, validate=True) for each in lines)
    except ValueError:
        state = "\n".join(lines).encode("utf-8", "surrogatepass")
    return drop_none(
        name=(name if colon and known else said).strip() or block.words[0],
        track=track,
        format=known,
        state_sha256=digest_bytes(state, Algorithm.SHA256).hex if state else None,
        bypass=bypass,
    )
