"""Claims about scrubbing: nothing is left to be found, and what is heard and seen stays as it was."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile
from leakfiles import CLEAN, LEAKING, PIXELS, TITLED, dirty_png, exif
from mediafiles import box, encode, remux, widen_last_box
from PIL import Image

from programs import call
from twice.assets.errors import ScrubRefused
from twice.assets.media.payload import digest_open_file
from twice.assets.scrub import ScrubbedFile, scrub

REFUSED = ("epub", "zip", "html", "svg")
MADE = {**LEAKING, **CLEAN, **TITLED}
ACCEPTED = [name for name in MADE if not name.endswith(REFUSED)]
HEARD = {"vc.ogg", "vc.opus", "vc.flac", "bext.wav", "cover.mp3"}


def copied(data: bytes) -> tuple[ScrubbedFile, bytes]:
    made = scrub(io.BytesIO(data), "it")
    return made, made.copy.read()


@pytest.mark.parametrize("name", ACCEPTED)
def test_the_payload_stays_and_nothing_is_left_but_what_is_in_pixels(name: str) -> None:
    data = MADE[name]()

    made, copy = copied(data)

    assert digest_open_file(io.BytesIO(copy), "it") == made.payload
    assert bool(made.left) is (name == "stealth.png")
    assert b"REAPER" not in copy
    assert b"439212" not in copy
    assert made.removed or name not in LEAKING or name == "stealth.png"
    assert name != "clean.png" or copy == data
    if name in HEARD:
        before, after = (soundfile.read(io.BytesIO(each), dtype="int32") for each in (data, copy))
        assert before[1] == after[1]
        assert np.array_equal(before[0], after[0])


def test_a_copy_gets_no_name_of_another_format(tmp_path: Path) -> None:
    data = dirty_png()
    with pytest.raises(ScrubRefused, match=r"out\.jpg is the name of another format"):
        scrub(io.BytesIO(data), "in.png", str(tmp_path / "out.jpg"))
    for name, copy_name in (("in.png", "out.PNG"), ("in.png", "out"), ("in.jpg", "out.jpg")):
        assert scrub(io.BytesIO(data), name, copy_name).removed


TAGS = {"comment": "seed 439212", "title": "REAPER 7.03", "language": "fra"}
CONTAINERS = {
    "mp3": ["libmp3lame"], "flac": ["flac"], "ogg": ["libopus"], "webm": ["libvpx", "libopus"],
    "mp4": ["libx264", "aac"], "mov": ["mpeg4", "aac"], "ipod": ["alac"], "matroska": ["libx264", "aac"],
}  # fmt: skip


def timeline(data: bytes) -> list[tuple[object, ...]]:
    """Return which packets begin when, in which language, and how their pictures are turned."""
    with av.open(io.BytesIO(data)) as file:
        packets = [each for each in file.demux() if each.size]
        streams = [(each.index, each.language, str(each.disposition)) for each in file.streams]
        return [
            (*streams[each.stream_index], each.pts * each.time_base, each.size) for each in packets
        ]


@pytest.mark.parametrize("form", CONTAINERS)
def test_a_film_or_sound_without_its_tags_has_its_times_and_languages(form: str) -> None:
    tagged = remux(encode(form, *CONTAINERS[form]), form, TAGS)

    made, copy = copied(tagged)
    names = {each.name for each in made.removed}

    assert b"439212" in tagged
    assert b"439212" not in copy
    assert b"REAPER" not in copy
    assert timeline(copy) == timeline(tagged)
    assert {"tag comment", "tag COMMENT", "tag comment of stream 0"} & names
    assert copied(tagged)[1] == copy


def test_a_film_that_is_shown_turned_stays_turned() -> None:
    turned = encode("mp4", "mpeg4")
    # The matrix of a track, by a quarter of a turn.
    straight = struct.pack(">9i", 1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30)
    quarter = struct.pack(">9i", 0, 1 << 16, 0, -1 << 16, 0, 0, 0, 0, 1 << 30)
    at = turned.index(straight, turned.index(b"tkhd"))
    turned = turned[:at] + quarter + turned[at + 36 :]

    copy = copied(turned)[1]

    assert copy[copy.index(b"tkhd") :].count(quarter[:20]) == 1


def test_no_byte_behind_a_length_of_64_bits_is_taken_for_a_trace() -> None:
    """A player reads the box to its end; there is nothing after it."""
    made, _ = copied(widen_last_box(encode("mp4", "mpeg4")))

    assert not [each.name for each in made.removed if "after" in each.name]


@pytest.mark.parametrize("form", ["mp3", "adts", "flac", "mp4", "ogg", "matroska"])
def test_bytes_behind_the_sound_do_not_reach_the_copy(form: str) -> None:
    codec = {"mp3": "libmp3lame", "adts": "aac", "mp4": "aac", "ogg": "libopus"}.get(form, "flac")
    tail = box(b"uuid", b"seed 439212" * 9) if form == "mp4" else b"TAG" + b"seed 439212".ljust(125)

    made, copy = copied(encode(form, codec) + tail)

    assert b"439212" not in copy
    assert made.removed


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_how_a_picture_is_turned_stays(form: str) -> None:
    block = Image.Exif()
    block.load(exif())
    block[274] = 6
    out = io.BytesIO()
    Image.fromarray(PIXELS).save(out, form, exif=block.tobytes())

    copy = Image.open(io.BytesIO(copied(out.getvalue())[1]))

    assert dict(copy.getexif()) == {274: 6}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (LEAKING["book.epub"](), "application/zip, which cannot be scrubbed"),
        (LEAKING["comment.svg"](), "text/plain, which cannot be scrubbed"),
        (dirty_png()[:-30], "E-SCRUB-001.*it cannot be scrubbed: The payload of it cannot be told"),
    ],
)
def test_what_is_no_whole_picture_or_sound_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(ScrubRefused, match=words):
        copied(data)


def test_the_command_writes_once_and_says_what_it_did(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(dirty_png())

    first = call("asset", "scrub", "a.png", "-o", "b.png", "--json", cwd=tmp_path)
    second = call("asset", "scrub", "a.png", "-o", "b.png", cwd=tmp_path)

    assert first.returncode == 0, first.stderr
    assert '"twice.scrub/1"' in first.stdout
    assert (second.returncode, "E-OUTPUT-001" in second.stderr) == (2, True)
    assert call("asset", "leaks", "a.png", cwd=tmp_path).returncode == 1
    assert call("asset", "leaks", "b.png", cwd=tmp_path).returncode == 0
    sarif = call("asset", "leaks", "a.png", "--format", "sarif", cwd=tmp_path)
    assert '"ruleId": "L101"' in sarif.stdout
