"""The asset block of a log, measured from a file: size, hashes, payload, and what its pixels or samples are.

It does not say whether that is what was asked for; the gate compares.

Invariant: nothing of it is taken from what the file says about its making.
"""

from __future__ import annotations

from pathlib import Path

from twice.assets.errors import AssetMissing
from twice.assets.log.models import Asset, Measured, Payload
from twice.assets.measuring.sound import measure_sound
from twice.assets.payload import Payload as Taken
from twice.assets.payload import payload
from twice.foundation.digests import Algorithm, new_hasher

_PIECE = 1 << 20


def file_sha256(path: Path) -> str:
    """Give the sha256 of a file's bytes in hexadecimal.

    Raises:
        AssetMissing: E-ASSET-FILE-001: it is not there, or cannot be read.
    """
    hasher = new_hasher(Algorithm.SHA256)
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                hasher.update(piece)
    except OSError as error:
        raise _missing(path, error) from error
    return hasher.digest().hex()


def measure_file(path: Path) -> Asset:
    """Measure a delivered file.

    Raises:
        AssetMissing: E-ASSET-FILE-001: it is not there, or cannot be read.
        PayloadRefused: E-PAYLOAD-001: it is damaged.
        ExtraMissing: E-EXTRA-001: pillow or soundfile is needed and not installed.
    """
    digest = file_sha256(path)
    taken = payload(path)
    media_type = str(taken.facts["media_type"])
    return Asset(
        file=path.name,
        media_type=media_type,
        size_bytes=path.stat().st_size,
        file_sha256=digest,
        payload=Payload(method=taken.method, digest=taken.digest),
        measured=_measured(path, media_type, taken),
    )


def _measured(path: Path, media_type: str, taken: Taken) -> Measured:
    facts = taken.facts
    if media_type.startswith("image/") and "width" in facts:
        return Measured(
            width_px=int(facts["width"]),
            height_px=int(facts["height"]),
            mode=_mode(path),
        )
    if "sample_rate" not in facts and not media_type.startswith("audio/"):
        return Measured()
    sound = measure_sound(path) if media_type != "audio/midi" else None
    if sound is not None:
        return sound
    known = {name: _number(facts.get(name)) for name in ("sample_rate", "channels", "bit_depth")}
    length = facts.get("duration_s")
    return Measured(
        sample_rate_hz=known["sample_rate"],
        channels=known["channels"],
        bit_depth=known["bit_depth"],
        duration_s=float(length) if isinstance(length, int | float) else None,
    )


def _number(fact: object) -> int | None:
    return fact if isinstance(fact, int) and fact > 0 else None


def _mode(path: Path) -> str:
    """Return the pixel mode as pillow names it; the payload has needed pillow before."""
    from twice.assets.containers.source import whole_file
    from twice.assets.payloads.pixels import opened

    return str(opened(whole_file(path)).mode)


def _missing(path: Path, error: OSError) -> AssetMissing:
    return AssetMissing(
        f"{path} cannot be read: {error.strerror or error}.",
        "Expected the file of an asset.",
        "Name another one, or render it again.",
        path=str(path),
    )
