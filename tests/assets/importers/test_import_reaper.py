"""REAPER projects: tempo and meter with their changes, effects in order, states by digest."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from madefiles import doubts, imported, places

from twice.assets.importers.result import Imported
from twice.foundation.digests import Algorithm, digest_bytes

STATE = bytes(range(64))
RPP = f"""<REAPER_PROJECT 0.1 "7.03/linux-x86_64" 1700000000
  SAMPLERATE 48000 1 0
  TEMPO 92.5 6 8
  RENDER_FMT 0 2 48000
  <NOTES 0 2
    |<TRACK that is only a note
  >
  <MASTERFXLIST
    BYPASS 0 0 0
    <VST "VST: ReaLimit (Cockos)" reaLimit.dll 0 "" 1919708532<5653547265> ""
      {base64.b64encode(STATE).decode()}
    >
    PRESETNAME "stock - Default"
    WAK 0 0
  >
  <TRACK {{A}}
    NAME 'Lead "synth"'
    FX 1
    <FXCHAIN
      SHOW 0
      BYPASS 1 0 0
      <VST "VST3i: Vital (Vital Audio)" Vital.vst3 0 "my lead" 123<4> ""
        {base64.b64encode(STATE[:32]).decode()}
        {base64.b64encode(STATE[32:]).decode()}
      >
      FXID {{B}}
      BYPASS 0 0 0
      <JS loser/3BandEQ ""
        0 0.5 - -
      >
      BYPASS 0 1 0
      <CLAP "CLAP: Chow (Chow)" "chow" ""
      >
    >
  >
  <TRACK {{C}}
    NAME Silent
    FX 0
    <FXCHAIN
      BYPASS 0 0 0
      <AU "AU: Apple: AUDelay" "x" ""
      >
    >
  >
>
"""


def rpp(old: str = "", new: str = "") -> Imported:
    assert old in RPP
    return imported(RPP.replace(old, new).encode(), "song.rpp")


def test_a_reaper_project_is_right_in_every_field() -> None:
    found = rpp()
    state = digest_bytes(STATE, Algorithm.SHA256).hex

    assert found.values == {
        "/audio/daw/name": "REAPER", "/audio/daw/version": "7.03", "/audio/tempo_bpm": 92.5,
        "/audio/daw/project_sha256": digest_bytes(RPP.encode(), Algorithm.SHA256).hex,
        "/audio/time_signature": "6/8", "/audio/session_sample_rate_hz": 48000,
        "/audio/chain": [
            {"name": "Vital (Vital Audio)", "format": "VST3", "state_sha256": state, "bypass": True,
             "track": 'Lead "synth"'},
            {"name": "loser/3BandEQ", "format": "JS", "bypass": False, "track": 'Lead "synth"',
             "state_sha256": digest_bytes(b"0 0.5 - -", Algorithm.SHA256).hex},
            {"name": "Chow (Chow)", "format": "CLAP", "bypass": True, "track": 'Lead "synth"'},
            {"name": "Apple: AUDelay", "format": "AU", "bypass": True, "track": "Silent"},
            {"name": "ReaLimit (Cockos)", "format": "VST2", "preset": "stock - Default",
             "state_sha256": state, "bypass": False, "track": "master"},
        ],
    }  # fmt: skip
    assert found.other["REAPER project"] == {
        "platform": "linux-x86_64", "RENDER_FMT": "0 2 48000",
    }  # fmt: skip
    assert (found.ambiguities, found.not_understood) == ((), ())


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


def test_a_container_of_effects_is_named() -> None:
    inner = 'BYPASS 1 0\n<CONTAINER Rack\n BYPASS 0 0\n <VST "VST: A" a.dll\n >\n>\nFXID {B}'
    found = rpp("FXID {B}", inner)
    chain = {each["name"]: each for each in found.values["/audio/chain"]}

    assert (chain["A"]["bypass"], chain["A"]["track"]) == (True, 'Lead "synth", container')
    assert "a container holds effects" in places(found)


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


NESTED = """<REAPER_PROJECT 0.1 "7.03/linux-x86_64" 1700000000
  <TRACK {A}
    NAME Strings
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
        <JS loser/eq ""
          0 1
        >
      >
      TAKE SEL
      <TAKEFX
        BYPASS 1 0 0
        <VST "VST: Two (x)" b.dll 0 "" 1<2> ""
        >
      >
    >
  >
>
"""


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_what_sounds_in_nested_items_is_named_where_it_is_not_read(mark: bytes, ends: str) -> None:
    found = imported(mark + NESTED.replace("\n", ends).encode(), "a.rpp")
    said = places(found)

    for words in ("Strings: the track is frozen", "several takes", "'sub.rpp' sounds in it"):
        assert words in said
    assert [(each["name"], each["bypass"]) for each in found.values["/audio/chain"]] == [
        ("loser/eq", False), ("Two (x)", True),
    ]  # fmt: skip
