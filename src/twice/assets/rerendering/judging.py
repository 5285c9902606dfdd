"""One rendering held against the asset that was sealed: which grade it reaches.

Bytes and payload are judged by the digests in the log, tolerance against the asset itself.

Invariant: the strictest grade that holds is the one that is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from twice.assets.errors import PayloadRefused
from twice.assets.log.log import AssetKind, DeterminismLog
from twice.assets.log.promise import Profile
from twice.assets.media.measure import digest_file
from twice.assets.media.payload import digest_payload
from twice.assets.media.similarity import PROFILES, compare_images, compare_sounds, exceed_limits
from twice.errors import UsageError

GRADES: Final = ("bytes", "payload", "tolerance", "different")
"""Strictest first."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How one rendering compares.

    Args:
        grade: one of ``GRADES``.
        figures: what was measured; empty where the bytes are equal or nothing could be compared.
        wanting: the figures that are beyond their limits, or why nothing was measured.
        artefact: the labelled sha256 of what was rendered.
    """

    grade: str
    figures: Mapping[str, float] = field(default_factory=dict)
    wanting: tuple[str, ...] = ()
    artefact: str = ""


def limits_of(profile: Profile | None, kind: AssetKind | None) -> Mapping[str, float]:
    """Give the limits of a tolerance: the log's own, else those of its name; by default the kind's.

    Raises:
        UsageError: E-USE-001: a name that is not known, and no limits.
    """
    if profile is None:
        return PROFILES["audio-numeric" if kind is AssetKind.AUDIO else "image-stochastic"]
    if profile.limits:
        return profile.limits
    if profile.name not in PROFILES:
        raise UsageError(
            f"The tolerance {profile.name!r} is not known, and has no limits.",
            f"Expected limits, or one of {', '.join(PROFILES)}.",
            "Find limits by repeats: twice asset calibrate LOG",
        )
    return PROFILES[str(profile.name)]


def liken(
    log: DeterminismLog, asset: Path | None, rendered: Path, limits: Mapping[str, float]
) -> Likeness:
    """Compare one rendering.

    Args:
        log: of the asset.
        asset: the sealed file; None where it is not there.
        rendered: the new file.
        limits: of the tolerance.
    """
    assert log.asset is not None, "a log without an asset is refused before"
    digest = digest_file(rendered)
    artefact = f"sha256:{digest}"
    if digest == log.asset.file_sha256:
        return Likeness("bytes", artefact=artefact)
    said = log.asset.payload
    try:
        taken = digest_payload(rendered)
        if said is not None and (said.method, said.digest) == (taken.method, taken.digest):
            return Likeness("payload", artefact=artefact)
        figures, why = compare_files(log.kind, asset, rendered)
    except PayloadRefused as error:
        figures, why = {}, error.happened
    wanting = (why,) if why else tuple(exceed_limits(figures, limits))
    return Likeness("different" if wanting else "tolerance", figures, wanting, artefact)


def compare_files(kind: AssetKind | None, a: Path | None, b: Path) -> tuple[dict[str, float], str]:
    """Give the figures of two files of a kind, or the reason why there are none."""
    if a is None:
        return {}, "the asset is not there to compare with"
    one, two = digest_payload(a), digest_payload(b)
    if one.method != two.method or one.facts["media_type"] != two.facts["media_type"]:
        return {}, f"{one.facts['media_type']} and {two.facts['media_type']} are not compared"
    return (compare_sounds if kind is AssetKind.AUDIO else compare_images)(a, b)
