"""Claims about damaged and hostile pictures, sounds and films: one clear error each, and little memory."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from leakfiles import chunk
from mediafiles import box, encode, promise_samples, remux
from PIL import Image

from twice.assets.errors import PayloadRefused
from twice.assets.media import av, images
from twice.assets.media.measure import measure_file
from twice.assets.media.payload import digest_open_file, digest_payload
from twice.assets.media.sniff import Damaged

PNG = b"\x89PNG\r\n\x1a\n"
HUGE = chunk(b"IHDR", struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0))


def cut(data: bytes, share: float = 0.6) -> bytes:
    return data[: int(len(data) * share)]


def picture(form: str, frames: int = 1) -> bytes:
    out = io.BytesIO()
    made = [Image.effect_noise((40, 30), 50 + at).convert("RGB") for at in range(frames)]
    more = {"save_all": True, "append_images": made[1:]} if frames > 1 else {}
    made[0].save(out, form, **more)
    return out.getvalue()


def nest(depth: int) -> bytes:
    """Put boxes of a film in each other."""
    inside = b"".join(struct.pack(">I4s", 8 * left, b"moov") for left in range(depth, 0, -1))
    return box(b"ftyp", b"isom\0\0\0\0") + inside


DAMAGED: dict[str, tuple[Callable[[], bytes], str]] = {
    "a PNG with nonsense": (lambda: PNG + b"nonsense" * 4, "pillow says"),
    "a cut PNG": (lambda: cut(picture("PNG")), "pillow says"),
    "a cut JPEG": (lambda: cut(picture("JPEG")), "pillow says"),
    "a cut TIFF": (lambda: cut(picture("TIFF")), "pillow says"),
    "a cut WebP": (lambda: cut(picture("WEBP")), "pillow says"),
    "a PNG of 900 million pixels": (
        lambda: PNG + HUGE + chunk(b"IDAT", zlib.compress(bytes(999))) + chunk(b"IEND", b""), "pillow says: Image size",
    ),
    "a cut WAV": (lambda: cut(encode("wav", "pcm_s16le")), "the samples are cut off"),
    "a cut AIFF": (lambda: cut(encode("aiff", "pcm_s16be")), "the samples are cut off"),
    "a cut FLAC": (lambda: cut(encode("flac", "flac")), "frames are there|libsndfile says"),
    "a WAV without samples": (lambda: b"RIFF\x10\0\0\0WAVEfmt \x04\0\0\0abcd", "libsndfile says"),
    "a cut Opus": (lambda: cut(encode("ogg", "libopus"), 0.95), "the last page is cut off"),
    "a cut film": (lambda: cut(encode("mp4", "mpeg4", "aac"), 0.9), "the box .moov. is cut off"),
    "a cut film in fragments": (
        lambda: cut(remux(encode("mp4", "mpeg4"), "mp4", movflags="frag_keyframe+empty_moov"), 0.9), "is cut off",
    ),
    "a cut Matroska": (lambda: cut(encode("matroska", "mpeg4", "aac"), 0.9), "its segment is longer"),
    "a cut AVI": (lambda: cut(encode("avi", "mpeg4"), 0.9), "its list is longer"),
    "a film without a movie": (lambda: box(b"ftyp", b"isom\0\0\0\0") + box(b"mdat", b"x" * 99), "FFmpeg says"),
    "boxes nested 5,000 deep": (lambda: nest(5000), "FFmpeg says"),
    "a Matroska without a segment": (lambda: b"\x1aE\xdf\xa3\x80" + bytes(40), "there is no segment"),
    "60 million frames in a kilobyte": (
        lambda: promise_samples(60_000_000, fragmented=False), "60,000,000 samples are promised",
    ),
    "60 million frames in a fragment": (
        lambda: promise_samples(60_000_000, fragmented=True), "60,000,000 samples are promised",
    ),
    "an MP3 of tags alone": (lambda: b"ID3\4\0\0\0\0\0\x0a" + bytes(10), "FFmpeg says"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_refused_with_its_reason(name: str) -> None:
    make, words = DAMAGED[name]

    with pytest.raises(PayloadRefused, match=f"E-PAYLOAD-001.*{words}"):
        digest_open_file(io.BytesIO(make()), "it")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PayloadRefused, match="No such file"):
        digest_payload(tmp_path / "none.png")


def test_a_file_of_no_bytes_is_no_asset(tmp_path: Path) -> None:
    (tmp_path / "none.png").touch()
    with pytest.raises(PayloadRefused, match="has no bytes"):
        measure_file(tmp_path / "none.png")


@pytest.mark.parametrize(
    ("module", "limit", "value", "data", "words"),
    [
        (av, "PACKET_MAX", 2000, encode("avi", "mpeg4"), "a packet or a table is larger"),
        (images, "PIXELS_MAX", 40 * 30 * 2, picture("GIF", frames=3), "more than 2,400 pixels"),
    ],
)
def test_what_would_fill_the_memory_is_refused(
    module: object, limit: str, value: int, data: bytes, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, limit, value)

    with pytest.raises(PayloadRefused, match=words):
        digest_open_file(io.BytesIO(data), "it")


def test_no_other_format_is_opened_than_those_that_are_known() -> None:
    """FFmpeg knows playlists, which name files and addresses; CAF stands for what is not on the list."""
    caf = io.BytesIO(encode("caf", "pcm_s16le"))

    with pytest.raises(Damaged, match="FFmpeg says"), av.open_media(caf):
        pass


def test_a_sparse_film_of_four_gigabytes_is_read_piece_by_piece(tmp_path: Path) -> None:
    film = encode("mp4", "mpeg4")
    path = tmp_path / "sparse.mp4"
    with path.open("wb") as file:
        file.write(film + struct.pack(">I4sQ", 1, b"free", 4 << 30))
        file.truncate(len(film) + (4 << 30))

    assert digest_payload(path).digest == digest_open_file(io.BytesIO(film), "it").digest
