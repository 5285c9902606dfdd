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

from twice.assets.importers.result import Reading, Value, drop_none, to_number, to_text
from twice.assets.media.sniff import Damaged
from twice.foundation.digests import Algorithm, digest_bytes

MARK: Final = b"<REAPER_PROJECT"
BYTES_MAX: Final = 128 << 20
DEPTH_MAX: Final = 128
_WORD = re.compile(r"""\s*(?:"([^"]*)"?|'([^']*)'?|`([^`]*)`?|(\S+))""")
_EFFECTS: Final = ("VST", "AU", "JS", "DX", "LV2", "CLAP", "VIDEO_EFFECT", "CONTAINER")
_FORMATS: Final = {
    "VST": "VST2", "VST3": "VST3", "AU": "AU", "CLAP": "CLAP", "DX": "DX", "LV2": "LV2", "JS": "JS",
}  # fmt: skip
_KEPT: Final = ("RENDER_FMT", "RENDER_DITHER", "RENDER_RESAMPLE", "RENDER_NORMALIZE")


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
        said = (each for each in self.items if isinstance(each, str) and each.startswith(name))
        return (words for words in map(_split_words, said) if words[0] == name)

    def has_flag(self, name: str, flag: str) -> bool:
        """Whether a line of it has a word in the first place behind its name."""
        return any(words[1] == flag for words in self.lines(name))


def _split_words(line: str) -> list[str]:
    return [*("".join(match) for match in _WORD.findall(line)), *[""] * 5]


def _parse_project(text: str) -> _Block:
    root = _Block([""], 0)
    around = [root]
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if len(around) == 1 and root.items and line:
            raise Damaged(f"something stands after its end, on line {number}")
        if line.startswith("<") and len(line) > 1:
            if len(around) > DEPTH_MAX:
                raise Damaged(f"it is nested deeper than {DEPTH_MAX}, on line {number}")
            block = _Block(_split_words(line[1:]), number)
            around[-1].items.append(block)
            around.append(block)
        elif line == ">":
            around.pop()
        elif line:
            around[-1].items.append(line)
    if len(around) > 1:
        begun = around[-1]
        raise Damaged(f"it is cut off: {begun.words[0][:40]} of line {begun.line} does not end")
    (project,) = root.blocks(MARK[1:].decode())
    return project


def read_reaper(file: BinaryIO, reading: Reading) -> None:
    """Read a project.

    Raises:
        Damaged: it is not whole, or beyond a bound.
    """
    reading.begin("REAPER project")
    reading.name_generator("REAPER")
    data = file.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:
        raise Damaged(f"it is larger than {BYTES_MAX >> 20} MiB")
    text = data.decode("utf-8-sig", "replace")
    if "\ufffd" in text:
        reading.add_unparsed("text", "it is not UTF-8")
    root = _parse_project(text)
    version, _, platform = root.words[2].partition("/")
    reading.name_daw("REAPER", "REAPER", to_text(version))
    reading.add_other("platform", to_text(platform))
    tempos: list[str] = []
    meters: list[str | None] = []
    for line in root.lines("TEMPO"):
        tempos.append(line[1])
        meters.append("/".join(line[2:4]))
    for point in (line for each in root.blocks("TEMPOENVEX") for line in each.lines("PT")):
        packed = to_number(point[4]) or 0
        tempos.append(point[2])
        meters.append(f"{int(packed) & 0xFFFF}/{int(packed) >> 16}" if packed else None)
    reading.settle("/audio/tempo_bpm", tempos, "TEMPO", "the project changes it")
    reading.settle("/audio/time_signature", meters, "TEMPO", "the project changes it")
    for line in root.lines("SAMPLERATE"):
        rate = "/audio/session_sample_rate_hz"
        reading.take(rate, line[1], "SAMPLERATE")
        if line[2] != "1":
            why = "the project does not force its rate, so the audio device's was used"
            reading.doubt_stated([rate], why)
    for key in _KEPT:
        for line in root.lines(key):
            reading.add_other(key, " ".join(line[1:]).strip())
    reading.set("/audio/chain", list(_read_all_effects(root, reading)))


def _read_all_effects(root: _Block, reading: Reading) -> Iterator[Value]:
    for at, track in enumerate(root.blocks("TRACK"), 1):
        name = next((line[1] for line in track.lines("NAME")), "") or f"track {at}"
        for _ in track.blocks("FREEZE"):
            why = "the track is frozen; effects that went into it are not read"
            reading.add_unparsed(name[:80], why)
        for item in track.blocks("ITEM"):
            place = f"line {item.line} ({name[:60]})"
            if any(item.lines("TAKE")) and any(item.blocks("TAKEFX")):
                why = "it has several takes; one sounds, and the effects of all are listed"
                reading.add_unparsed(place, why)
            waiting = list(item.blocks("SOURCE"))
            for source in waiting:
                waiting += source.blocks("SOURCE")
                if source.words[1] == "RPP_PROJECT":
                    inner = next((line[1] for line in source.lines("FILE")), "?")
                    why = f"the project {inner[:80]!r} sounds in it, and is not read"
                    reading.add_unparsed(place, why)
            for chain in item.blocks("TAKEFX"):
                yield from _read_effects(chain, f"{name}, item", reading)
        for chain in track.blocks("FXCHAIN"):
            yield from _read_effects(chain, name, reading, is_off=track.has_flag("FX", "0"))
    for chain in root.blocks("MASTERFXLIST"):
        yield from _read_effects(chain, "master", reading, is_off=root.has_flag("MASTER_FX", "0"))


def _read_effects(
    chain: _Block, track: str, reading: Reading, *, is_off: bool = False
) -> Iterator[dict[str, Value]]:
    """Give the effects of a chain; ``BYPASS`` stands before the effect that it is about, a preset after it."""
    bypass = True if is_off else None
    found: dict[str, Value] = {}
    for item in chain.items:
        line = _split_words(item) if isinstance(item, str) else []
        if isinstance(item, _Block) and item.words[0] in _EFFECTS:
            yield from [found] if found else []
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
    yield from [found] if found else []


def _describe_effect(block: _Block, track: str, bypass: bool | None) -> dict[str, Value]:
    said = block.words[1] or block.words[0]
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
