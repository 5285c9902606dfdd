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
from twice.foundation.digests import Algorithm, digest_bytes

STATE = bytes(range(64))
OWN = "/audio/daw/project_sha256"
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


def als(old: str = "ENVELOPES", new: str = "") -> Imported:
    assert old in ALS
    text = ALS.replace(old, new).replace("ENVELOPES", "")
    return imported(gzip.compress(text.encode(), mtime=0), "set.als")


def test_a_live_set_is_right_in_every_field_packed_or_not() -> None:
    packed, plain = als(), imported(ALS.replace("ENVELOPES", "").encode())

    assert packed.values | {OWN: ""} == plain.values | {OWN: ""}
    assert {at: value for at, value in packed.values.items() if at != OWN} == {
        "/audio/daw/name": "Ableton Live", "/audio/daw/version": "11.3.4", "/audio/tempo_bpm": 128.5,
        "/audio/time_signature": "6/8", "/audio/key": "D Minor",
        "/audio/chain": [
            {"name": "Serum", "format": "VST2", "version": "1327", "bypass": False, "track": "Bass"},
            {"name": "AudioEffectGroupDevice", "format": "Live", "bypass": True, "track": "Bass"},
            {"name": "Eq8", "format": "Live", "bypass": True, "track": "Bass, AudioEffectGroupDevice"},
            {"name": "Pro-L 2", "format": "VST3", "bypass": True, "track": "main"},
        ],
    }  # fmt: skip
    for found in (packed, plain):
        assert (found.generator, found.ambiguities, found.not_understood) == (
            "Ableton Live",
            (),
            (),
        )


def points(values: dict[int, float]) -> str:
    return "".join(f'<FloatEvent Time="{at}" Value="{bpm}"/>' for at, bpm in values.items())


def envelope(target: int, values: dict[int, float]) -> str:
    return (
        f'<AutomationEnvelope><EnvelopeTarget><PointeeId Value="{target}"/></EnvelopeTarget>'
        f"<Automation><Events>{points(values)}</Events></Automation></AutomationEnvelope>"
    )


def live_8(values: dict[int, float]) -> Imported:
    tempo = (
        f"<Tempo><ArrangerAutomation><Events>{points(values)}</Events></ArrangerAutomation></Tempo>"
    )
    master = f"<MasterTrack><MasterChain><Mixer>{tempo}</Mixer></MasterChain></MasterTrack>"
    text = f'<Ableton Creator="Ableton Live 8.1.4"><LiveSet>{master}</LiveSet></Ableton>'
    return imported(text.encode())


@pytest.mark.parametrize(
    ("found", "tempo"),
    [
        (als("ENVELOPES", envelope(11, {-63072000: 90, 0: 128.5, 16: 140})), (128.5, 140)),
        (als("ENVELOPES", envelope(99, {-63072000: 90, 0: 100})), 128.5),
        (live_8({-63072000: 95.3}), 95.3),
        (live_8({-63072000: 95.3, 0: 100, 16: 140}), (100, 140)),
    ],
)
def test_a_tempo_that_is_automated_is_open(found: Imported, tempo: Any) -> None:
    # The point before the start stands for the value itself.
    pointer = "/audio/tempo_bpm"

    assert found.values.get(pointer, doubts(found).get(pointer)) == tempo


def test_a_scale_that_is_not_in_use_is_no_key() -> None:
    found = als('<InKey Value="true"/>', '<InKey Value="false"/>')

    assert "/audio/key" not in found.values
    assert found.other["Ableton set"]["scale"] == "D Minor"


LAUGHS = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]><Ableton>&c;</Ableton>'


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (gzip.compress(LAUGHS), "it has a DOCTYPE"),
        (gzip.compress(b"<Ableton>" * 1000), "nested deeper than 256"),
        (gzip.compress(b"<Ableton" + b" " * (64 << 20)), "unclosed token"),
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


def dawproject(lanes: str = "", **members: bytes) -> Imported:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("project.xml", PROJECT.replace("LANES", lanes))
        for name, data in members.items():
            archive.writestr(f"plugins/{name}.vstpreset", data)
    return imported(file.getvalue(), "song.dawproject")


def test_a_dawproject_is_right_in_every_field() -> None:
    found = dawproject(diva=STATE)

    assert {at: value for at, value in found.values.items() if at != OWN} == {
        "/audio/daw/name": "Bitwig Studio", "/audio/daw/version": "5.1.2", "/audio/tempo_bpm": 149,
        "/audio/time_signature": "3/4",
        "/audio/chain": [
            {"name": "Diva", "format": "VST3", "version": "1.4.7", "preset": "Warm pad", "bypass": False,
             "state_sha256": digest_bytes(STATE, Algorithm.SHA256).hex, "track": "Keys"},
            {"name": "EQ+", "format": "Equalizer", "bypass": True, "track": "Keys"},
        ],
    }  # fmt: skip
    assert (found.generator, found.ambiguities, found.not_understood) == ("DAWproject", (), ())


def test_points_of_tempo_and_meter_open_them() -> None:
    lanes = (
        '<TempoAutomation unit="bpm"><RealPoint time="4" value="100"/></TempoAutomation>'
        '<TimeSignatureAutomation><TimeSignaturePoint time="8" numerator="7" denominator="8"/>'
        "</TimeSignatureAutomation>"
    )

    assert doubts(dawproject(lanes, diva=STATE)) == {
        "/audio/tempo_bpm": (149, 100), "/audio/time_signature": ("3/4", "7/8"),
    }  # fmt: skip


def test_a_state_that_is_not_there_is_named() -> None:
    found = dawproject()

    assert "state_sha256" not in found.values["/audio/chain"][0]
    assert "plugins/diva.vstpreset" in places(found)


@pytest.mark.parametrize("kind", ["gzip", "project", "state"])
def test_a_bomb_is_stopped_at_the_bound(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daw_xml, "BYTES_MAX", 8 << 20)
    found = {
        "gzip": lambda: imported(gzip.compress(b"<Ableton>" + b" " * (16 << 20))),
        "project": lambda: dawproject(" " * (16 << 20)),
        "state": lambda: dawproject(diva=bytes(16 << 20)),
    }[kind]()

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
