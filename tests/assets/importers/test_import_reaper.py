"""REAPER projects: tempo and meter with their changes, effects in order, states by digest."""

from __future__ import annotations

from typing import Any

import pytest
from madefiles import doubts, imported, places

from twice.assets.importers.result import Imported
from twice.foundation.digests import Algorithm, digest_bytes

RPP = """<REAPER_PROJECT 0.1 "7.03/linux-x86_64" 1700000000
  SAMPLERATE 48000 1 0
  TEMPO 92.5 6 8
  RENDER_FMT 0 2 48000
  <NOTES 0 2
    |<TRACK that is only a note
  >
  <MASTERFXLIST
    BYPASS 0 0 0
    <VST "VST: ReaLimit (Cockos)" reaLimit.dll 0 "" 1919708532<5653547265> ""
      c3RhdGU=
    >
    PRESETNAME "stock - Default"
  >
  <TRACK {A}
    NAME 'Lead "synth"'
    FX 1
    <FXCHAIN
      BYPASS 1 0 0
      <VST "VST3i: Vital (Vital Audio)" Vital.vst3 0 "my lead" 123<4> ""
        c3Rh
        dGU=
      >
      FXID {B}
      BYPASS 0 0 0
      <JS loser/3BandEQ ""
        0 0.5 - -
      >
      BYPASS 0 1 0
      <CLAP "CLAP: Chow (Chow)" "chow" ""
      >
    >
  >
  <TRACK {C}
    NAME Strings
    FX 0
    <FREEZE
    >
    <ITEM
      <SOURCE SECTION
        <SOURCE RPP_PROJECT
          FILE "sub.rpp"
        >
      >
      <TAKEFX
        BYPASS 0 0 0
        <AU "AU: Apple: AUDelay" "x" ""
        >
      >
      TAKE SEL
    >
    <FXCHAIN
      BYPASS 0 0 0
      <CONTAINER Rack
        <DX "DX: Two"
        >
      >
    >
  >
>
"""


def rpp(old: str = "", new: str = "") -> Imported:
    assert old in RPP
    return imported(RPP.replace(old, new).encode(), "song.rpp")


@pytest.mark.parametrize(("mark", "ends"), [("", "\n"), ("\ufeff", "\r\n")])
def test_a_reaper_project_is_right_in_every_field(mark: str, ends: str) -> None:
    data = (mark + RPP.replace("\n", ends)).encode()
    found = imported(data)
    state, lead = digest_bytes(b"state", Algorithm.SHA256).hex, 'Lead "synth"'

    assert found.values == {
        "/audio/daw/name": "REAPER", "/audio/daw/version": "7.03", "/audio/tempo_bpm": 92.5,
        "/audio/daw/project_sha256": digest_bytes(data, Algorithm.SHA256).hex,
        "/audio/time_signature": "6/8", "/audio/session_sample_rate_hz": 48000,
        "/audio/chain": [
            {"name": "Vital (Vital Audio)", "format": "VST3", "state_sha256": state, "bypass": True, "track": lead},
            {"name": "loser/3BandEQ", "format": "JS", "bypass": False, "track": lead,
             "state_sha256": digest_bytes(b"0 0.5 - -", Algorithm.SHA256).hex},
            {"name": "Chow (Chow)", "format": "CLAP", "bypass": True, "track": lead},
            {"name": "Apple: AUDelay", "format": "AU", "bypass": False, "track": "Strings, item"},
            {"name": "Two", "format": "DX", "bypass": True, "track": "Strings, container"},
            {"name": "ReaLimit (Cockos)", "format": "VST2", "preset": "stock - Default",
             "state_sha256": state, "bypass": False, "track": "master"},
        ],
    }  # fmt: skip
    assert found.other == {
        "REAPER project": {"platform": "linux-x86_64", "RENDER_FMT": "0 2 48000"}
    }
    assert found.ambiguities == ()
    said = places(found)
    for words in ("Strings: the track is frozen", "several takes", "'sub.rpp' sounds in it", "a container holds effects"):  # fmt: skip
        assert words in said


POINTS = "<TEMPOENVEX\n PT 0 92.5 1 524294 0 1\n PT 8 120 1 262148 0 1\n>\n  <MASTERFXLIST"


@pytest.mark.parametrize(
    ("old", "new", "candidates"),
    [
        ("SAMPLERATE 48000 1 0", "SAMPLERATE 44100 0 0", {"/audio/session_sample_rate_hz": (44100,)}),
        ("<MASTERFXLIST", POINTS, {"/audio/tempo_bpm": (92.5, 120), "/audio/time_signature": ("6/8", "4/4")}),
    ],
)  # fmt: skip
def test_what_the_project_changes_or_does_not_force_is_open(
    old: str, new: str, candidates: dict[str, Any]
) -> None:
    assert doubts(rpp(old, new)) == candidates


@pytest.mark.parametrize(
    ("said", "pointer"),
    [
        ("TEMPO 0 4 4", "/audio/tempo_bpm"), ("TEMPO inf 4 4", "/audio/tempo_bpm"),
        ("TEMPO 120 0 4", "/audio/time_signature"), ("TEMPO", "/audio/tempo_bpm"),
    ],
)  # fmt: skip
def test_an_impossible_tempo_is_named(said: str, pointer: str) -> None:
    found = rpp("TEMPO 92.5 6 8", said)

    assert pointer not in found.values
    assert "TEMPO: " in places(found)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (RPP[: len(RPP) // 2].encode(), "it is cut off: "),
        (b"<REAPER_PROJECT 0.1\n" + b"<A\n" * 1000, "nested deeper than 128, on line 129"),
        (b"<REAPER_PROJECT 0.1\n>\n>\n", "after its end, on line 3"),
        (b"<REAPER_PROJECT 0.1\n>\n<REAPER_PROJECT 0.1\n>", "after its end, on line 3"),
    ],
)
def test_a_damaged_project_is_refused_with_its_line(data: bytes, why: str) -> None:
    found = imported(data)

    assert found.values == {}
    assert why in places(found)
