"""Ableton Live sets and DAWproject: tempo and meter with their changes, devices in order, nothing else called one."""

from __future__ import annotations

import gzip
import io
import warnings
import zipfile
from typing import Any

import pytest
from madefiles import doubts, imported, places

from twice.assets.importers import daw_xml
from twice.assets.importers.result import Imported

OWN = "/audio/daw/project_sha256"
TEMPO = "/audio/tempo_bpm"
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
   <AutomationEnvelopes><Envelopes><!--envelopes--></Envelopes></AutomationEnvelopes>
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


def als(old: str = "", new: str = "") -> Imported:
    assert old in ALS
    return imported(ALS.replace(old, new).encode())


@pytest.mark.parametrize("data", [ALS.encode(), gzip.compress(ALS.encode(), mtime=0)], ids=len)
def test_a_live_set_is_right_in_every_field_packed_or_not(data: bytes) -> None:
    found = imported(data)

    assert {at: value for at, value in found.values.items() if at != OWN} == {
        "/audio/daw/name": "Ableton Live", "/audio/daw/version": "11.3.4", TEMPO: 128.5,
        "/audio/time_signature": "6/8", "/audio/key": "D Minor",
        "/audio/chain": [
            {"name": "Serum", "format": "VST2", "version": "1327", "bypass": False, "track": "Bass"},
            {"name": "AudioEffectGroupDevice", "format": "Live", "bypass": True, "track": "Bass"},
            {"name": "Eq8", "format": "Live", "bypass": True, "track": "Bass, AudioEffectGroupDevice"},
            {"name": "Pro-L 2", "format": "VST3", "bypass": True, "track": "main"},
        ],
    }  # fmt: skip
    assert (found.generator, found.ambiguities, places(found)) == ("Ableton Live", (), "")


def points(values: dict[int, float]) -> str:
    events = (f'<FloatEvent Time="{at}" Value="{bpm}"/>' for at, bpm in values.items())
    return f"<Events>{''.join(events)}</Events>"


def automated(target: int, values: dict[int, float]) -> Imported:
    to = f'<EnvelopeTarget><PointeeId Value="{target}"/></EnvelopeTarget>'
    envelope = (
        f"<AutomationEnvelope>{to}<Automation>{points(values)}</Automation></AutomationEnvelope>"
    )
    return als("<!--envelopes-->", envelope)


def live_8(values: dict[int, float]) -> Imported:
    mixer = (
        f"<Mixer><Tempo><ArrangerAutomation>{points(values)}</ArrangerAutomation></Tempo></Mixer>"
    )
    master = f"<MasterTrack><MasterChain>{mixer}</MasterChain></MasterTrack>"
    text = f'<Ableton Creator="Ableton Live 8.1.4"><LiveSet>{master}</LiveSet></Ableton>'
    return imported(text.encode())


@pytest.mark.parametrize(
    ("found", "tempo"),
    [
        (automated(11, {-63072000: 90, 0: 128.5, 16: 140}), (128.5, 140)),
        (automated(99, {-63072000: 90, 0: 100}), 128.5), (live_8({-63072000: 95.3}), 95.3),
        (live_8({-63072000: 95.3, 0: 100, 16: 140}), (100, 140)),
    ],
)  # fmt: skip
def test_a_tempo_that_is_automated_is_open(found: Imported, tempo: Any) -> None:
    # The point before the start stands for the value itself.
    assert found.values.get(TEMPO, doubts(found).get(TEMPO)) == tempo


def test_a_scale_that_is_not_in_use_is_no_key() -> None:
    found = als('<InKey Value="true"/>', '<InKey Value="false"/>')

    assert "/audio/key" not in found.values
    assert found.other == {"Ableton set": {"scale": "D Minor"}}


LAUGHS = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]><Ableton>&c;</Ableton>'


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (gzip.compress(LAUGHS), "it has a DOCTYPE"), (gzip.compress(b"<Ableton>" * 1000), "nested deeper than 256"),
        (gzip.compress(b"<Ableton" + b" " * (64 << 20)), "unclosed token"),
        (gzip.compress(b"<Other><Ableton/></Other>"), "its first element is Other"),
        (gzip.compress(ALS.encode())[:400], "ended before"), (gzip.compress(ALS.encode()[:300]), "line 7"),
        (gzip.compress(b'<?xml version="1.0" encoding="no-such"?><Ableton/>'), "encoding"),
        *((gzip.compress(each), "there is no Live set") for each in (b"a text", b"<?xml version='1.0'?><a/>", b"")),
    ],
    ids=lambda value: value if isinstance(value, str) else "set",  # bytes hold the time of packing
)  # fmt: skip
def test_a_gzip_that_holds_no_whole_set_is_refused_with_the_reason(data: bytes, why: str) -> None:
    found = imported(data)

    assert (found.values, found.generator) == ({}, "")
    assert why in places(found)


PROJECT = """<Project version="1.0"><Application name="Bitwig Studio" version="5.1.2"/>
<Transport><Tempo unit="bpm" value="149"/><TimeSignature numerator="3" denominator="4"/></Transport>
<Structure><Track name="Keys"><Channel role="regular"><Devices>
 <ClapPlugin deviceName="Diva" name="Warm pad"><State path="diva.preset"/></ClapPlugin>
 <Equalizer deviceName="EQ+" name="EQ+"><Enabled value="false"/></Equalizer>
</Devices></Channel></Track></Structure>
<Arrangement>
 <TempoAutomation unit="bpm"><RealPoint time="4" value="100"/></TempoAutomation>
 <TimeSignatureAutomation><TimeSignaturePoint time="8" numerator="7" denominator="8"/></TimeSignatureAutomation>
</Arrangement></Project>"""


def zipped(*members: tuple[str, str | bytes]) -> Imported:
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore", UserWarning)  # A name that comes twice.
        for name, data in members:
            archive.writestr(name, data)
    return imported(file.getvalue(), "song.dawproject")


def test_a_dawproject_says_its_devices_and_which_state_is_not_there() -> None:
    found = zipped(("project.xml", PROJECT))

    assert found.values["/audio/chain"] == [
        {"name": "Diva", "format": "CLAP", "preset": "Warm pad", "track": "Keys"},
        {"name": "EQ+", "format": "Equalizer", "bypass": True, "track": "Keys"},
    ]
    assert "diva.preset: the state of a device" in places(found)
    assert doubts(found) == {TEMPO: (149, 100), "/audio/time_signature": ("3/4", "7/8")}


@pytest.mark.parametrize("kind", ["gzip", "project", "state"])
def test_a_bomb_is_stopped_at_the_bound(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daw_xml, "BYTES_MAX", 8 << 20)
    found = {
        "gzip": lambda: imported(gzip.compress(b"<Ableton>" + b" " * (16 << 20))),
        "project": lambda: zipped(("project.xml", PROJECT + " " * (16 << 20))),
        "state": lambda: zipped(("project.xml", PROJECT), ("diva.preset", bytes(16 << 20))),
    }[kind]()

    assert "unpacks to more than 8 MiB" in places(found)


@pytest.mark.parametrize(
    "names", [["metadata.xml"], ["sub/project.xml"], ["project.xml", "project.xml"]], ids=len
)
def test_a_zip_that_is_no_dawproject_is_not_called_one(names: list[str]) -> None:
    found = zipped(*((name, "<Project/>") for name in names))

    assert (found.values, found.generator) == ({}, "")
    assert "project.xml" in places(found)
