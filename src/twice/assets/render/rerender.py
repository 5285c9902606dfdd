"""Rendering an asset again, several times, and what that says of its promise.

A rendering that is as promised counts, wherever it was made. One that is not counts against the promise only
in the surroundings that the log pins; elsewhere, nothing can be judged.

Invariant: nothing in the store is changed, and the strictest grade that holds is the one that is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from twice.assets.errors import PayloadRefused, RenderFailed
from twice.assets.log.io import read_log
from twice.assets.log.models import (
    SUFFIX,
    AssetKind,
    DeterminismLog,
    Grade,
    Profile,
    RerenderOutcome,
)
from twice.assets.media.measure import digest_file
from twice.assets.media.payload import digest_payload
from twice.assets.media.similarity import (
    PROFILES,
    compare_images,
    compare_sounds,
    exceed_limits,
    explain_loose_limits,
    merge_worst,
)
from twice.assets.render import recipe
from twice.assets.render.recipe import RerenderOptions
from twice.assets.render.runner import render
from twice.errors import TwiceError, UsageError
from twice.foundation.printable import printable

UNPROMISED: Final = "unpromised"
"""The outcome of an asset that is marked as non-deterministic: there is nothing to hold it to."""
REFUSED: Final = "refused"
"""The outcome of one of several logs that cannot be rendered at all."""
GRADES: Final = ("bytes", "payload", "tolerance", "different")
"""Strictest first."""

ProgressCallback = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerender:
    """What re-rendering the asset of the log at a path came to.

    ``outcome`` is reproduced, differs, cannot-judge, ``unpromised`` or ``refused``, for ``reason``. ``grade`` and
    ``metrics`` are the worst of all runs, ``artefacts`` their labelled digests, each once. ``elsewhere`` says in what
    these surroundings differ from the recorded ones.
    """

    log: Path
    outcome: str
    promised: str = ""
    grade: str = ""
    runs: int = 0
    metrics: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    elsewhere: tuple[str, ...] = ()
    artefacts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RerenderReport:
    """What re-rendering several logs came to."""

    rows: Sequence[Rerender]

    @property
    def exit_code(self) -> int:
        """0 every promise holds, 1 one does not, 2 one could not be judged; assets without one do not count."""
        outcomes = {str(each.outcome) for each in self.rows}
        if RerenderOutcome.DIFFERS in outcomes:
            return 1
        unsure = outcomes & {str(RerenderOutcome.CANNOT_JUDGE), REFUSED} or outcomes == {UNPROMISED}
        return 2 if unsure else 0

    def to_json(self) -> dict[str, Any]:
        """Return it as ``twice asset rerender --json`` prints it."""
        result = ("holds", "below", "cannot-judge")[self.exit_code]
        rows = [asdict(each) | {"log": str(each.log)} for each in self.rows]
        return {"format": "twice.asset-rerender/1", "result": result, "rows": rows}

    def to_text(self) -> str:
        """Return it for people."""
        lines = []
        for each in self.rows:
            lines.append(f"{each.outcome}: {each.log.name.removesuffix(SUFFIX)}: {each.reason}")
            if each.metrics:
                figures = ", ".join(f"{name} {value:g}" for name, value in each.metrics.items())
                lines.append(f"  worst of {each.runs}: {figures}")
            if each.elsewhere and each.outcome == RerenderOutcome.REPRODUCED:
                lines.append(f"  although {'; '.join(each.elsewhere)}")
        return "\n".join(map(printable, lines))


def rerender_each(
    paths: Sequence[Path], how: RerenderOptions, progress: ProgressCallback
) -> RerenderReport:
    """Render the assets of several logs again; of several, one that is refused stops no other.

    Raises:
        TwiceError: as ``rerender``, of a log that is alone.
    """
    rows = []
    for path in paths:
        try:
            rows.append(rerender(path, how, progress))
        except TwiceError as error:
            if len(paths) == 1:
                raise
            rows.append(Rerender(log=path, outcome=REFUSED, reason=error.happened))
    return RerenderReport(rows)


def rerender(path: Path, how: RerenderOptions, progress: ProgressCallback) -> Rerender:
    """Render the asset of the log at a path again; ``progress`` is told what is being done.

    Raises:
        LogUnreadable, LogRefused: E-ASSET-LOG-001, E-ASSET-LOG-002, it is no log that could be judged.
        RecipeUntrusted, InputChanged, UsageError: as ``prepare_job``; E-USE-001 also for an unknown tolerance.
    """
    log = read_log(path)
    promise = log.promise
    if promise is None or not log.deterministic:
        why = promise.why if promise is not None else None
        return Rerender(log=path, outcome=UNPROMISED, reason=why or "nothing is promised of it")
    result = Rerender(log=path, outcome=RerenderOutcome.CANNOT_JUDGE, promised=str(promise.grade))
    if obstacle := recipe.find_obstacle(log):
        return replace(result, reason=obstacle)
    limits = _choose_limits(Profile(name=how.profile) if how.profile else promise.profile, log.kind)
    job, asset = recipe.prepare_job(path, log, how)
    result = replace(result, elsewhere=tuple(recipe.list_differences(log, job)))
    unshown = recipe.find_asset_input(log, job, asset)
    loose = explain_loose_limits(limits, sound=log.kind is AssetKind.AUDIO)
    if not unshown and promise.grade is Grade.TOLERANCE and loose:
        unshown = f"its tolerance is none: {loose}"
    runs = []
    try:
        for number in range(0 if unshown else how.runs):
            progress(f"{path.name}: rendering {number + 1} of {how.runs}")
            with render(job) as run:
                unshown = unshown or recipe.find_asset_read(run, log, asset)
                runs.append(_grade(log, asset, run.folder / job.outputs[0], limits))
    except RenderFailed as error:
        unshown = error.happened
    if unshown:
        return replace(result, reason=unshown)
    grade = max((each for each, *_ in runs), key=GRADES.index)
    outcome, reason = RerenderOutcome.REPRODUCED, f"{len(runs)} of {len(runs)} reached {grade}"
    if GRADES.index(grade) > GRADES.index(result.promised):
        outcome, reason = RerenderOutcome.DIFFERS, f"promised {result.promised}, reached {grade}"
        exceeded = next((each for *_, each in runs if each), ())
        reason += f": {', '.join(exceeded)}" if exceeded else ""
        if result.elsewhere:
            outcome = RerenderOutcome.CANNOT_JUDGE
            reason += f"; but here {'; '.join(result.elsewhere)}"
    return replace(
        result, outcome=outcome, grade=grade, runs=len(runs), reason=reason,
        metrics=merge_worst(each for _, _, each, _ in runs),
        artefacts=tuple(sorted({each for _, each, *_ in runs})),
    )  # fmt: skip


def _choose_limits(profile: Profile | None, kind: AssetKind | None) -> Mapping[str, float]:
    """Return the limits of a tolerance: the log's own, else those of its name; by default the kind's."""
    if profile is None:
        return PROFILES["audio-numeric" if kind is AssetKind.AUDIO else "image-stochastic"]
    limits = profile.limits or PROFILES.get(str(profile.name))
    if limits is None:
        raise UsageError(
            f"The tolerance {profile.name!r} is not known, and has no limits.",
            f"Expected limits, or one of {', '.join(PROFILES)}.",
            "Find limits by repeats: twice asset calibrate LOG",
        )
    return limits


def _grade(
    log: DeterminismLog, asset: Path | None, rendered: Path, limits: Mapping[str, float]
) -> tuple[str, str, Mapping[str, float], Sequence[str]]:
    """Compare one rendering: its grade, its digest, figures, and what exceeds limits or why nothing was measured."""
    assert log.asset is not None, "a log without an asset is refused before"
    digest = digest_file(rendered)
    artefact = f"sha256:{digest}"
    if digest == log.asset.file_sha256:
        return "bytes", artefact, {}, ()
    try:
        if recipe.read_payload(rendered) == log.asset.payload:
            return "payload", artefact, {}, ()
        metrics, why = compare_files(log.kind, asset, rendered)
    except PayloadRefused as error:
        metrics, why = {}, error.happened
    exceeded = [why] if why else exceed_limits(metrics, limits)
    return "different" if exceeded else "tolerance", artefact, metrics, exceeded


def compare_files(kind: AssetKind | None, a: Path | None, b: Path) -> tuple[dict[str, float], str]:
    """Return the figures of two files of a kind, or the reason why there are none."""
    if a is None:
        return {}, "the asset is not there to compare with"
    one, two = digest_payload(a), digest_payload(b)
    if one.method != two.method or one.media_type != two.media_type:
        return {}, f"{one.media_type} and {two.media_type} are not compared"
    return (compare_sounds if kind is AssetKind.AUDIO else compare_images)(a, b)
