"""Checks that hold what was asked for against what the delivered file has.

Figures are those measured now, where the file was measured now, else those that were sealed with the same bytes.

Invariant: a figure that nobody measured makes a row yellow, never green.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Any, Final

from twice.assets.gate.facts import AssetFacts
from twice.assets.gate.report import GateRow
from twice.assets.log.block import NotApplicable, value_of
from twice.assets.log.models import EvidenceLevel, Measured, find_evidence
from twice.assets.log.renders import ArtRender, AudioRender
from twice.assets.media.measure import SHORTEST_S
from twice.foundation.printable import pluralize

CHECKS: Final = {
    "facts": "What the log says was measured is what the file has; without --measure, whose figures they are.",
    "loudness-target": "The loudness is within 0.5 LU of the target.",
    "true-peak": "The true peak is below the ceiling.",
    "sample-rate": "The sample rate is that of the export, or of the session.",
    "bit-depth": "The bit depth is that of the export, or of the session.",
    "size": "The image has the size that was asked for, or a post-process explains another one.",
    "aspect": "The aspect ratio is that of the size that was asked for.",
}
LOUDNESS_TOLERANCE_LU: Final = 0.5
_PEAK_TOLERANCE_DB: Final = 0.1
_ASPECT_TOLERANCE: Final = 0.02
_INSTALL: Final = "pip install 'twice[assets]'"


def check_figures(facts: AssetFacts) -> Iterator[GateRow]:
    """Check one log with its file."""
    asset, seen = facts.log.asset, facts.seen
    if asset is None or asset.measured is None or facts.is_faulty("/asset/measured"):
        return
    figures = asset.measured
    if seen is not None:
        yield from _check_source(facts, figures)
        if seen.measured is not None and seen.file_sha256 == asset.file_sha256:
            assert seen.measured.measured is not None, "a file is measured whole"
            figures = seen.measured.measured
    if facts.log.audio is not None:
        yield from _check_sound(facts, facts.log.audio, figures)
    if facts.log.art is not None:
        yield from _check_image(facts, facts.log.art, figures)


def _check_source(facts: AssetFacts, said: Measured) -> Iterator[GateRow]:
    """Hold the log's figures against those measured now, or say whose they are."""
    asset, seen = facts.log.asset, facts.seen
    assert asset is not None, "asked of a log about a file"
    assert seen is not None, "asked of a file that is there"
    if seen.measured is None and not seen.trouble:
        evidence = find_evidence(facts.log, "/asset/measured")
        if evidence is not None and evidence[1].level is EvidenceLevel.DECLARED:
            fix = "measure it: twice asset gate PATH --measure, or seal it again"
            why = "not measured now; the figures are declared by a person"
            yield facts.yellow("facts", why, fix)
        else:
            why = "not measured now: the figures are those of the sealing (--measure)"
            yield facts.green("facts", why)
    elif seen.file_sha256 != asset.file_sha256:
        return
    elif seen.measured is None:
        fix = f"render it again, or install what measures it: {_INSTALL}"
        yield facts.yellow("facts", f"it cannot be measured: {seen.trouble}", fix)
    else:
        now = seen.measured.measured
        odd = [
            f"{name} is {getattr(now, name)}, not {value}"
            for name, value in said
            if value is not None and name != "decoder" and not _is_alike(value, getattr(now, name))
        ]
        if odd:
            yield facts.red("facts", "; ".join(odd), "seal it again: twice asset seal --revise")
        else:
            yield facts.green("facts", "as measured now")


def _is_alike(said: Any, now: Any) -> bool:
    if isinstance(said, NotApplicable) or isinstance(now, NotApplicable):
        return isinstance(said, NotApplicable) and isinstance(now, NotApplicable)
    if isinstance(said, float | int) and isinstance(now, float | int):
        return abs(said - now) <= 0.05
    return bool(said == now)


def _compare(
    facts: AssetFacts, check: str, asked: Any, found: Any, unit: str, *, slack: float = 0
) -> Iterator[GateRow]:
    """Hold one figure against what was asked for."""
    if asked is None or isinstance(found, NotApplicable):
        return
    if found is None:
        fix = f"seal it again where it can be measured: {_INSTALL}"
        yield facts.yellow(check, f"{asked} {unit} is logged, and nothing was measured", fix)
    elif abs(found - asked) <= slack:
        yield facts.green(check, f"{found} {unit}, logged {asked}")
    else:
        fix = f"export it at {asked} {unit}, or log what it is"
        yield facts.red(check, f"measured {found} {unit}, logged {asked} {unit}", fix)


def _check_sound(facts: AssetFacts, audio: AudioRender, figures: Measured) -> Iterator[GateRow]:
    loudness, export = value_of(audio.loudness), value_of(audio.export)
    if loudness is not None:
        target, found = value_of(loudness.target_lufs), figures.loudness_lufs
        if target is not None and isinstance(found, NotApplicable):
            # Silent, or too short to have a loudness: only the latter is nobody's fault.
            seen, length = (
                f"{target} LUFS is logged, and it has none: {found.reason}",
                value_of(figures.duration_s),
            )
            is_silent = isinstance(figures.true_peak_dbtp, NotApplicable)
            if is_silent or length is None or length >= SHORTEST_S:
                yield facts.red("loudness-target", seen, f"export it at {target} LUFS")
            else:
                fix = 'set /audio/loudness/target_lufs to {"not_applicable": reason}'
                yield facts.yellow("loudness-target", seen, fix)
        slack = LOUDNESS_TOLERANCE_LU
        yield from _compare(facts, "loudness-target", target, found, "LUFS", slack=slack)
        ceiling, peak = value_of(loudness.true_peak_max_dbtp), value_of(figures.true_peak_dbtp)
        if ceiling is not None and peak is not None:
            if peak <= ceiling + _PEAK_TOLERANCE_DB:
                yield facts.green("true-peak", f"{peak} dBTP, at most {ceiling}")
            else:
                fix = f"limit it to {ceiling} dBTP and export it again"
                yield facts.red("true-peak", f"{peak} dBTP, at most {ceiling} was asked for", fix)
    rate = value_of(export.sample_rate_hz) if export is not None else None
    depth = value_of(export.bit_depth) if export is not None else None
    rate, depth = (
        rate or value_of(audio.session_sample_rate_hz),
        depth or value_of(audio.session_bit_depth),
    )
    yield from _compare(facts, "sample-rate", rate, figures.sample_rate_hz, "Hz")
    yield from _compare(facts, "bit-depth", depth, figures.bit_depth, "bits")


def _check_image(facts: AssetFacts, art: ArtRender, figures: Measured) -> Iterator[GateRow]:
    width, height = value_of(art.width_px), value_of(art.height_px)
    if width is None or height is None:
        return
    found = (value_of(figures.width_px), value_of(figures.height_px))
    size, wanted, post = f"{found[0]} x {found[1]}", f"{width} x {height}", value_of(art.post)
    if None in found:
        fix = "seal it again where it can be measured, or say not_applicable for a vector image"
        yield facts.yellow("size", f"{wanted} is logged, and nothing was measured", fix)
    elif found == (width, height):
        yield facts.green("size", size)
    elif post:
        after = pluralize(len(post), "post-process", "post-processes")
        yield facts.green("size", f"{size} after {after} of {wanted}")
    else:
        fix = f"log what changed the size in /art/post, or render {wanted}"
        yield facts.red("size", f"measured {size}, logged {wanted}", fix)
    ratio = value_of(art.aspect_ratio)
    if ratio is not None:
        wide, high = map(int, ratio.split(":"))
        if abs(wide * height / (high * width) - 1) <= _ASPECT_TOLERANCE:
            yield facts.green("aspect", ratio)
        else:
            common = gcd(width, height)
            fix = f"set /art/aspect_ratio to {width // common}:{height // common}"
            yield facts.red("aspect", f"{width} x {height} is not {ratio}", fix)
