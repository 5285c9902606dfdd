"""What a renderer's own repeats differ by, and the limits that follow; verdicts and limits written into logs.

Every pair of repeats is compared, and each repeat with the sealed asset. Limits are the worst of these with a margin.
They say how much this renderer scatters on this machine; another scene may scatter more.

Invariant: limits are proposed only where repeats differ; equal repeats deserve a stricter grade. What is written is a
new revision: the asset and everything else that the log says stay as they are.
"""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from twice.assets.errors import RenderFailed
from twice.assets.log.io import log_digest, read_log, to_document
from twice.assets.log.models import AssetKind
from twice.assets.media.measure import digest_file
from twice.assets.media.payload import digest_payload
from twice.assets.media.similarity import explain_loose_limits, merge_worst
from twice.assets.render.command import RenderJob, find_renderer
from twice.assets.render.recipe import RerenderOptions, find_obstacle, prepare_job
from twice.assets.render.rerender import ProgressCallback, Rerender, compare_files
from twice.assets.render.runner import render
from twice.assets.store.seal import write_log
from twice.errors import UsageError
from twice.foundation.printable import pluralize
from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.surroundings import THREAD_CAPS

NAME: Final = "calibrated"

_MARGIN_DB: Final = 3.0
_MARGIN_SHARE: Final = 1.5
_ERROR_MAX: Final = 16.0
"""Beyond this, single pixels decide the largest error: of one and the same renderer it came to 49 and 86."""
_MARGINS: Final[Mapping[str, Callable[[float], float]]] = {
    "max_error_255": lambda value: round(value * _MARGIN_SHARE + 1, 2),
    "psnr_db": lambda value: round(value - _MARGIN_DB, 2),
    "worst_tile_psnr_db": lambda value: round(value - _MARGIN_DB, 2),
    "ssim": lambda value: round(1 - (1 - value) * _MARGIN_SHARE, 6),
    "length_difference": abs,
    "lag_samples": abs,
    "null_peak_dbfs": lambda value: round(value + _MARGIN_DB, 2),
}
"""The figures that judge, each with its limit by the worst that was seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What the repeats of the log at a path came to, over all numbers of threads.

    ``grade`` is the strictest that all of them reach among themselves, ``metrics`` the worst of each figure. ``limits``
    are proposed, or empty where repeats are equal or, for ``reason``, cannot be compared.
    """

    log: Path
    runs: int
    pairs: int
    grade: str
    metrics: Mapping[str, float] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as ``twice asset calibrate --json`` prints it."""
        return {"format": "twice.asset-calibration/1", **asdict(self), "log": str(self.log)}


def calibrate(
    path: Path, how: RerenderOptions, threads: Sequence[int], progress: ProgressCallback
) -> Calibration:
    """Render the asset of the log at a path repeatedly, and compare all with all.

    Args:
        path: the sidecar.
        how: how often for each number of threads, and what may run.
        threads: further numbers of threads than the recipe's, each of at least 1.
        progress: told what is being done.

    Raises:
        RenderFailed: E-ASSET-RENDER-001, it cannot be rendered here.
        RecipeUntrusted, InputChanged, UsageError: as ``prepare_job``.
    """
    log = read_log(path)
    obstacle = find_obstacle(log)
    if obstacle:
        raise RenderFailed(
            f"{path} cannot be calibrated: {obstacle}.",
            "Expected a recipe that runs here.",
            "Calibrate where its renderer is installed.",
        )
    job, asset = prepare_job(path, log, how)
    (output,) = job.outputs
    jobs = [one for one in (job, *(with_threads(job, n) for n in threads)) for _ in range(how.runs)]
    with tempfile.TemporaryDirectory(prefix="twice-calibrate-") as folder:
        files = [asset] if asset is not None else []
        for number, each in enumerate(jobs):
            progress(f"rendering {number + 1} of {len(jobs)}")
            with render(each) as run:
                kept = Path(folder) / f"{number}{Path(output).suffix}"
                files.append(Path(shutil.copyfile(run.folder / output, kept)))
        progress("comparing")
        pairs = list(combinations(files, 2))
        found = Calibration(log=path, runs=len(jobs), pairs=len(pairs), grade="bytes")
        if len(set(map(digest_file, files))) == 1:
            return found
        if len({(taken.method, taken.digest) for taken in map(digest_payload, files)}) == 1:
            return replace(found, grade="payload")
        results = [compare_files(log.kind, a, b) for a, b in pairs]
    reason = next((why for _, why in results if why), "")
    metrics = {} if reason else merge_worst(each for each, _ in results)
    limits = {
        name: widen(metrics[name])
        for name, widen in _MARGINS.items()
        if name in metrics and not (name == "max_error_255" and metrics[name] > _ERROR_MAX)
    }
    if limits:
        reason = explain_loose_limits(limits, sound=log.kind is AssetKind.AUDIO)
    if reason:
        return replace(found, grade="different", metrics=metrics, reason=reason)
    return replace(found, grade="tolerance", metrics=metrics, limits=limits)


def with_threads(job: RenderJob, threads: int) -> RenderJob:
    """Give a job another number of threads: by variables, and by the option of a known renderer."""
    argv, option = job.argv, find_renderer(job.argv).threads
    if option:
        kept = (each for each in argv if not each.startswith(option))
        argv = (*kept, f"{option}{threads}")
    return replace(job, argv=argv, env={**job.env, **dict.fromkeys(THREAD_CAPS, str(threads))})


def write_limits(found: Calibration, when: str) -> int:
    """Put proposed limits into a log that promises tolerance, at an instant; return the number of the new revision.

    Raises:
        UsageError: E-USE-001, nothing is proposed, or the log promises more than tolerance.
    """
    document = to_document(read_log(found.log))
    promised = document.get("promise", {}).get("grade")
    if promised != "tolerance" or not found.limits:
        why = found.reason or "repeats do not differ"
        why = f"its log promises {promised}" if found.limits else why
        raise UsageError(
            f"No limits were written into {found.log}: {why}.",
            "Expected a promise of tolerance, and repeats that differ. A promise is not weakened by the way.",
            f"Seal it with the grade that is meant: twice asset seal ASSET --log {found.log} --set promise.grade=GRADE --revise",
        )
    profile = {"name": NAME, "limits": found.limits}
    # A calibration leaves no record that a gate could read.
    who = f"twice asset calibrate, {pluralize(found.runs, 'run')}"
    said = {"level": "declared", "who": who, "when": when}
    return _write_revision(
        found.log,
        promise={**document["promise"], "profile": profile},
        evidence={**document.get("evidence", {}), "/promise/profile": said},
    )


def write_verdict(result: Rerender, when: str) -> int:
    """Put a re-rendering's result into its log, at an instant; return the number of the new revision.

    Raises:
        StoreRefused: E-ASSET-STORE-001, the store lies inside a public tree.
    """
    here = measure(probes=False)
    verdict = {
        "when": when,
        # Without a host's name.
        "machine": f"{platform.system()} {here.cpu.arch}, {here.cpu.model or 'a processor'}, {here.os.libc}",
        "outcome": str(result.outcome),
        "reason": result.reason,
        "grade": result.grade,
        "runs": result.runs,
        "artefacts": list(result.artefacts),
        "metrics": result.metrics,
    }
    earlier = to_document(read_log(result.log)).get("verdicts", [])
    known = {name: value for name, value in verdict.items() if value}
    return _write_revision(result.log, verdicts=[*earlier, known])


def _write_revision(path: Path, **changes: Any) -> int:
    log = read_log(path)
    revision = (log.revision or 1) + 1
    changes |= {"revision": revision, "supersedes": log_digest(log)}
    write_log(path, to_document(log) | changes)
    return revision
