"""What a renderer's own repeats differ by, and the limits that follow.

Every pair of repeats is compared, and each repeat with the sealed asset. Limits are the worst of these with
a margin. They say how much this renderer scatters on this machine; another scene may scatter more.

Invariant: limits are proposed only where repeats differ; equal repeats deserve a stricter grade.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from twice.assets.errors import RenderFailed
from twice.assets.likening.figures import too_loose, worst
from twice.assets.log.io import log_digest, read_log, to_document
from twice.assets.log.models import AssetKind, DeterminismLog
from twice.assets.measuring.file import file_sha256
from twice.assets.payload import payload
from twice.assets.rendering.executing import rendered
from twice.assets.rendering.job import Job
from twice.assets.rendering.programs import RENDERERS
from twice.assets.rerendering.judging import compare_files
from twice.assets.rerendering.preparing import job_of, unrenderable
from twice.assets.rerendering.rerendering import Doing, Trying, base_of, sealed_asset
from twice.assets.rerendering.trusting import require_trusted
from twice.assets.store.seal import write_log
from twice.errors import UsageError
from twice.foundation.printable import pluralize
from twice.recorder.environment.surroundings import THREAD_CAPS

NAME: Final = "calibrated"

_MARGIN_DB: Final = 3.0
_MARGIN_SHARE: Final = 1.5
_ERROR_MAX: Final = 16.0
"""Beyond this, single pixels decide the largest error: of one and the same renderer it came to 49 and 86."""
_JUDGED: Final = (
    "max_error_255", "psnr_db", "worst_tile_psnr_db", "ssim", "length_difference", "lag_samples",
    "null_peak_dbfs",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What repeats came to.

    Args:
        log: path of the sidecar.
        runs: how many there were, over all numbers of threads.
        pairs: how many pairs were compared.
        grade: the strictest grade that all of them reach among themselves.
        figures: the worst of each.
        limits: what is proposed; empty where repeats are equal, or cannot be compared.
        reason: why there are no limits; "" where there are, or none are needed.
    """

    log: Path
    runs: int
    pairs: int
    grade: str
    figures: dict[str, float]
    limits: dict[str, float]
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Give it as ``twice asset calibrate --json`` prints it."""
        return {
            "format": "twice.asset-calibration/1", "log": str(self.log), "runs": self.runs,
            "pairs": self.pairs, "grade": self.grade, "metrics": self.figures,
            "limits": self.limits, "reason": self.reason,
        }  # fmt: skip


def calibrate(path: Path, how: Trying, threads: tuple[int, ...], doing: Doing) -> Calibration:
    """Render repeatedly, and compare all with all.

    Args:
        path: the sidecar.
        how: how often for each number of threads, and what may run.
        threads: further numbers of threads than the recipe's, each of at least 1.
        doing: told what is being done.

    Raises:
        RenderFailed: E-ASSET-RENDER-001: it cannot be rendered here.
        RecipeUntrusted: E-ASSET-RENDER-004. InputChanged: E-ASSET-RENDER-002.
    """
    log = read_log(path)
    missing = unrenderable(log)
    if missing:
        raise RenderFailed(
            f"{path} cannot be calibrated: {missing}.",
            "Expected a recipe that runs here.",
            "Calibrate where its renderer is installed.",
        )
    recipe = to_document(log.recipe)
    require_trusted(log, str(path), trust=how.trust, allow=how.allow)
    job = job_of(log, base_of(path), timeout_s=how.timeout_s)
    asset = sealed_asset(path, log)
    jobs = [job, *(with_threads(job, each) for each in threads)]
    with tempfile.TemporaryDirectory(prefix="twice-calibrate-") as folder:
        files = [asset] if asset is not None else []
        for number, each in enumerate(one for one in jobs for _ in range(how.runs)):
            doing(f"rendering {number + 1} of {len(jobs) * how.runs}")
            with rendered(each, (recipe["output"],)) as run:
                kept = Path(folder) / f"{number}{Path(recipe['output']).suffix}"
                files.append(Path(shutil.copyfile(run.folder / recipe["output"], kept)))
        doing("comparing")
        return _compared(path, log, files, len(jobs) * how.runs)


def with_threads(job: Job, threads: int) -> Job:
    """Give a job another number of threads: by variables, and by the option of a known renderer."""
    env = {**job.env, **dict.fromkeys(THREAD_CAPS, str(threads))}
    renderer = RENDERERS.get(Path(job.argv[0]).name)
    argv = job.argv
    if renderer is not None and renderer.threads:
        kept = [each for each in argv if not each.startswith(renderer.threads)]
        argv = (*kept, f"{renderer.threads}{threads}")
    return replace(job, argv=tuple(argv), env=env)


def _compared(path: Path, log: DeterminismLog, files: list[Path], runs: int) -> Calibration:
    pairs = list(combinations(files, 2))
    if len({file_sha256(each) for each in files}) == 1:
        return Calibration(
            log=path, runs=runs, pairs=len(pairs), grade="bytes", figures={}, limits={}
        )
    if len({(taken.method, taken.digest) for taken in map(payload, files)}) == 1:
        return Calibration(
            log=path, runs=runs, pairs=len(pairs), grade="payload", figures={}, limits={}
        )
    results = [compare_files(log.kind, a, b) for a, b in pairs]
    reason = next((why for _, why in results if why), "")
    figures = {} if reason else worst(each for each, _ in results)
    limits = dict(_limits(figures))
    if limits:
        reason = too_loose(limits, sound=log.kind is AssetKind.AUDIO)
    return Calibration(
        log=path, runs=runs, pairs=len(pairs), grade="different" if reason else "tolerance",
        figures=figures, limits={} if reason else limits, reason=reason,
    )  # fmt: skip


def _limits(figures: dict[str, float]) -> Iterator[tuple[str, float]]:
    """Give each figure that judges its margin."""
    for name in _JUDGED:
        if name not in figures:
            continue
        value = figures[name]
        if name in {"psnr_db", "worst_tile_psnr_db"}:
            yield name, round(value - _MARGIN_DB, 2)
        elif name == "null_peak_dbfs":
            yield name, round(value + _MARGIN_DB, 2)
        elif name == "ssim":
            yield name, round(1 - (1 - value) * _MARGIN_SHARE, 6)
        elif name == "max_error_255":
            if value <= _ERROR_MAX:
                yield name, round(value * _MARGIN_SHARE + 1, 2)
        else:
            yield name, abs(value)


def write_limits(found: Calibration) -> int:
    """Put proposed limits into a log that promises tolerance; the number of the new revision.

    Raises:
        UsageError: E-USE-001: nothing is proposed, or the log promises more than tolerance.
    """
    log = read_log(found.log)
    document = to_document(log)
    promised = document.get("promise", {}).get("grade")
    if promised != "tolerance" or not found.limits:
        differ = "repeats do not differ" if not found.reason else found.reason
        why = differ if not found.limits else f"its log promises {promised}"
        raise UsageError(
            f"No limits were written into {found.log}: {why}.",
            "Expected a promise of tolerance, and repeats that differ. A promise is not weakened by the way.",
            "Seal it with the grade that is meant: --set promise.grade=GRADE --revise",
        )
    revision = (log.revision or 1) + 1
    profile = {"name": NAME, "limits": found.limits}
    said = {"level": "recorded", "record": f"twice asset calibrate, {pluralize(found.runs, 'run')}"}
    write_log(
        found.log,
        document
        | {
            "promise": {**document["promise"], "profile": profile},
            "evidence": {**document.get("evidence", {}), "/promise/profile": said},
            "revision": revision,
            "supersedes": log_digest(log),
        },
    )
    return revision
