"""Claims about payloads: they stay through containers and tags, and change with a single sample or pixel."""

from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from mediafiles import encode, remux, unsize_clusters, widen_last_box

from twice.assets.media.payload import digest_open_file, digest_payload

Image = pytest.importorskip("PIL.Image")
soundfile = pytest.importorskip("soundfile")

SAMPLES = (np.sin(np.arange(2400) / 7) * 20000).astype("<i2").reshape(-1, 2)


def digest(data: bytes) -> tuple[str, str]:
    found = digest_open_file(io.BytesIO(data), "it")
    return found.method, found.digest


def sound(form: str, subtype: str = "PCM_16", samples: object = SAMPLES) -> bytes:
    out = io.BytesIO()
    soundfile.write(out, samples, 48000, format=form, subtype=subtype)
    return out.getvalue()


def picture(form: str, image: object, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def test_wav_aiff_and_flac_of_the_same_samples_are_one_payload() -> None:
    found = {digest(sound(form)) for form in ("WAV", "AIFF", "FLAC", "RF64", "WAVEX")}

    assert len(found) == 1
    assert found.pop()[0] == "pcm/1"


def test_one_sample_makes_another_payload() -> None:
    other = SAMPLES.copy()
    other[77, 1] ^= 1

    assert digest(sound("WAV")) != digest(sound("WAV", samples=other))


def test_unsigned_bytes_in_wav_are_the_signed_ones_of_aiff() -> None:
    eight = (SAMPLES >> 8).astype(np.int16) << 8

    assert digest(sound("WAV", "PCM_U8", eight)) == digest(sound("AIFF", "PCM_S8", eight))


def test_the_time_that_float_files_carry_is_not_counted() -> None:
    data = sound("WAV", "FLOAT", SAMPLES / 32768)
    at = data.index(b"PEAK") + 12
    later = data[:at] + b"\x01\x02\x03\x04" + data[at + 4 :]

    assert data != later
    assert digest(data) == digest(later)


def test_the_level_of_compression_and_texts_are_not_counted() -> None:
    from PIL.PngImagePlugin import PngInfo

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


def test_a_payload_says_what_was_measured(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(sound("WAV"))

    found = digest_payload(path).measured

    assert (found.sample_rate_hz, found.channels, found.bit_depth) == (48000, 2, 16)
    assert found.duration_s == 1200 / 48000


def test_other_files_are_their_bytes() -> None:
    from hashlib import sha256

    assert digest(b"<svg/>") == ("bytes/1", f"sha256:{sha256(b'<svg/>').hexdigest()}")


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
    tagged = {form: remux(first, form, {"comment": "seed 439212"})} if form != "ogg" else {}

    found = {other: digest(remux(first, other)) for other in others}

    assert digest(first)[0] == "packets/2"
    assert found == dict.fromkeys(found, digest(first))
    assert {each: digest(data) for each, data in tagged.items()} == dict.fromkeys(
        tagged, digest(first)
    )
    assert digest(encode(form, *codecs, seed=2)) != digest(first)


def test_a_fragmented_film_is_the_whole_one() -> None:
    whole = encode("mp4", "libx264", "aac")
    parts = remux(whole, "mp4", movflags="frag_keyframe+empty_moov")

    assert b"moof" in parts
    assert digest(parts) == digest(whole)


def test_clusters_without_a_length_lose_no_packets() -> None:
    """Browsers write them while they record; the second cluster is not a part of the first."""
    films = [encode("webm", "libopus", seed=seed, cluster_time_limit="100") for seed in (1, 2)]

    assert [digest(unsize_clusters(each)) for each in films] == [digest(each) for each in films]
    assert digest(films[0]) != digest(films[1])


def test_a_box_with_a_length_of_64_bits_is_as_long_as_it_says() -> None:
    film = encode("mp4", "mpeg4")

    assert digest(widen_last_box(film)) == digest(film)


def test_bytes_between_frames_of_an_mp3_are_no_frames() -> None:
    data = encode("mp3", "libmp3lame", id3v2_version="0", write_xing="0")
    at = data.index(data[:2], len(data) // 2)
    tag = b"TAG" + b"seed 439212".ljust(125)

    assert digest(data[:at] + tag + data[at:] + tag) == digest(data)


def test_how_many_blocks_of_adpcm_are_in_a_packet_is_not_counted() -> None:
    data = encode("wav", "adpcm_ms")

    assert digest(data) == digest(remux(data, "avi"))
