"""Checks that hold what was asked for against what the delivered file has.

Figures are those measured now, where the file was measured now, else those that were sealed with the same bytes.

Invariant: a figure that nobody measured makes a row yellow, never green.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Any, Final

from twice.assets.gate.facts import AssetFacts
from twice.assets.gate.report import GateRow, RowStatus
from twice.assets.log.block import NotApplicable, value_of
from twice.assets.log.models import EvidenceLevel, Measured, find_evidence
from twice.assets.media.measure import SHORTEST_S
from twice.foundation.printable import pluralize

LOUDNESS_TOLERANCE_LU: Final = 0.5
_PEAK_TOLERANCE_DB: Final = 0.1
_ASPECT_TOLERANCE: Final = 0.02
_INSTALL: Final = "pip install 'twice[assets]'"


def check_measures(facts: AssetFacts) -> Iterator[GateRow]:
    """Hold the log's figures against those measured now, or say whose they are."""
    said, seen = _find_logged(facts), facts.seen
    if said is None or seen is None:
        return
    if seen.measured is None and not seen.trouble:
        evidence = find_evidence(facts.log, "/asset/measured")
        is_declared = evidence is not None and evidence[1].level is EvidenceLevel.DECLARED
        right = "not measured now: the figures are those of the sealing (--measure)"
        wrong = "not measured now; the figures are declared by a person" if is_declared else ""
        fix = f"measure it: twice asset gate {facts.sidecar} --measure, or seal it again"
        yield facts.judge("facts", right, wrong, fix, RowStatus.YELLOW)
    elif seen.file_sha256 != facts.log.get("/asset/file_sha256"):
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
        fix = f"seal it again: {facts.sealing} {facts.sidecar} --revise"
        yield facts.judge("facts", "as measured now", "; ".join(odd), fix)


def _find_logged(facts: AssetFacts) -> Measured | None:
    asset = facts.log.asset
    return None if asset is None or facts.is_faulty("/asset/measured") else asset.measured


def _find_figures(facts: AssetFacts) -> Measured | None:
    """Find the figures to judge by; None where a log has none, or faulty ones."""
    said, seen = _find_logged(facts), facts.seen
    if said is None or seen is None or seen.measured is None:
        return said
    is_sealed = seen.file_sha256 == facts.log.get("/asset/file_sha256")
    return seen.measured.measured if is_sealed else said


def _is_alike(said: Any, now: Any) -> bool:
    if isinstance(said, NotApplicable) or isinstance(now, NotApplicable):
        return isinstance(said, NotApplicable) and isinstance(now, NotApplicable)
    if isinstance(said, float | int) and isinstance(now, float | int):
        return abs(said - now) <= 0.05
    return bool(said == now)


def check_sound(facts: AssetFacts) -> Iterator[GateRow]:
    """Check loudness, true peak, rate and depth."""
    log, figures = facts.log, _find_figures(facts)
    if figures is None:
        return
    target, found = log.get("/audio/loudness/target_lufs"), figures.loudness_lufs
    if target is not None and isinstance(found, NotApplicable):
        # Silent, or too short to have a loudness: only the latter is nobody's fault.
        wrong = f"{target} LUFS is logged, and it has none: {found.reason}"
        length, peak = value_of(figures.duration_s), figures.true_peak_dbtp
        if isinstance(peak, NotApplicable) or length is None or length >= SHORTEST_S:
            yield facts.red("loudness-target", wrong, f"export it at {target} LUFS")
        else:
            fix = 'set /audio/loudness/target_lufs to {"not_applicable": reason}'
            yield facts.yellow("loudness-target", wrong, fix)
    ceiling = log.get("/audio/loudness/true_peak_max_dbtp")
    peak = value_of(figures.true_peak_dbtp)
    if ceiling is not None and peak is not None:
        right = f"{peak} dBTP, at most {ceiling}"
        wrong = "" if peak <= ceiling + _PEAK_TOLERANCE_DB else f"{right} was asked for"
        fix = f"limit it to {ceiling} dBTP and export it again"
        yield facts.judge("true-peak", right, wrong, fix)
    rate, depth = (
        log.get(f"/audio/export/{name}") or log.get(f"/audio/session_{name}")
        for name in ("sample_rate_hz", "bit_depth")
    )
    for check, asked, measured, unit, slack in (
        ("loudness-target", target, found, "LUFS", LOUDNESS_TOLERANCE_LU),
        ("sample-rate", rate, figures.sample_rate_hz, "Hz", 0),
        ("bit-depth", depth, figures.bit_depth, "bits", 0),
    ):
        if asked is None or isinstance(measured, NotApplicable):
            continue
        if measured is None:
            fix = f"seal it again where it can be measured: {_INSTALL}"
            yield facts.yellow(check, f"{asked} {unit} is logged, and nothing was measured", fix)
            continue
        right = f"{measured} {unit}, logged {asked} {unit}"
        wrong = "" if abs(measured - asked) <= slack else f"measured {right}"
        fix = f"export it at {asked} {unit}, or log what it is"
        yield facts.judge(check, right, wrong, fix)


def check_image(facts: AssetFacts) -> Iterator[GateRow]:
    """Check size and aspect ratio."""
    log, figures = facts.log, _find_figures(facts)
    width, height, post = (log.get(f"/art/{each}") for each in ("width_px", "height_px", "post"))
    if figures is None or width is None or height is None:
        return
    found = (value_of(figures.width_px), value_of(figures.height_px))
    size, wanted = f"{found[0]} x {found[1]}", f"{width} x {height}"
    if None in found:
        fix = "seal it again where it can be measured, or say not_applicable for a vector image"
        yield facts.yellow("size", f"{wanted} is logged, and nothing was measured", fix)
    elif post and found != (width, height):
        after = pluralize(len(post), "post-process", "post-processes")
        yield facts.green("size", f"{size} after {after} of {wanted}")
    else:
        fix = f"log what changed the size in /art/post, or render {wanted}"
        wrong = "" if found == (width, height) else f"measured {size}, logged {wanted}"
        yield facts.judge("size", size, wrong, fix)
    if ratio := log.get("/art/aspect_ratio"):
        wide, high = map(int, ratio.split(":"))
        is_near = abs(wide * height / (high * width) - 1) <= _ASPECT_TOLERANCE
        wrong = "" if is_near else f"{width} x {height} is not {ratio}"
        common = gcd(width, height)
        fix = f"set /art/aspect_ratio to {width // common}:{height // common}"
        yield facts.judge("aspect", ratio, wrong, fix)
