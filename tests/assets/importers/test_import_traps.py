"""Claims about files that invite a wrong guess: each is right in every field, or open, or refused with its place."""

from __future__ import annotations

import gzip
import io
import json
import struct
import warnings
import zipfile
from typing import Any

import pytest
from madefiles import comfy, doubts, imported, jpeg, places, png, user_comment

TEMPO_100, TEMPO_120 = b"\xff\x51\x03\x09\x27\xc0", b"\xff\x51\x03\x07\xa1\x20"
END = b"\0\xff\x2f\0"


def midi(events: bytes, division: int = 96) -> bytes:
    track = events + END
    head = b"MThd" + struct.pack(">IHHH", 6, 0, 1, division)
    return head + b"MTrk" + struct.pack(">I", len(track)) + track


def test_running_status_is_followed() -> None:
    notes = b"\0\x90\x40\x40\x10\x41\x40\x10\x42\0\0\xc0\x05\x10\x06"
    found = imported(midi(b"\0" + TEMPO_100 + notes), "a.mid")
    assert (found.values, places(found)) == ({"/audio/tempo_bpm": 100}, "")


@pytest.mark.parametrize("division", [0xE728, 0], ids=["SMPTE", "none"])
def test_a_tempo_is_open_where_time_is_not_counted_in_quarter_notes(division: int) -> None:
    found = imported(midi(b"\0" + TEMPO_100, division), "a.mid")
    assert doubts(found) == {"/audio/tempo_bpm": (100,)}
    assert "MThd" in places(found)


def test_what_holds_before_a_late_tempo_is_a_candidate() -> None:
    late = b"\0\x90\x40\x40\x60" + TEMPO_100 + b"\0\xff\x58\x04\x03\x02\x18\x08"
    found = imported(midi(late), "a.mid")
    assert doubts(found) == {
        "/audio/tempo_bpm": (120, 100),
        "/audio/time_signature": ("4/4", "3/4"),
    }
    same = imported(midi(b"\0\x90\x40\x40\x60" + TEMPO_120), "a.mid")
    assert same.values == {"/audio/tempo_bpm": 120}


@pytest.mark.parametrize(
    "events", [b"\0\xf8\0" + TEMPO_100, b"\0\x90\xff\x51\x03\0" + TEMPO_100], ids=["clock", "data"]
)
def test_a_track_that_is_none_gives_no_tempo(events: bytes) -> None:
    found = imported(midi(events), "a.mid")
    assert (found.values, "track 0" in places(found)) == ({}, True)


def bext(origin: bytes = b"REAPER", history: bytes = b"A=PCM,T=REAPER 7.03") -> bytes:
    return origin.rjust(256 + len(origin), b"\0").ljust(346, b"\0").ljust(602, b"\0") + history


def wave_chunk(name: bytes, data: bytes, *, padded: bool = True) -> bytes:
    pad = b"\0" * (len(data) % 2 if padded else 0)
    return name + struct.pack("<I", len(data)) + data + pad


FORM = wave_chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, 44100, 88200, 2, 16))
NAMED = {"/audio/daw/name": "REAPER", "/audio/daw/version": "7.03"}


@pytest.mark.parametrize("magic", [b"RF64", b"BW64"])
@pytest.mark.parametrize("size", [200, 201])
def test_what_follows_the_samples_of_a_large_wave_is_read(magic: bytes, size: int) -> None:
    sizes = wave_chunk(b"ds64", struct.pack("<QQQI", 0, size, 100, 0))
    samples = b"data\xff\xff\xff\xff" + bytes(size + size % 2)
    data = magic + b"\xff\xff\xff\xffWAVE" + sizes + FORM + samples + wave_chunk(b"bext", bext())
    found = imported(data, "a.wav")
    assert (found.values, places(found)) == (NAMED, "")


def test_a_chunk_of_odd_length_is_stepped_over_with_its_padding() -> None:
    body = b"WAVE" + FORM + wave_chunk(b"bext", bext(history=b"A=PCM,T=REAPER 7.03 "))
    body += wave_chunk(b"iXML", b"<BWFXML><NOTE>a</NOTE></BWFXML>") + wave_chunk(b"data", bytes(8))
    found = imported(b"RIFF" + struct.pack("<I", len(body)) + body, "a.wav")
    assert (found.values, found.other["iXML"]) == (NAMED, {"NOTE": "a"})


def test_a_chunk_of_odd_length_without_its_padding_is_named_and_gives_nothing() -> None:
    body = b"WAVE" + wave_chunk(b"junk", b"abc", padded=False) + FORM + wave_chunk(b"bext", bext())
    found = imported(b"RIFF" + struct.pack("<I", len(body)) + body, "a.wav")
    assert (found.values, "cut off" in places(found)) == ({}, True)


SET = (
    b'<?xml version="1.0"?><Ableton Creator="Ableton Live 11.3.4"><LiveSet><MainTrack><DeviceChain><Mixer>'
    b'<Tempo><Manual Value="96"/></Tempo><TimeSignature><Manual Value="201"/></TimeSignature></Mixer>'
    b'</DeviceChain></MainTrack><Note Value="Steps: 3, Sampler: x, Seed: 5"/></LiveSet></Ableton>'
)


def test_a_set_that_somebody_unpacked_says_the_same_as_the_packed_one() -> None:
    plain, packed = imported(SET, "a.als"), imported(gzip.compress(SET), "a.als")
    own = "/audio/daw/project_sha256"
    assert {**plain.values, own: ""} == {**packed.values, own: ""}
    assert plain.values["/audio/tempo_bpm"] == 96
    assert (plain.generator, places(plain)) == ("Ableton Live", "")


def test_a_page_that_quotes_parameters_is_no_infotext() -> None:
    for head in (b"<?xml version='1.0'?><a>", b"<html>", b"<!DOCTYPE html>"):
        found = imported(head + b"\nSteps: 20, Sampler: Euler, Seed: 42\n", "a.html")
        assert found.values == {}


def dawproject(*members: tuple[str, str]) -> bytes:
    held = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(held, "w") as archive:
        warnings.simplefilter("ignore", UserWarning)  # A name that comes twice.
        for name, text in members:
            archive.writestr(name, text)
    return held.getvalue()


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ([("metadata.xml", "<MetaData/>")], "there is none in the zip"),
        ([("sub/project.xml", "<Project/>")], "there is none in the zip"),
        ([("project.xml", "<Project/>"), ("project.xml", "<Project/>")], "it stands twice"),
    ],
    ids=["none", "elsewhere", "twice"],
)
def test_a_dawproject_has_one_project(members: list[tuple[str, str]], why: str) -> None:
    found = imported(dawproject(*members), "a.dawproject")
    assert (found.values, why in places(found)) == ({}, True)


REAPER = """<REAPER_PROJECT 0.1 "7.03/linux-x86_64" 1700000000
  TEMPO 92.5 6 8
  <TEMPOENVEX
    ACT 1 -1
    PT 0 92.5 1 524294 0 1
    PT 8.0 120.25 0
  >
  <TRACK {A}
    NAME Strings
    <FREEZE
      <ITEM
      >
    >
    <ITEM
      MUTE 1 0
      <SOURCE SECTION
        LENGTH 1
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
      <SOURCE WAVE
        FILE "a.wav"
      >
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
    found = imported(mark + REAPER.replace("\n", ends).encode(), "a.rpp")
    said = places(found)
    assert "Strings: the track is frozen" in said
    assert "several takes" in said
    assert "'sub.rpp' sounds in it" in said
    assert [(each["name"], each["bypass"]) for each in found.values["/audio/chain"]] == [
        ("loser/eq", False), ("Two (x)", True),
    ]  # fmt: skip
    assert found.values["/audio/time_signature"] == "6/8"
    assert doubts(found) == {"/audio/tempo_bpm": (92.5, 120.25)}
    assert any(key.startswith("muted: Strings, item") for key in found.other["REAPER project"])


def node(number: int, kind: str, values: list[Any], *links: tuple[str, str, int | None], mode: int = 0,
         out: str = "X") -> dict[str, Any]:  # fmt: skip
    inputs = [{"name": name, "type": type_, "link": link} for name, type_, link in links]
    return {
        "id": number, "type": kind, "mode": mode, "inputs": inputs, "widgets_values": values,
        "outputs": [{"name": out, "type": out}],
    }  # fmt: skip


def screen(*more: dict[str, Any], seed: int | None = None, links: Any = (), text: str = "a lamp",
           model: int = 1, **beside: Any) -> Any:  # fmt: skip
    """Build a screen with a sampler whose seed may be linked."""
    inner = [("seed", "INT", seed)] if seed is not None else []
    nodes = [
        node(1, "CheckpointLoaderSimple", ["m.safetensors"], out="MODEL"),
        node(2, "CLIPTextEncode", [text], ("clip", "CLIP", 5)),
        node(3, "CLIPTextEncode", ["bad"], ("clip", "CLIP", 6)),
        node(4, "EmptyLatentImage", [512, 768, 1]),
        node(10, "KSampler", [5, "fixed", 20, 7.0, "euler", "normal", 1.0], ("model", "MODEL", 1),
             ("positive", "C", 2), ("negative", "C", 3), ("latent_image", "L", 4), *inner),
        node(11, "VAEDecode", [], ("samples", "L", 9), ("vae", "VAE", 7)),
        node(12, "SaveImage", ["x"], ("images", "I", 8)),
        *more,
    ]  # fmt: skip
    wired = [
        [1, model, 0, 10, 0, "MODEL"], [2, 2, 0, 10, 1, "C"], [3, 3, 0, 10, 2, "C"], [4, 4, 0, 10, 3, "L"],
        [5, 1, 1, 2, 0, "CLIP"], [6, 1, 1, 3, 0, "CLIP"], [7, 1, 2, 11, 1, "VAE"], [8, 11, 0, 12, 0, "I"],
        [9, 10, 0, 11, 0, "L"], *links,
    ]  # fmt: skip
    return comfy(workflow={"nodes": nodes, "links": wired, "version": 0.4, **beside})


def test_a_seed_from_a_primitive_through_a_reroute_is_its_value() -> None:
    wired = [[31, 20, 0, 21, 0, "*"], [30, 21, 0, 10, 4, "INT"]]
    reroute = node(21, "Reroute", [], ("", "*", 31))
    fixed = screen(node(20, "PrimitiveNode", [77, "fixed"]), reroute, seed=30, links=wired)
    assert (fixed.values["/seed/effective"], doubts(fixed)) == ("77", {})
    drawn = screen(node(20, "PrimitiveNode", [77, "randomize"]), reroute, seed=30, links=wired)
    assert doubts(drawn) == {"/seed/effective": ("77",)}


def test_groups_and_drawn_reroutes_change_nothing() -> None:
    plain = screen().values
    drawn = screen(
        groups=[{"title": "seed 9", "bounding": [0, 0, 9, 9]}],
        extra={"reroutes": [{"id": 1, "pos": [1, 2], "linkIds": [1]}]},
    ).values
    own = "/art/workflow"
    assert {k: v for k, v in drawn.items() if not k.startswith(own)} == {
        k: v for k, v in plain.items() if not k.startswith(own)
    }
    assert plain["/seed/effective"] == "5"


def test_a_bypassed_adapter_is_none_and_a_bypassed_sampler_gives_no_seed() -> None:
    lora = node(24, "LoraLoaderModelOnly", ["ink.safetensors", 0.8], ("model", "MODEL", 50), mode=4,
                out="MODEL")  # fmt: skip
    found = screen(lora, model=24, links=[[50, 1, 0, 24, 0, "MODEL"]])
    assert found.values["/model/name"] == "m.safetensors"
    assert "/model/adapters" not in found.values
    graph = {
        "1": {"class_type": "KSampler", "inputs": {"seed": ["2", 0], "model": ["9", 0]}},
        "2": {"class_type": "PrimitiveInt", "inputs": {"value": ["1", 0]}},
        "3": {"class_type": "SaveImage", "inputs": {"images": ["1", 0]}},
    }
    assert "/seed/effective" not in comfy(graph).values


def test_a_model_that_comes_from_nowhere_on_the_screen_is_named() -> None:
    get = node(22, "GetNode", ["model"], out="MODEL")
    found = screen(get, model=22)
    assert "/model/name" not in found.values
    assert "no name of one is written" in places(found)


@pytest.mark.parametrize(
    ("text", "is_open"),
    [("a {red|blue} lamp", True), (r"a \{red\|blue\} lamp", False), ("a {lamp}", False)],
)
def test_a_text_of_which_a_part_was_drawn_is_open_on_the_screen(text: str, is_open: bool) -> None:
    found = screen(text=text)
    assert ("/art/prompt" in doubts(found)) == is_open
    assert ("/art/prompt" in found.values) != is_open


LAST = "Steps: 28, Sampler: Euler a, CFG scale: 7, Seed: 123, Size: 512x768"


def test_parameters_that_a_prompt_quotes_stay_in_the_prompt() -> None:
    said = (
        "a sign:\nSteps: to heaven, Seed: 5\nby a lake\nNegative prompt: text,\n"
        "Steps: 3, Sampler: fake, Seed: 9, Size: 1x1\nmore\n"
    )
    for text in (said + LAST, (said + LAST).replace("\n", "\r\n")):
        found = imported(png(("parameters", text)), "a.png").values
        assert found["/seed/effective"] == "123"
        assert found["/art/prompt"] == "a sign:\nSteps: to heaven, Seed: 5\nby a lake"
        assert (
            found["/art/negative_prompt"]
            == "text,\nSteps: 3, Sampler: fake, Seed: 9, Size: 1x1\nmore"
        )


def test_a_last_line_that_the_writer_would_not_read_is_not_read_instead() -> None:
    found = imported(png(("parameters", f"a lamp\n{LAST}\nSteps: 99, Seed: 4")), "a.png")
    assert "/seed/effective" not in found.values
    assert "2 lines look like parameters" in places(found)


def test_of_two_metadata_of_invokeai_with_two_seeds_nothing_is_mixed() -> None:
    third = {"app_version": "5.0.0", "seed": 7, "positive_prompt": "p", "steps": 30}
    second = {
        "image": {"prompt": "p", "seed": 8, "steps": 30, "cfg_scale": 7.5, "sampler": "k_euler"}
    }
    texts = ("invokeai_metadata", json.dumps(third)), ("sd-metadata", json.dumps(second))
    found = imported(png(*texts), "a.png")
    assert doubts(found)["/seed/effective"] == ("7", "8")
    assert doubts(found)["/art/guidance"] == (7.5,)
    assert (found.values["/art/prompt"], found.values["/art/steps"]) == ("p", 30)
    second["image"]["seed"] = 7  # type: ignore[index]
    found = imported(png(texts[0], ("sd-metadata", json.dumps(second))), "a.png")
    assert (found.values["/seed/effective"], found.values["/art/guidance"]) == ("7", 7.5)


@pytest.mark.parametrize("big", [False, True])
def test_parameters_of_swarmui_in_exif_are_read(big: bool) -> None:
    said = {"prompt": "p", "model": "m", "seed": 42, "steps": 20, "swarm_version": "0.9.5"}
    text = json.dumps({"sui_image_params": said})
    found = imported(jpeg(user_comment(text, big=big)), "a.jpg").values
    assert (found["/seed/effective"], found["/art/prompt"], found["/art/steps"]) == ("42", "p", 20)
    said |= {"seed": -1}
    text = json.dumps({"sui_image_params": said, "sui_extra_data": {"seed": 3}})
    again = imported(jpeg(user_comment(text, big=big)), "a.jpg")
    assert doubts(again) == {"/seed/effective": ()}
