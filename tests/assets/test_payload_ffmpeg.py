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

CODED = {
    "mp3": ("mp3", ["libmp3lame"]), "aac": ("adts", ["aac"]), "m4a": ("ipod", ["aac"]), "alac": ("ipod", ["alac"]),
    "opus": ("ogg", ["libopus"]), "flac.ogg": ("ogg", ["flac"]), "mp4": ("mp4", ["libx264", "aac"]),
    "hevc.mp4": ("mp4", ["libx265"]), "mov": ("mov", ["mpeg4", "aac"]), "mkv": ("matroska", ["libx264", "flac"]),
    "webm": ("webm", ["libvpx", "libopus"]), "avi": ("avi", ["mpeg4", "libmp3lame"]), "adpcm.wav": ("wav", ["adpcm_ms"]),
}  # fmt: skip
SAMPLED = {
    "s16.wav": ("pcm_s16le", "s16le"), "s24.wav": ("pcm_s24le", "s24le"), "f32.wav": ("pcm_f32le", "f32le"),
    "aiff": ("pcm_s16be", "s16le"), "flac": ("flac", "s16le"),
}  # fmt: skip
HASH = ("-f", "hash", "-hash", "sha256")


def ask_ffmpeg(*arguments: object) -> list[str]:
    """Call the system's program, or that of the package imageio-ffmpeg; what it prints, word by word."""
    program = shutil.which("ffmpeg")
    if program is None:
        program = pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe()
    command = [program, "-v", "error", *map(str, arguments)]
    options = {"capture_output": True, "text": True, "check": True}
    return subprocess.run(command, stdin=subprocess.DEVNULL, **options).stdout.split()


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

    copied = ("-map", "0", "-c", "copy", "-hash", "sha256", "-f", "streamhash", "-")
    said = ask_ffmpeg("-i", path, *copied)

    assert [each.rpartition("=")[2] for each in said] == [own[at].hexdigest() for at in sorted(own)]
    assert count > 1


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", SAMPLED)
def test_samples_are_those_that_ffmpeg_decodes(name: str, seed: int, tmp_path: Path) -> None:
    codec, form = SAMPLED[name]
    path, plain = tmp_path / name, tmp_path / "plain.wav"
    path.write_bytes(encode(name.rpartition(".")[2], codec, seed=seed))

    ask_ffmpeg("-i", path, "-c:a", f"pcm_{form}", plain)
    (said,) = ask_ffmpeg("-i", path, "-c:a", f"pcm_{form}", *HASH, "-")

    samples = plain.read_bytes()
    at = samples.index(b"data") + 8
    assert said == f"SHA256={sha256(samples[at:]).hexdigest()}"
    assert digest_payload(path).digest == digest_payload(plain).digest


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", ["png", "gif", "tiff", "bmp", "16.png"])
def test_pixels_are_those_that_ffmpeg_decodes(name: str, seed: int, tmp_path: Path) -> None:
    path, is_deep = tmp_path / f"a.{name}", name == "16.png"
    if is_deep:
        source = ("-f", "lavfi", "-i", f"testsrc2=size={32 * seed}x48")
        ask_ffmpeg(*source, "-frames:v", 1, "-pix_fmt", "rgb48be", path)
    else:
        pixels = np.random.default_rng(seed).integers(0, 256, (30, 20, 3), np.uint8)
        Image.fromarray(pixels).quantize(16).convert("RGB").save(path)
    with path.open("rb") as file:
        ((own, _),) = ImageReader(file).frames()

    form = "rgba64be" if is_deep else "rgba"
    (said,) = ask_ffmpeg("-i", path, "-pix_fmt", form, "-c:v", "rawvideo", *HASH, "-")

    plain = own.astype(">u2") if is_deep else own
    assert said == f"SHA256={sha256(plain.tobytes()).hexdigest()}"
