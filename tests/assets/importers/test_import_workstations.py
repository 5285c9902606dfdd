"""Projects of workstations: tempo and meter with their changes, effects in order, states by digest."""

from __future__ import annotations

import base64
import gzip
import io
import warnings
import zipfile

import pytest
from madefiles import doubts, imported, places

from twice.assets.importers import daw_xml
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
    MUTESOLO 1 0 0
    FX 0
    <FXCHAIN
      BYPASS 0 0 0
      <AU "AU: Apple: AUDelay" "x" ""
      >
    >
  >
>
"""


def rpp(*changes: tuple[str, str]):
    text = RPP
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return imported(text.encode(), "song.rpp")


def test_a_reaper_project_is_right_in_every_field() -> None:
    found = rpp()
    state = digest_bytes(STATE, Algorithm.SHA256).hex

    assert found.values == {
        "/audio/daw/name": "REAPER",
        "/audio/daw/version": "7.03",
        "/audio/daw/project_sha256": digest_bytes(RPP.encode(), Algorithm.SHA256).hex,
        "/audio/tempo_bpm": 92.5,
        "/audio/time_signature": "6/8",
        "/audio/session_sample_rate_hz": 48000,
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
    assert found.other == {
        "REAPER project": {
            "platform": "linux-x86_64",
            "RENDER_FMT": "0 2 48000",
            "muted: Silent": True,
        }
    }
    assert (found.ambiguities, found.not_understood) == ((), ())


def test_a_rate_that_the_project_does_not_force_is_open() -> None:
    found = rpp(("SAMPLERATE 48000 1 0", "SAMPLERATE 44100 0 0"))

    assert doubts(found) == {"/audio/session_sample_rate_hz": (44100,)}


def test_a_tempo_that_changes_is_open() -> None:
    points = "<TEMPOENVEX\n PT 0 92.5 1 524294 0 1\n PT 8 120 1 262148 0 1\n>\n  <MASTERFXLIST"
    found = rpp(("<MASTERFXLIST", points))

    assert doubts(found) == {
        "/audio/tempo_bpm": (92.5, 120),
        "/audio/time_signature": ("6/8", "4/4"),
    }


def test_a_container_of_effects_is_named() -> None:
    inner = 'BYPASS 1 0\n<CONTAINER Rack\n BYPASS 0 0\n <VST "VST: A" a.dll\n >\n>\nFXID {B}'
    found = rpp(("FXID {B}", inner))
    chain = {each["name"]: each for each in found.values["/audio/chain"]}

    assert (chain["A"]["bypass"], chain["A"]["track"]) == (True, 'Lead "synth", container')
    assert "a container holds effects" in places(found)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (RPP[: len(RPP) // 2].encode(), "it is cut off: "),
        (b"<REAPER_PROJECT 0.1\n" + b"<A\n" * 1000, "nested deeper than 128, on line 129"),
        (b"<REAPER_PROJECT 0.1\n>\n>\n", "something stands after its end, on line 3"),
        (
            b"<REAPER_PROJECT 0.1\n>\n<REAPER_PROJECT 0.1\n>",
            "something stands after its end, on line 3",
        ),
    ],
)
def test_a_damaged_reaper_project_is_refused_with_its_line(data: bytes, why: str) -> None:
    found = imported(data)

    assert found.values == {}
    assert why in places(found)


@pytest.mark.parametrize(
    ("said", "pointer"),
    [
        ("TEMPO 0 4 4", "/audio/tempo_bpm"), ("TEMPO inf 4 4", "/audio/tempo_bpm"),
        ("TEMPO 120 0 4", "/audio/time_signature"), ("TEMPO", "/audio/tempo_bpm"),
    ],
)  # fmt: skip
def test_an_impossible_tempo_is_named(said: str, pointer: str) -> None:
    found = rpp(("TEMPO 92.5 6 8", said))

    assert pointer not in found.values
    assert "TEMPO: " in places(found)


ALS = """<?xml version="1.0" encoding="UTF-8"?>
<Ableton MajorVersion="5" MinorVersion="11.0_11300" Creator="Ableton Live 11.3.4">
 <LiveSet>
  <Tracks>
   <MidiTrack Id="8"><Name><EffectiveName Value="1-Bass"/><UserName Value="Bass"/></Name>
    <DeviceChain><DeviceChain><Devices>
     <PluginDevice><On><Manual Value="true"/></On><PluginDesc>
      <VstPluginInfo><PlugName Value="Serum"/><Version Value="1327"/></VstPluginInfo></PluginDesc></PluginDevice>
     <AudioEffectGroupDevice><On><Manual Value="false"/></On><Branches><Branch><DeviceChain>
      <Devices><Eq8><On><Manual Value="true"/></On></Eq8></Devices></DeviceChain></Branch></Branches>
     </AudioEffectGroupDevice>
    </Devices></DeviceChain>
    <MainSequencer><ClipSlotList><ClipSlot><Tempo><Manual Value="1"/></Tempo></ClipSlot></ClipSlotList></MainSequencer>
    </DeviceChain></MidiTrack>
  </Tracks>
  <MasterTrack>
   <AutomationEnvelopes><Envelopes>ENVELOPES</Envelopes></AutomationEnvelopes>
   <DeviceChain>
    <Mixer>
     <Tempo><Manual Value="128.5"/><AutomationTarget Id="11"/></Tempo>
     <TimeSignature><Manual Value="302"/><AutomationTarget Id="12"/></TimeSignature>
    </Mixer>
    <DeviceChain><Devices>
     <PluginDevice><On><Manual Value="false"/></On><PluginDesc>
      <Vst3PluginInfo><Name Value="Pro-L 2"/></Vst3PluginInfo></PluginDesc></PluginDevice>
    </Devices></DeviceChain>
   </DeviceChain>
  </MasterTrack>
  <ScaleInformation><RootNote Value="2"/><Name Value="Minor"/></ScaleInformation>
  <InKey Value="true"/>
 </LiveSet>
</Ableton>"""


def als(*changes: tuple[str, str]):
    text = ALS
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return imported(gzip.compress(text.replace("ENVELOPES", "").encode(), mtime=0), "set.als")


def test_an_ableton_set_is_right_in_every_field() -> None:
    found = als()
    values = {at: value for at, value in found.values.items() if not at.endswith("project_sha256")}

    assert values == {
        "/audio/daw/name": "Ableton Live",
        "/audio/daw/version": "11.3.4",
        "/audio/tempo_bpm": 128.5,
        "/audio/time_signature": "6/8",
        "/audio/key": "D Minor",
        "/audio/chain": [
            {
                "name": "Serum",
                "format": "VST2",
                "version": "1327",
                "bypass": False,
                "track": "Bass",
            },
            {"name": "AudioEffectGroupDevice", "format": "Live", "bypass": True, "track": "Bass"},
            {
                "name": "Eq8",
                "format": "Live",
                "bypass": True,
                "track": "Bass, AudioEffectGroupDevice",
            },
            {"name": "Pro-L 2", "format": "VST3", "bypass": True, "track": "main"},
        ],
    }
    assert (found.ambiguities, found.not_understood) == ((), ())
    assert "/audio/session_sample_rate_hz" not in found.values


def test_an_automated_tempo_is_open_and_the_point_before_the_start_is_not_one() -> None:
    events = "".join(
        f'<FloatEvent Time="{at}" Value="{value}"/>'
        for at, value in ((-63072000, 90), (0, 128.5), (16, 140))
    )
    envelope = (
        '<AutomationEnvelope><EnvelopeTarget><PointeeId Value="11"/></EnvelopeTarget>'
        f"<Automation><Events>{events}</Events></Automation></AutomationEnvelope>"
    )

    assert doubts(als(("ENVELOPES", envelope))) == {"/audio/tempo_bpm": (128.5, 140)}


@pytest.mark.parametrize(
    ("points", "values", "open_ones"),
    [
        ({-63072000: 95.3}, {"/audio/tempo_bpm": 95.3}, {}),
        ({-63072000: 95.3, 0: 100, 16: 140}, {}, {"/audio/tempo_bpm": (100, 140)}),
    ],
)
def test_live_8_keeps_tempo_and_its_automation_in_the_main_chain(
    points: dict[int, float], values: dict[str, float], open_ones: dict[str, tuple[float, ...]]
) -> None:
    events = "".join(f'<FloatEvent Time="{at}" Value="{bpm}"/>' for at, bpm in points.items())
    tempo = f"<Tempo><ArrangerAutomation><Events>{events}</Events></ArrangerAutomation></Tempo>"
    master = f"<MasterTrack><MasterChain><Mixer>{tempo}</Mixer></MasterChain></MasterTrack>"
    found = imported(
        f'<Ableton Creator="Ableton Live 8.1.4"><LiveSet>{master}</LiveSet></Ableton>'.encode()
    )

    assert found.values.get("/audio/tempo_bpm") == values.get("/audio/tempo_bpm")
    assert doubts(found) == open_ones


def test_a_scale_that_is_not_in_use_is_no_key() -> None:
    found = als(('<InKey Value="true"/>', '<InKey Value="false"/>'))

    assert "/audio/key" not in found.values
    assert found.other["Ableton set"]["scale"] == "D Minor"


LAUGHS = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]><Ableton>&c;</Ableton>'


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (gzip.compress(LAUGHS), "it has a DOCTYPE"),
        (gzip.compress(b"<Ableton>" * 1000), "nested deeper than 256"),
        (gzip.compress(b"<Ableton" + b" " * (64 << 20)), "a tag is longer than 4 MiB"),
        (gzip.compress(b"<Other><Ableton/></Other>"), "its first element is Other"),
        (gzip.compress(ALS.encode())[:400], "ended before"),
        (gzip.compress(ALS.encode()[:300]), "line 7"),
        (gzip.compress(b'<?xml version="1.0" encoding="no-such"?><Ableton/>'), "encoding"),
    ],
    ids=lambda value: value if isinstance(value, str) else "set",  # bytes hold the time of packing
)
def test_a_set_that_cannot_be_read_is_refused_with_the_reason(data: bytes, why: str) -> None:
    found = imported(data)

    assert found.values == {}
    assert why in places(found)


PROJECT = """<?xml version="1.0" encoding="UTF-8"?>
<Project version="1.0"><Application name="Bitwig Studio" version="5.1.2"/>
<Transport><Tempo unit="bpm" value="149"/><TimeSignature numerator="3" denominator="4"/></Transport>
<Structure><Track name="Keys"><Channel role="regular"><Devices>
 <Vst3Plugin deviceName="Diva" name="Warm pad" deviceRole="instrument" pluginVersion="1.4.7">
  <Enabled value="true"/><State path="plugins/diva.vstpreset"/></Vst3Plugin>
 <Equalizer deviceName="EQ+" name="EQ+"><Enabled value="false"/></Equalizer>
</Devices></Channel></Track></Structure>
<Arrangement>LANES</Arrangement></Project>"""


def dawproject(project: str = PROJECT, **members: bytes):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("project.xml", project.replace("LANES", ""))
        for name, data in members.items():
            archive.writestr(f"plugins/{name}.vstpreset", data)
    return imported(file.getvalue(), "song.dawproject")


def test_a_dawproject_is_right_in_every_field() -> None:
    found = dawproject(diva=STATE)
    values = {at: value for at, value in found.values.items() if not at.endswith("project_sha256")}

    assert values == {
        "/audio/daw/name": "Bitwig Studio",
        "/audio/daw/version": "5.1.2",
        "/audio/tempo_bpm": 149,
        "/audio/time_signature": "3/4",
        "/audio/chain": [
            {"name": "Diva", "format": "VST3", "version": "1.4.7", "preset": "Warm pad", "bypass": False,
             "state_sha256": digest_bytes(STATE, Algorithm.SHA256).hex, "track": "Keys"},
            {"name": "EQ+", "format": "Equalizer", "bypass": True, "track": "Keys"},
        ],
    }  # fmt: skip
    assert (found.ambiguities, found.not_understood) == ((), ())


def test_a_state_that_is_not_there_is_named() -> None:
    found = dawproject()

    assert "state_sha256" not in found.values["/audio/chain"][0]
    assert "plugins/diva.vstpreset" in places(found)


def test_points_of_tempo_and_meter_open_them() -> None:
    lanes = (
        '<TempoAutomation unit="bpm"><RealPoint time="4" value="100"/></TempoAutomation>'
        '<TimeSignatureAutomation><TimeSignaturePoint time="8" numerator="7" denominator="8"/>'
        "</TimeSignatureAutomation>"
    )

    assert doubts(dawproject(PROJECT.replace("LANES", lanes), diva=STATE)) == {
        "/audio/tempo_bpm": (149, 100),
        "/audio/time_signature": ("3/4", "7/8"),
    }


def test_a_set_that_unpacks_to_more_than_the_bound_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(daw_xml, "BYTES_MAX", 8 << 20)
    found = imported(gzip.compress(b"<Ableton>" + b" " * (64 << 20)))

    assert "unpacks to more than 8 MiB" in places(found)


def test_a_zip_bomb_is_stopped_at_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daw_xml, "BYTES_MAX", 8 << 20)
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("project.xml", "w") as member,
    ):
        member.write(b"<Project>")
        for _ in range(64):
            member.write(b" " * (1 << 20))
    found = imported(file.getvalue())

    assert len(file.getvalue()) < 1 << 20
    assert "unpacks to more than 8 MiB" in places(found)


@pytest.mark.parametrize(
    "members", [["metadata.xml"], ["sub/project.xml"], ["project.xml", "project.xml"]], ids=len
)
def test_a_zip_that_is_no_dawproject_is_not_called_one(members: list[str]) -> None:
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as archive:
        warnings.simplefilter("ignore", UserWarning)  # A name that comes twice.
        for name in members:
            archive.writestr(name, "<Project/>")
    found = imported(file.getvalue(), "a.zip")

    assert (found.values, found.generator) == ({}, "")
    assert "project.xml" in places(found)


@pytest.mark.parametrize("data", [b"a text", b"<?xml version='1.0'?><a/>", bytes(100), b""])
def test_a_gzip_that_holds_no_set_is_not_called_one(data: bytes) -> None:
    found = imported(gzip.compress(data, mtime=0), "a.gz")

    assert (found.values, found.generator, places(found) != "") == ({}, "", True)


def test_a_set_that_somebody_unpacked_says_the_same_as_the_packed_one() -> None:
    text = ALS.replace("ENVELOPES", "").encode()
    plain, packed = imported(text), imported(gzip.compress(text))
    own = "/audio/daw/project_sha256"

    assert {**plain.values, own: ""} == {**packed.values, own: ""}
    assert (plain.generator, places(plain)) == ("Ableton Live", "")


NESTED = """<REAPER_PROJECT 0.1 "7.03/linux-x86_64" 1700000000
  <TRACK {A}
    NAME Strings
    <FREEZE
    >
    <ITEM
      MUTE 1 0
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
    assert any(key.startswith("muted: Strings, item") for key in found.other["REAPER project"])
