"""Rules that hold what was asked for against what the delivered file has.

Figures are those measured now, where the file was measured now, else those that were sealed with the same bytes.

Invariant: a figure that nobody measured makes a row yellow, never green.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Any, Final

from twice.assets.gate.facts import Facts, faulty, value_of
from twice.assets.gate.row import Row
from twice.assets.gate.rules.evidence import nearest
from twice.assets.log.block import NotApplicable
from twice.assets.log.models import EvidenceLevel, Measured
from twice.assets.media.measure import SHORTEST_S
from twice.foundation.printable import pluralize

CHECKS: Final = {
    "facts": "What the log says was measured is what the file has ; without --measure, whose figures they are.",
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


def judge(facts: Facts) -> Iterator[Row]:
    """Judge one log with its file."""
    asset = facts.log.asset
    if asset is None or asset.measured is None or faulty(facts, "/asset/measured"):
        return
    figures = asset.measured
    seen = facts.seen
    if seen is not None and seen.measured is not None and seen.file_sha256 == asset.file_sha256:
        now = seen.measured.measured
        assert now is not None, "a file is measured whole"
        yield _facts(facts, figures, now)
        figures = now
    elif seen is not None and seen.measured is None and not seen.trouble:
        yield _believed(facts)
    elif seen is not None and seen.trouble and seen.file_sha256 == asset.file_sha256:
        fix = "render it again, or install what measures it: pip install 'twice[assets]'"
        yield facts.yellow("facts", f"it cannot be measured: {seen.trouble}", fix)
    if facts.log.audio is not None:
        yield from _sound(facts, figures)
    if facts.log.art is not None:
        yield from _image(facts, figures)


def _believed(facts: Facts) -> Row:
    """Say that figures are taken from the log; where a person declared them, that is a condition."""
    said = nearest(facts.log.evidence or {}, "/asset/measured")
    level = (facts.log.evidence or {})[said].level if said is not None else None
    if level is EvidenceLevel.DECLARED:
        fix = "measure it: twice asset gate PATH --measure, or seal it again"
        return facts.yellow("facts", "not measured now; the figures are declared by a person", fix)
    return facts.green(
        "facts", "not measured now: the figures are those of the sealing (--measure)"
    )


def _facts(facts: Facts, said: Measured, now: Measured) -> Row:
    names = [
        name
        for name in Measured.model_fields
        if name != "decoder"
        and getattr(said, name) is not None
        and not _alike(getattr(said, name), getattr(now, name))
    ]
    if not names:
        return facts.green("facts", "as measured now")
    told = [f"{each} is {getattr(now, each)}, not {getattr(said, each)}" for each in names]
    return facts.red("facts", "; ".join(told), "seal it again: twice asset seal --revise")


def _alike(said: Any, now: Any) -> bool:
    if isinstance(said, NotApplicable) or isinstance(now, NotApplicable):
        return isinstance(said, NotApplicable) and isinstance(now, NotApplicable)
    if isinstance(said, float | int) and isinstance(now, float | int):
        return abs(said - now) <= 0.05
    return bool(said == now)


def _compared(
    facts: Facts, check: str, asked: Any, found: Any, unit: str, *, slack: float = 0
) -> Iterator[Row]:
    """Hold one figure against what was asked for."""
    if asked is None or isinstance(found, NotApplicable):
        return
    if found is None:
        fix = "seal it again where it can be measured: pip install 'twice[assets]'"
        yield facts.yellow(check, f"{asked} {unit} is logged, and nothing was measured", fix)
    elif abs(found - asked) <= slack:
        yield facts.green(check, f"{found} {unit}, logged {asked}")
    else:
        fix = f"export it at {asked} {unit}, or log what it is"
        yield facts.red(check, f"measured {found} {unit}, logged {asked} {unit}", fix)


def _unheard(facts: Facts, target: Any, figures: Measured) -> Iterator[Row]:
    """Judge a sound that has a target and no loudness: it is silent, or too short to have one."""
    if target is None or not isinstance(figures.loudness_lufs, NotApplicable):
        return
    seen = f"{target} LUFS is logged, and it has none: {figures.loudness_lufs.reason}"
    length = value_of(figures.duration_s)
    if isinstance(figures.true_peak_dbtp, NotApplicable) or length is None or length >= SHORTEST_S:
        yield facts.red("loudness-target", seen, f"export it at {target} LUFS")
    else:
        fix = 'set /audio/loudness/target_lufs to {"not_applicable": reason}'
        yield facts.yellow("loudness-target", seen, fix)


def _sound(facts: Facts, figures: Measured) -> Iterator[Row]:
    audio = facts.log.audio
    assert audio is not None, "asked of sounds"
    loudness, export = value_of(audio.loudness), value_of(audio.export)
    if loudness is not None:
        target = value_of(loudness.target_lufs)
        yield from _unheard(facts, target, figures)
        yield from _compared(
            facts, "loudness-target", target, figures.loudness_lufs, "LUFS",
            slack=LOUDNESS_TOLERANCE_LU,
        )  # fmt: skip
        ceiling, peak = value_of(loudness.true_peak_max_dbtp), value_of(figures.true_peak_dbtp)
        if ceiling is not None and peak is not None:
            if peak <= ceiling + _PEAK_TOLERANCE_DB:
                yield facts.green("true-peak", f"{peak} dBTP, at most {ceiling}")
            else:
                fix = f"limit it to {ceiling} dBTP and export it again"
                yield facts.red("true-peak", f"{peak} dBTP, at most {ceiling} was asked for", fix)
    rate = value_of(export.sample_rate_hz) if export is not None else None
    rate = rate or value_of(audio.session_sample_rate_hz)
    depth = value_of(export.bit_depth) if export is not None else None
    depth = depth or value_of(audio.session_bit_depth)
    yield from _compared(facts, "sample-rate", rate, figures.sample_rate_hz, "Hz")
    yield from _compared(facts, "bit-depth", depth, figures.bit_depth, "bits")


def _image(facts: Facts, figures: Measured) -> Iterator[Row]:
    art = facts.log.art
    assert art is not None, "asked of images"
    asked = (value_of(art.width_px), value_of(art.height_px))
    found = (value_of(figures.width_px), value_of(figures.height_px))
    if None not in asked:
        yield from _size(facts, asked, found)
        ratio = value_of(art.aspect_ratio)
        if ratio is not None:
            wide, high = map(int, ratio.split(":"))
            if abs(wide * asked[1] / (high * asked[0]) - 1) <= _ASPECT_TOLERANCE:
                yield facts.green("aspect", ratio)
            else:
                common = gcd(*asked)
                fix = f"set /art/aspect_ratio to {asked[0] // common}:{asked[1] // common}"
                yield facts.red("aspect", f"{asked[0]} x {asked[1]} is not {ratio}", fix)


def _size(facts: Facts, asked: tuple[Any, Any], found: tuple[Any, Any]) -> Iterator[Row]:
    size, wanted = f"{found[0]} x {found[1]}", f"{asked[0]} x {asked[1]}"
    art = facts.log.art
    assert art is not None, "asked of images"
    if None in found:
        if isinstance(getattr(facts.log.asset, "measured", None), Measured):
            fix = "seal it again where it can be measured, or say not_applicable for a vector image"
            yield facts.yellow("size", f"{wanted} is logged, and nothing was measured", fix)
    elif found == asked:
        yield facts.green("size", size)
    elif value_of(art.post):
        yield facts.green(
            "size",
            f"{size} after {pluralize(len(value_of(art.post)), 'post-process', 'post-processes')} of {wanted}",
        )
    else:
        fix = f"log what changed the size in /art/post, or render {wanted}"
        yield facts.red("size", f"measured {size}, logged {wanted}", fix)
