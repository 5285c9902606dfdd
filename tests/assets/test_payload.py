"""Claims about payloads: they stay through containers and tags, and change with a single sample or pixel."""

from __future__ import annotations

import io
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import av
import numpy as np
import pytest
from mediafiles import encode, remux, sound, unsize_clusters, widen_last_box
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from twice.assets.media.payload import digest_open_file, digest_payload

SAMPLES = (np.sin(np.arange(2400) / 7) * 20000).astype("<i2").reshape(-1, 2)


def digest(data: bytes) -> tuple[str, str]:
    found = digest_open_file(io.BytesIO(data), "it")
    return found.method, found.digest


def picture(form: str, image: object, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def test_samples_are_one_payload_in_every_container_and_another_with_one_of_them_changed() -> None:
    found = {digest(sound(form, SAMPLES)) for form in ("WAV", "AIFF", "FLAC", "RF64", "WAVEX")}
    other = SAMPLES.copy()
    other[77, 1] ^= 1
    eight = (SAMPLES >> 8).astype(np.int16) << 8

    assert [method for method, _ in found] == ["pcm/1"]
    assert digest(sound("WAV", other)) not in found
    assert digest(sound("WAV", eight, "PCM_U8")) == digest(sound("AIFF", eight, "PCM_S8"))


def test_the_time_that_float_files_carry_is_not_counted() -> None:
    data = sound("WAV", SAMPLES / 32768, "FLOAT")
    at = data.index(b"PEAK") + 12
    later = data[:at] + b"\x01\x02\x03\x04" + data[at + 4 :]

    assert data != later
    assert digest(data) == digest(later)


def test_the_level_of_compression_and_texts_are_not_counted() -> None:
    image = Image.fromarray(np.arange(48 * 32 * 4, dtype=np.uint8).reshape(48, 32, 4), "RGBA")
    texts = PngInfo()
    texts.add_text("parameters", "Seed: 1")

    plain = digest(picture("PNG", image))

    assert digest(picture("PNG", image, compress_level=0, pnginfo=texts)) == plain
    assert digest(picture("WEBP", image, lossless=True, exact=True)) == plain
    assert digest(picture("TIFF", image)) == plain


@pytest.mark.parametrize(
    "form", ["gray16be", "ya16be", "rgb48be", "rgba64be", "rgb48le", "rgba64le"]
)
def test_the_last_of_sixteen_bits_counts(form: str) -> None:
    """PNG stores big-endian samples, TIFF the others."""
    found = []
    for last in (b"\x12\x34", b"\x12\x35"):
        frame = av.VideoFrame(5, 3, form)
        plane = bytearray(b"\x12" * frame.planes[0].buffer_size)
        end = 2 * frame.planes[0].line_size + 5 * 2 * len(frame.format.components)
        plane[end - 2 : end] = last if form.endswith("be") else last[::-1]
        frame.planes[0].update(plane)
        codec = av.CodecContext.create("png" if form.endswith("be") else "tiff", "w")
        codec.width, codec.height, codec.pix_fmt, codec.time_base = 5, 3, form, Fraction(1)
        found.append(digest(b"".join(map(bytes, [*codec.encode(frame), *codec.encode(None)]))))

    assert found[0][0] == "pixels-rgba16/1"
    assert found[0] != found[1]


def test_other_files_are_their_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_bytes(b"<svg/>")
    found = digest_payload(tmp_path / "a.svg")

    assert (found.method, found.media_type) == ("bytes/1", "text/plain")
    assert found.digest == f"sha256:{sha256(b'<svg/>').hexdigest()}"


SAME_PACKETS = {
    "mp3": ("mp3", ["libmp3lame"], ["mp3", "matroska", "mp4", "wav", "avi"]),
    "aac": ("ipod", ["aac"], ["adts", "mp4", "mov", "matroska"]),
    "opus": ("ogg", ["libopus"], ["webm", "mp4", "matroska"]),
    "flac in containers": ("ogg", ["flac"], ["matroska", "mp4"]),
    "film": ("mp4", ["mpeg4", "aac"], ["mov", "matroska"]),
    "h264": ("mp4", ["libx264", "aac"], ["mov", "matroska"]),
    "hevc": ("mp4", ["libx265"], ["mov", "matroska"]),
    "vp8": ("webm", ["libvpx", "libopus"], ["matroska"]),
}


@pytest.mark.parametrize("name", SAME_PACKETS)
def test_packets_are_the_same_in_every_container_whatever_tags_it_has(name: str) -> None:
    form, codecs, others = SAME_PACKETS[name]
    first = encode(form, *codecs)
    copies = [remux(first, other) for other in others]
    if form != "ogg":
        copies.append(remux(first, form, {"comment": "seed 439212"}))

    assert digest(first)[0] == "packets/2"
    assert {digest(each) for each in copies} == {digest(first)}
    assert digest(encode(form, *codecs, seed=2)) != digest(first)


@pytest.mark.parametrize("form", ["ogg", "matroska"])
def test_the_comment_inside_the_setup_of_vorbis_is_not_counted(form: str) -> None:
    first = sound("OGG", SAMPLES / 32768, "VORBIS")
    tagged = remux(first, form, {"comment": "seed 439212"})

    assert b"439212" in tagged
    assert digest(tagged) == digest(first)


def test_a_film_is_the_same_in_fragments_and_behind_wide_lengths() -> None:
    whole = encode("mp4", "libx264", "aac")
    parts = remux(whole, "mp4", movflags="frag_keyframe+empty_moov")
    film = encode("mp4", "mpeg4")

    assert b"moof" in parts
    assert digest(parts) == digest(whole)
    assert digest(widen_last_box(film)) == digest(film)


def test_clusters_without_a_length_lose_no_packets() -> None:
    """Browsers write them while they record; the second cluster is not a part of the first."""
    films = [encode("webm", "libopus", seed=seed, cluster_time_limit="100") for seed in (1, 2)]

    assert [digest(unsize_clusters(each)) for each in films] == [digest(each) for each in films]
    assert digest(films[0]) != digest(films[1])


def test_bytes_between_frames_of_an_mp3_are_no_frames() -> None:
    data = encode("mp3", "libmp3lame", id3v2_version="0", write_xing="0")
    at = data.index(data[:2], len(data) // 2)
    tag = b"TAG" + b"seed 439212".ljust(125)

    assert digest(data[:at] + tag + data[at:] + tag) == digest(data)


def test_how_many_blocks_of_adpcm_are_in_a_packet_is_not_counted() -> None:
    data = encode("wav", "adpcm_ms")

    assert digest(data) == digest(remux(data, "avi"))
