"""Which log this is, and which file it is about.

Invariant: an asset is known by its payload; its name and the bytes of its file may change.
"""

from __future__ import annotations

from dataclasses import dataclass

from twice.assets.log.declaring import Known, Need, declare
from twice.assets.log.kinds import DIGEST, SHA256, WHOLE_MAX, Number, Text

METHOD = Text(
    "a payload method such as pixels-rgba8/1", "^[a-z0-9][a-z0-9-]*/[1-9][0-9]*(?![\\s\\S])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Producer:
    """Who made it: the role in the production, and a name or tool where that is wanted."""

    role: str | None = declare(
        Text("a role such as illustrator"), Need.ALWAYS, "the producer's role"
    )
    name: str | None = declare(Text(), Need.OPTIONAL, "the producer's name")
    tool: str | None = declare(Text(), Need.OPTIONAL, "the program that wrote the log")


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What stays when a file is renamed or tagged anew: pixels, samples or packets."""

    method: str | None = declare(METHOD, Need.ALWAYS, "how the payload is taken out")
    digest: str | None = declare(DIGEST, Need.ALWAYS, "the digest of the payload")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured from the delivered file itself, whatever the session says."""

    width_px: Known[int] = declare(
        Number("a width in pixels of at least 1", 1, 10**9, whole=True), Need.OPTIONAL,
        "the width of the image", excusable=True,
    )  # fmt: skip
    height_px: Known[int] = declare(
        Number("a height in pixels of at least 1", 1, 10**9, whole=True), Need.OPTIONAL,
        "the height of the image", excusable=True,
    )  # fmt: skip
    mode: Known[str] = declare(
        Text("a pixel mode such as RGB"), Need.OPTIONAL, "the pixel mode", excusable=True
    )
    duration_s: Known[float] = declare(
        Number("a duration in seconds of at least 0", 0, 10**9), Need.OPTIONAL,
        "the duration", excusable=True,
    )  # fmt: skip
    sample_rate_hz: Known[int] = declare(
        Number("a sample rate in Hz of at least 1", 1, 10**9, whole=True), Need.OPTIONAL,
        "the sample rate", excusable=True,
    )  # fmt: skip
    bit_depth: Known[int] = declare(
        Number("a bit depth from 1 to 64", 1, 64, whole=True), Need.OPTIONAL,
        "the bit depth", excusable=True,
    )  # fmt: skip
    channels: Known[int] = declare(
        Number("a number of channels of at least 1", 1, 65535, whole=True), Need.OPTIONAL,
        "the number of channels", excusable=True,
    )  # fmt: skip
    loudness_lufs: Known[float] = declare(
        Number("a loudness in LUFS", -200, 50), Need.OPTIONAL,
        "the integrated loudness", excusable=True,
    )  # fmt: skip
    true_peak_dbtp: Known[float] = declare(
        Number("a true peak in dBTP", -1000, 100), Need.OPTIONAL,
        "the true peak", excusable=True,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """The file in the hot store."""

    file: str | None = declare(
        Text("a file name without folders", "^(?![.]{1,2}(?![\\s\\S]))[^/\\\\\\u0000-\\u001f]{1,255}(?![\\s\\S])", 255), Need.ALWAYS,
        "the name of the file",
    )  # fmt: skip
    media_type: str | None = declare(
        Text("a media type such as image/png", "^[a-z]+/[A-Za-z0-9.+-]+(?![\\s\\S])"), Need.ALWAYS,
        "the media type",
    )  # fmt: skip
    size_bytes: int | None = declare(
        Number("a size in bytes of at least 1", 1, WHOLE_MAX, whole=True), Need.ALWAYS,
        "the size of the file",
    )  # fmt: skip
    file_sha256: str | None = declare(SHA256, Need.ALWAYS, "the sha256 of the file")
    payload: Payload | None = declare(Payload, Need.ALWAYS, "the payload")
    measured: Measured | None = declare(Measured, Need.ALWAYS, "what was measured from the file")
