"""Claims about damaged and hostile pictures, sounds and films: one clear error each, and little memory."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from mediafiles import box, encode, promise_samples, remux
from PIL import Image

from twice.assets.errors import PayloadRefused
from twice.assets.media import av, images
from twice.assets.media.payload import digest_open_file, digest_payload
from twice.assets.media.sniff import Damaged


def cut(data: bytes, share: float = 0.6) -> bytes:
    return data[: int(len(data) * share)]


def picture(form: str, **options: object) -> bytes:
    out = io.BytesIO()
    Image.effect_noise((40, 30), 50).convert("RGB").save(out, form, **options)
    return out.getvalue()


def huge_png() -> bytes:
    """Build a PNG of 200 bytes that says it has 900 million pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n"
        + head
        + chunk(b"IDAT", zlib.compress(bytes(999)))
        + chunk(b"IEND", b"")
    )


DAMAGED: dict[str, tuple[Callable[[], bytes], str]] = {
    "a PNG with nonsense": (lambda: b"\x89PNG\r\n\x1a\n" + b"nonsense" * 4, "pillow says"),
    "a cut PNG": (lambda: cut(picture("PNG")), "pillow says"),
    "a cut JPEG": (lambda: cut(picture("JPEG")), "pillow says"),
    "a cut TIFF": (lambda: cut(picture("TIFF")), "pillow says"),
    "a cut WebP": (lambda: cut(picture("WEBP")), "pillow says"),
    "a PNG of 900 million pixels": (huge_png, "pillow says: Image size"),
    "a cut FLAC": (lambda: cut(encode("flac", "flac")), "frames are there|libsndfile says"),
    "a WAV without samples": (lambda: b"RIFF\x10\0\0\0WAVEfmt \x04\0\0\0abcd", "libsndfile says"),
    "a cut Opus": (lambda: cut(encode("ogg", "libopus"), 0.95), "the last page is cut off"),
    "a cut film": (lambda: cut(encode("mp4", "mpeg4", "aac"), 0.9), "the box .moov. is cut off"),
    "a cut film in fragments": (
        lambda: cut(remux(encode("mp4", "mpeg4"), "mp4", movflags="frag_keyframe+empty_moov"), 0.9),
        "is cut off",
    ),
    "a cut Matroska": (lambda: cut(encode("matroska", "mpeg4", "aac"), 0.9), "its segment is longer"),
    "a cut AVI": (lambda: cut(encode("avi", "mpeg4"), 0.9), "its list is longer"),
    "a film without a movie": (lambda: box(b"ftyp", b"isom\0\0\0\0") + box(b"mdat", b"x" * 99), "FFmpeg says"),
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


def test_a_packet_that_is_too_large_is_refused_before_it_is_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(av, "PACKET_MAX", 2000)

    with pytest.raises(PayloadRefused, match="a packet or a table is larger"):
        digest_open_file(io.BytesIO(encode("avi", "mpeg4")), "it")


def test_no_other_format_is_opened_than_those_that_are_known() -> None:
    """FFmpeg knows playlists, which name files and addresses; CAF stands for what is not on the list."""
    with (
        pytest.raises(Damaged, match="FFmpeg says"),
        av.open_media(io.BytesIO(encode("caf", "pcm_s16le"))),
    ):
        pass


def test_an_animation_of_too_many_pixels_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "PIXELS_MAX", 40 * 30 * 2)
    frames = [Image.new("RGB", (40, 30), (at, 0, 0)) for at in range(3)]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])

    with pytest.raises(PayloadRefused, match="more than 2,400 pixels"):
        digest_open_file(io.BytesIO(out.getvalue()), "it")


def test_a_sparse_film_of_four_gigabytes_is_read_piece_by_piece(tmp_path: Path) -> None:
    film = encode("mp4", "mpeg4")
    path = tmp_path / "sparse.mp4"
    with path.open("wb") as file:
        file.write(film + struct.pack(">I4sQ", 1, b"free", 4 << 30))
        file.truncate(len(film) + (4 << 30))

    assert digest_payload(path).digest == digest_open_file(io.BytesIO(film), "it").digest
