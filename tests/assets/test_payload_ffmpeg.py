"""The bytes that a payload is made of are those that FFmpeg's own program hashes: 60 files of 20 formats.

Each test starts the program ``ffmpeg``, the judge that is not this library; without one they are skipped.
"""

from __future__ import annotations

import io
import shutil
import subprocess
from collections import defaultdict
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from mediafiles import encode, remux, unsize_clusters
from PIL import Image

from twice.assets.media.av import open_media
from twice.assets.media.images import ImageReader
from twice.assets.media.payload import digest_payload

pytestmark = pytest.mark.heavy


def find_ffmpeg() -> str:
    """Find the program: the system's, or that of the package imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    return (
        found if found is not None else str(pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe())
    )


CODED = {
    "mp3": ("mp3", ["libmp3lame"]), "aac": ("adts", ["aac"]), "m4a": ("ipod", ["aac"]), "alac": ("ipod", ["alac"]),
    "opus": ("ogg", ["libopus"]), "flac.ogg": ("ogg", ["flac"]), "mp4": ("mp4", ["libx264", "aac"]),
    "hevc.mp4": ("mp4", ["libx265"]), "mov": ("mov", ["mpeg4", "aac"]), "mkv": ("matroska", ["libx264", "flac"]),
    "webm": ("webm", ["libvpx", "libopus"]), "avi": ("avi", ["mpeg4", "libmp3lame"]), "adpcm.wav": ("wav", ["adpcm_ms"]),
}  # fmt: skip
SAMPLED = {
    "s16.wav": "pcm_s16le",
    "s24.wav": "pcm_s24le",
    "f32.wav": "pcm_f32le",
    "aiff": "pcm_s16be",
    "flac": "flac",
}
PIXELS = ["png", "gif", "tiff", "bmp"]


def ask_ffmpeg(path: Path, *arguments: str) -> list[str]:
    command = [find_ffmpeg(), "-v", "error", "-i", str(path), *arguments, "-"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL
    )
    return done.stdout.split()


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", CODED)
def test_packets_are_those_that_ffmpeg_copies(name: str, seed: int, tmp_path: Path) -> None:
    form, codecs = CODED[name]
    data = encode(form, *codecs, seed=seed)
    if form == "webm":
        data = unsize_clusters(data)
    if form == "mp4" and seed == 3:
        data = remux(data, "mp4", movflags="frag_keyframe+empty_moov")
    path = tmp_path / name
    path.write_bytes(data)
    own, count = defaultdict(sha256), 0
    with open_media(io.BytesIO(data)) as media:
        for count, packet in enumerate(media.packets(), 1):
            own[packet.stream_index].update(bytes(packet))

    said = ask_ffmpeg(path, "-map", "0", "-c", "copy", "-hash", "sha256", "-f", "streamhash")

    assert [each.rpartition("=")[2] for each in said] == [own[at].hexdigest() for at in sorted(own)]
    assert count > 1


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", SAMPLED)
def test_samples_are_those_that_ffmpeg_decodes(name: str, seed: int, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(encode(name.rpartition(".")[2], SAMPLED[name], seed=seed))
    form = "f32le" if name.startswith("f32") else "s24le" if name.startswith("s24") else "s16le"
    plain = tmp_path / "plain.wav"

    ask_ffmpeg(path, "-c:a", f"pcm_{form}", "-y", str(plain), "-f", "null")

    assert digest_payload(path).digest == digest_payload(plain).digest
    (said,) = ask_ffmpeg(path, "-c:a", f"pcm_{form}", "-f", "hash", "-hash", "sha256")
    samples = plain.read_bytes()
    at = samples.index(b"data") + 8
    assert said == f"SHA256={sha256(samples[at:]).hexdigest()}"


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", PIXELS)
def test_pixels_are_those_that_ffmpeg_decodes(name: str, seed: int, tmp_path: Path) -> None:
    path = tmp_path / f"a.{name}"
    pixels = np.random.default_rng(seed).integers(0, 256, (30, 20, 3), np.uint8)
    Image.fromarray(pixels).quantize(16).convert("RGB").save(path)
    with path.open("rb") as file:
        ((own, _),) = ImageReader(file).frames()

    (said,) = ask_ffmpeg(
        path, "-pix_fmt", "rgba", "-c:v", "rawvideo", "-f", "hash", "-hash", "sha256"
    )

    assert said == f"SHA256={sha256(own.tobytes()).hexdigest()}"


def test_pixels_of_sixteen_bits_are_those_that_ffmpeg_decodes(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    subprocess.run(
        [find_ffmpeg(), "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", "1", "-pix_fmt", "rgb48be", str(path)],
        check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    with path.open("rb") as file:
        ((own, _),) = ImageReader(file).frames()

    (said,) = ask_ffmpeg(
        path, "-pix_fmt", "rgba64be", "-c:v", "rawvideo", "-f", "hash", "-hash", "sha256"
    )

    assert said == f"SHA256={sha256(own.astype('>u2').tobytes()).hexdigest()}"
