"""MIDI files and Broadcast Wave: what they say, and that no session's rate comes from a delivered file."""

from __future__ import annotations

import io
import struct
from typing import Any

import pytest
from madefiles import doubts, imported, places, riff
from mido import Message, MetaMessage, MidiFile, MidiTrack

END = b"\0\xff\x2f\0"
TEMPO_120 = b"\0\xff\x51\x03" + (500_000).to_bytes(3, "big")
TEMPO, METER, KEY = "/audio/tempo_bpm", "/audio/time_signature", "/audio/key"


def midi(*tracks: bytes, division: int = 480) -> bytes:
    head = b"MThd" + struct.pack(">IHHH", 6, 1, len(tracks), division)
    return head + b"".join(b"MTrk" + struct.pack(">I", len(each)) + each for each in tracks)


def written(*messages: Any) -> bytes:
    file = io.BytesIO()
    MidiFile(tracks=[MidiTrack(messages)], ticks_per_beat=480).save(file=file)
    return file.getvalue()


def tempo(length_us: int, time: int = 0) -> MetaMessage:
    return MetaMessage("set_tempo", tempo=length_us, time=time)


def meter(beats: int, unit: int, time: int = 0) -> MetaMessage:
    return MetaMessage("time_signature", numerator=beats, denominator=unit, time=time)


def key(name: str) -> MetaMessage:
    return MetaMessage("key_signature", key=name)


NOTE = Message("note_on", note=60, velocity=64)


@pytest.mark.parametrize(
    ("messages", "values", "open_ones"),
    [
        ([tempo(500_000), meter(6, 8), key("Dm"), NOTE], {TEMPO: 120, METER: "6/8", KEY: "D minor"}, {}),
        ([tempo(666_667), NOTE], {TEMPO: 89.999955}, {}),
        ([key("C"), NOTE], {KEY: "C major"}, {}),
        ([key("A#m")], {KEY: "A# minor"}, {}),
        ([tempo(500_000), tempo(600_000, 96)], {}, {TEMPO: (120, 100)}),
        ([NOTE, tempo(600_000, 96), meter(3, 4)], {}, {TEMPO: (120, 100), METER: ("4/4", "3/4")}),
        ([NOTE, tempo(500_000, 96)], {TEMPO: 120}, {}),
    ],
)  # fmt: skip
def test_a_midi_file_of_mido_says_this(
    messages: list[Any], values: dict[str, Any], open_ones: dict[str, Any]
) -> None:
    found = imported(written(*messages))

    assert (found.values, doubts(found)) == (values, open_ones)
    assert found.other == {"MIDI": {"format": 1, "ticks per quarter note": 480}}
    assert (found.generator, found.not_understood) == ("MIDI file", ())


@pytest.mark.parametrize("division", [0xE728, 0], ids=["SMPTE", "none"])
def test_a_tempo_is_open_where_time_is_not_counted_in_quarter_notes(division: int) -> None:
    found = imported(midi(TEMPO_120 + END, division=division))

    assert doubts(found) == {TEMPO: (120,)}
    assert "SMPTE" in found.ambiguities[0].why


@pytest.mark.parametrize(
    "data",
    [
        midi(TEMPO_120 + END)[:30], midi(TEMPO_120 + b"\xff\xff\xff\xff\x51"), midi(b"\0\x40\x40"),
        midi(b"\0\xff\x51\x7f\x01"), midi(b"\0\x90\xff\x51\x03\0" + TEMPO_120),
        midi(b"\0\xff\x51\x03\0\0\0" + END), midi(b"\0\xff\x59\x02\x0f\0" + END),
        midi(b"\0\xff\x58\x04\0\x02\x18\x08" + END), b"MThd\0\0", midi(b"\0\x90\x3c\x40" * 600_000),
    ],
    ids=["cut", "length", "status", "meta", "data", "tempo", "key", "meter", "header", "long"],
)  # fmt: skip
def test_a_damaged_midi_file_says_nothing_and_that_it_does(data: bytes) -> None:
    found = imported(data)

    assert (found.values, doubts(found)) == ({}, {})
    assert places(found).startswith("MIDI: ")


def bext(originator: str = "REAPER 7.03", history: str = "") -> tuple[bytes, bytes]:
    head = b"a pier at night".ljust(256, b"\0") + originator.encode().ljust(32, b"\0")
    head += b"TU-2025-11-05-AP01".ljust(32, b"\0") + b"2026-01-0210:11:12"
    return b"bext", (head + struct.pack("<QH", 96000, 2)).ljust(602, b"\0") + history.encode()


HISTORY = "A=PCM,F=96000,W=24,M=stereo,T=REAPER v7.03;render\r\nA=PCM,F=44100,T=Nuendo 13"


def test_a_broadcast_wave_names_its_workstation_and_keeps_the_rest() -> None:
    found = imported(riff(bext(history=HISTORY)))

    assert found.values == {"/audio/daw/name": "REAPER", "/audio/daw/version": "7.03"}
    assert found.evidence["/audio/daw/name"].chunk == "tag encoded_by"
    assert {key: said for kept in found.other.values() for key, said in kept.items()} == {
        "comment": "a pier at night", "encoded_by": "REAPER 7.03", "date": "2026-01-02",
        "originator_reference": "TU-2025-11-05-AP01", "creation_time": "10:11:12",
        "time_reference": "96000", "coding_history": HISTORY,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("originator", "history", "values"),
    [
        ("", HISTORY, {"/audio/daw/name": "REAPER", "/audio/daw/version": "7.03"}),
        ("Pro Tools", "", {"/audio/daw/name": "Pro Tools"}),
        *((name, "A=PCM,F=44100,W=16", {}) for name in ("A. Recordist", "ReaperFan", "", "Zoom F6")),
    ],
)  # fmt: skip
def test_only_a_known_workstation_is_named(
    originator: str, history: str, values: dict[str, str]
) -> None:
    assert imported(riff(bext(originator, history))).values == values


def test_originator_and_history_that_differ_are_ambiguous() -> None:
    found = imported(riff(bext("REAPER 7.03", "A=PCM,T=Nuendo 13")))

    assert doubts(found) == {
        "/audio/daw/name": ("REAPER", "Nuendo"), "/audio/daw/version": ("7.03", "13"),
    }  # fmt: skip


@pytest.mark.parametrize("magic", [b"RF64", b"BW64"])
def test_what_follows_the_samples_of_a_large_wave_is_read(magic: bytes) -> None:
    name, said = bext()
    form = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, 44100, 88200, 2, 16)
    after = name + struct.pack("<I", len(said)) + said
    samples = b"data\xff\xff\xff\xff" + bytes(200)
    body = b"WAVE" + b"ds64" + struct.pack("<IQQQI", 28, 1000, 200, 100, 0) + form + samples + after
    found = imported(magic + b"\xff\xff\xff\xff" + body)

    assert (found.values["/audio/daw/version"], places(found)) == ("7.03", "")


@pytest.mark.parametrize("data", [riff((b"bext", b"short")), riff(bext())[:400], b"RIFF    WAVE"])
def test_a_damaged_wave_says_nothing_and_that_it_does(data: bytes) -> None:
    found = imported(data)

    assert (found.values, places(found) != "") == ({}, True)
