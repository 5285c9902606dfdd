"""MIDI files and Broadcast Wave: what they say, and that no session's rate comes from a delivered file."""

from __future__ import annotations

import struct

import pytest
from madefiles import doubts, imported, places, wav

END = b"\0\xff\x2f\0"
TEMPO_120 = b"\0\xff\x51\x03" + (500_000).to_bytes(3, "big")
METER_6_8 = b"\0\xff\x58\x04\x06\x03\x24\x08"
D_MINOR = b"\0\xff\x59\x02\xff\x01"


def midi(*tracks: bytes, division: int = 480) -> bytes:
    head = b"MThd" + struct.pack(">IHHH", 6, 1, len(tracks), division)
    return head + b"".join(b"MTrk" + struct.pack(">I", len(each)) + each for each in tracks)


def test_a_midi_file_is_right_in_every_field() -> None:
    notes = b"\0\x90\x3c\x40" + b"\x81\x70\x3c\0" + b"\0\xc0\x05" + b"\0\xf0\x02\x01\xf7" + END
    found = imported(midi(TEMPO_120 + METER_6_8 + D_MINOR + END, notes))

    assert found.values == {
        "/audio/tempo_bpm": 120, "/audio/time_signature": "6/8", "/audio/key": "D minor",
    }  # fmt: skip
    assert found.other == {"MIDI": {"format": 1, "ticks per quarter note": 480}}
    assert (found.ambiguities, found.not_understood) == ((), ())


@pytest.mark.parametrize(
    ("sharps", "minor", "key"),
    [
        (0, 0, "C major"),
        (0, 1, "A minor"),
        (-7, 0, "Cb major"),
        (7, 1, "A# minor"),
        (2, 0, "D major"),
    ],
)
def test_keys_are_named_by_their_sharps_and_flats(sharps: int, minor: int, key: str) -> None:
    event = b"\0\xff\x59\x02" + struct.pack("bB", sharps, minor)

    assert imported(midi(event + END)).values == {"/audio/key": key}


def test_a_tempo_map_is_open() -> None:
    second = b"\x60\xff\x51\x03" + (600_000).to_bytes(3, "big")

    assert doubts(imported(midi(TEMPO_120 + second + END))) == {"/audio/tempo_bpm": (120, 100)}


def test_a_tempo_that_is_no_whole_number_has_six_decimals() -> None:
    event = b"\0\xff\x51\x03" + (666_667).to_bytes(3, "big")

    assert imported(midi(event + END)).values == {"/audio/tempo_bpm": 89.999955}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (midi(TEMPO_120 + END)[:30], "cut off"), (midi(b"\0\x40\x40"), "no status"),
        (midi(b"\xff\xff\xff\xff\x51"), "no end"), (midi(b"\0\xff\x51\x7f\x01"), "cut off"),
        (midi(b"\0\xff\x51\x03\0\0\0" + END), "no value for"), (b"MThd\0\0", "header is cut off"),
        (midi(END, division=0xE728), "SMPTE"),
    ],
)  # fmt: skip
def test_a_damaged_midi_file_says_where(data: bytes, why: str) -> None:
    found = imported(data)

    assert why in places(found)
    assert "/audio/tempo_bpm" not in found.values or found.values["/audio/tempo_bpm"] == 120


def bext(originator: str = "REAPER 7.03", history: str = "", *, version: int = 2) -> bytes:
    head = b"a pier at night".ljust(256, b"\0") + originator.encode().ljust(32, b"\0")
    head += b"TU-2025-11-05-AP01".ljust(32, b"\0") + b"2026-01-0210:11:12"
    loud = struct.pack("<hhhhh", -1600, 520, -120, 0x7FFF, 0)
    return (head + struct.pack("<QH", 96000, version) + bytes(64) + loud).ljust(
        602, b"\0"
    ) + history.encode()


def test_a_broadcast_wave_names_its_workstation_and_keeps_the_rest() -> None:
    history = "A=PCM,F=96000,W=24,M=stereo,T=REAPER v7.03;render\r\nA=PCM,F=44100,W=16,M=stereo\r\n"
    found = imported(wav((b"bext", bext(history=history))))

    assert found.values == {"/audio/daw/name": "REAPER", "/audio/daw/version": "7.03"}
    assert found.other["bext"] == {
        "Description": "a pier at night", "Originator": "REAPER 7.03",
        "OriginatorReference": "TU-2025-11-05-AP01", "OriginationDate": "2026-01-02",
        "OriginationTime": "10:11:12", "TimeReference_samples": 96000, "Version": 2,
        "LoudnessValue_LUFS": -16.0, "LoudnessRange_LU": 5.2, "MaxTruePeakLevel_dBTP": -1.2,
        "coding history 1, coding": "PCM", "coding history 1, rate": "96000",
        "coding history 1, word length": "24", "coding history 1, mode": "stereo",
        "coding history 1, text": "REAPER v7.03;render", "coding history 2, coding": "PCM",
        "coding history 2, rate": "44100", "coding history 2, word length": "16",
        "coding history 2, mode": "stereo",
    }  # fmt: skip


@pytest.mark.parametrize("originator", ["A. Recordist", "ReaperFan", "", "Zoom F6"])
def test_an_originator_that_is_no_workstation_names_none(originator: str) -> None:
    assert imported(wav((b"bext", bext(originator)))).values == {}


def test_originator_and_history_that_differ_are_ambiguous() -> None:
    found = imported(wav((b"bext", bext("REAPER 7.03", "A=PCM,T=Nuendo 13"))))

    assert doubts(found) == {
        "/audio/daw/name": ("REAPER", "Nuendo"), "/audio/daw/version": ("7.03", "13"),
    }  # fmt: skip


def test_no_rate_of_a_delivered_file_becomes_the_sessions() -> None:
    ixml = b"<BWFXML><PROJECT>pier</PROJECT><SPEED><FILE_SAMPLE_RATE>44100</FILE_SAMPLE_RATE></SPEED></BWFXML>"
    found = imported(wav((b"bext", bext("x", "A=PCM,F=44100,W=16")), (b"iXML", ixml), rate=44100))

    assert found.values == {}
    assert found.other["iXML"] == {"PROJECT": "pier", "SPEED/FILE_SAMPLE_RATE": "44100"}


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        (b"bext", b"short", "it is cut off: 5 bytes"), (b"iXML", b"<BWFXML>", "on line 1"),
        (b"iXML", b'<!DOCTYPE a [<!ENTITY b "c">]><BWFXML>&b;</BWFXML>', "DOCTYPE"),
        (b"bext", bext("x", "A=PCM,nonsense"), "'nonsense' is no key=value"),
    ],
)  # fmt: skip
def test_a_damaged_chunk_says_what_is_wrong(name: bytes, data: bytes, why: str) -> None:
    found = imported(wav((name, data)))

    assert found.values == {}
    assert why in places(found)
