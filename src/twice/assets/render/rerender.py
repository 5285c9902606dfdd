"""Rendering an asset again, several times, and what that says of its promise.

A rendering that is as promised counts, wherever it was made. One that is not counts against the promise only
in the surroundings that the log pins; elsewhere, nothing can be judged.

Invariant: nothing in the store is changed, and the strictest grade that holds is the one that is told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from twice.assets.errors import InputChanged, PayloadRefused, RenderFailed
from twice.assets.log.io import read_log
from twice.assets.log.models import (
    SUFFIX,
    AssetKind,
    DeterminismLog,
    Grade,
    Payload,
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
from twice.assets.render.recipe import (
    build_job,
    find_asset_input,
    find_asset_read,
    find_obstacle,
    list_differences,
)
from twice.assets.render.runner import render
from twice.assets.render.trust import require_trusted
from twice.assets.store.store import find_store
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
class RerenderOptions:
    """How to render again.

    Args:
        runs: how often, at least once.
        profile: the name of a tolerance instead of the log's.
        trust: whether recipes that this account did not record may run.
        allow: the programs that such recipes may run.
        timeout_s: a time limit instead of the recipe's.
    """

    runs: int = 3
    profile: str = ""
    trust: bool = False
    allow: Collection[str] = ()
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerender:
    """What re-rendering one log's asset came to.

    Args:
        log: path of the sidecar.
        outcome: reproduced, differs, cannot-judge, ``unpromised`` or ``refused``.
        promised: the grade of the promise; "" without one.
        grade: the worst that was reached; "" where nothing was rendered.
        runs: how often it was rendered.
        metrics: the worst of each figure.
        reason: why, in words.
        elsewhere: in what these surroundings differ from the recorded ones.
        artefacts: labelled digests of what was rendered, each once.
    """

    log: Path
    outcome: str
    promised: str = ""
    grade: str = ""
    runs: int = 0
    metrics: dict[str, float] = field(default_factory=dict)
    reason: str = ""
    elsewhere: tuple[str, ...] = ()
    artefacts: tuple[str, ...] = ()

    def to_lines(self) -> Iterator[str]:
        """Return it for people."""
        name = self.log.name.removesuffix(SUFFIX)
        yield printable(f"{self.outcome}: {name}: {self.reason}")
        if self.metrics:
            figures = ", ".join(f"{key} {value:g}" for key, value in self.metrics.items())
            yield f"  worst of {self.runs}: {figures}"
        if self.elsewhere and self.outcome == RerenderOutcome.REPRODUCED:
            yield printable(f"  although {'; '.join(self.elsewhere)}")


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
        return "\n".join(line for each in self.rows for line in each.to_lines())


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
    """Render a log's asset again.

    Args:
        path: the sidecar.
        how: how often, and what may run.
        progress: told what is being done.

    Raises:
        LogUnreadable, LogRefused: E-ASSET-LOG-001, E-ASSET-LOG-002, it is no log that could be judged.
        RecipeUntrusted: E-ASSET-RENDER-004, the recipe is somebody else's.
        InputChanged: E-ASSET-RENDER-002, an input or the asset is another one than was logged.
        UsageError: E-USE-001, an unknown tolerance, or a log that is about no asset.
    """
    log = read_log(path)
    promise = log.promise
    if promise is None or not log.deterministic:
        why = promise.why if promise is not None else None
        return Rerender(log=path, outcome=UNPROMISED, reason=why or "nothing is promised of it")
    unjudged = Rerender(log=path, outcome=RerenderOutcome.CANNOT_JUDGE, promised=str(promise.grade))
    if obstacle := find_obstacle(log):
        return replace(unjudged, reason=obstacle)
    require_trusted(log, str(path), trust=how.trust, allow=how.allow)
    limits = _choose_limits(Profile(name=how.profile) if how.profile else promise.profile, log.kind)
    job = build_job(log, find_base(path), timeout_s=how.timeout_s)
    unjudged = replace(unjudged, elsewhere=tuple(list_differences(log, job)))
    asset = find_sealed_asset(path, log)
    unshown = find_asset_input(log, job, asset)
    loose = explain_loose_limits(limits, sound=log.kind is AssetKind.AUDIO)
    if not unshown and promise.grade is Grade.TOLERANCE and loose:
        unshown = f"its tolerance is none: {loose}"
    found: list[_GradedRendering] = []
    try:
        for number in range(0 if unshown else how.runs):
            progress(f"{path.name}: rendering {number + 1} of {how.runs}")
            with render(job) as run:
                unshown = unshown or find_asset_read(run, log, asset)
                found.append(_grade(log, asset, run.folder / job.outputs[0], limits))
    except RenderFailed as error:
        unshown = error.happened
    return replace(unjudged, reason=unshown) if unshown else _conclude(unjudged, found)


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


def find_base(path: Path) -> Path:
    """Return the folder that paths of a log's recipe start from."""
    store = find_store(path.parent)
    return store.root if store is not None else path.parent


def find_sealed_asset(path: Path, log: DeterminismLog) -> Path | None:
    """Find the asset beside its log; None where it is not there.

    Raises:
        InputChanged: E-ASSET-RENDER-002, another file has its name.
        UsageError: E-USE-001, the log does not say what it is about.
    """
    if log.asset is None or log.asset.file is None or log.asset.payload is None:
        raise UsageError(
            f"{path} does not say which asset it is about.",
            "Expected a log that was sealed.",
            "Seal it: twice asset seal ASSET --log DRAFT",
        )
    asset = path.parent / log.asset.file
    if not asset.is_file():
        return None
    if _read_payload(asset) != log.asset.payload:
        raise InputChanged(
            f"The asset {asset} has changed: its payload is not the one that was sealed.",
            f"Expected the payload {log.asset.payload.digest}.",
            "See what is wrong: twice asset verify",
            path=str(asset),
        )
    return asset


def _read_payload(path: Path) -> Payload:
    taken = digest_payload(path)
    return Payload(method=taken.method, digest=taken.digest)


class _GradedRendering(NamedTuple):
    """How one rendering compares: its grade and digest, figures, and what exceeds its limits or was not measured."""

    grade: str
    artefact: str
    metrics: Mapping[str, float] = {}
    exceeded: Sequence[str] = ()


def _grade(
    log: DeterminismLog, asset: Path | None, rendered: Path, limits: Mapping[str, float]
) -> _GradedRendering:
    """Compare one rendering: by the digests in the log, then with the asset itself."""
    assert log.asset is not None, "a log without an asset is refused before"
    digest = digest_file(rendered)
    artefact = f"sha256:{digest}"
    if digest == log.asset.file_sha256:
        return _GradedRendering("bytes", artefact)
    try:
        if _read_payload(rendered) == log.asset.payload:
            return _GradedRendering("payload", artefact)
        metrics, why = compare_files(log.kind, asset, rendered)
    except PayloadRefused as error:
        metrics, why = {}, error.happened
    exceeded = [why] if why else exceed_limits(metrics, limits)
    return _GradedRendering("different" if exceeded else "tolerance", artefact, metrics, exceeded)


def compare_files(kind: AssetKind | None, a: Path | None, b: Path) -> tuple[dict[str, float], str]:
    """Return the figures of two files of a kind, or the reason why there are none."""
    if a is None:
        return {}, "the asset is not there to compare with"
    one, two = digest_payload(a), digest_payload(b)
    if one.method != two.method or one.facts["media_type"] != two.facts["media_type"]:
        return {}, f"{one.facts['media_type']} and {two.facts['media_type']} are not compared"
    return (compare_sounds if kind is AssetKind.AUDIO else compare_images)(a, b)


def _conclude(unjudged: Rerender, found: Sequence[_GradedRendering]) -> Rerender:
    """Judge the worst of several renderings."""
    grade, promised = max((each.grade for each in found), key=GRADES.index), unjudged.promised
    outcome, reason = RerenderOutcome.REPRODUCED, f"{len(found)} of {len(found)} reached {grade}"
    if GRADES.index(grade) > GRADES.index(promised):
        outcome, reason = RerenderOutcome.DIFFERS, f"promised {promised}, reached {grade}"
        exceeded = next((each.exceeded for each in found if each.exceeded), ())
        reason += f": {', '.join(exceeded)}" if exceeded else ""
        if unjudged.elsewhere:
            outcome = RerenderOutcome.CANNOT_JUDGE
            reason += f"; but here {'; '.join(unjudged.elsewhere)}"
    return replace(
        unjudged, outcome=outcome, grade=grade, runs=len(found), reason=reason,
        metrics=merge_worst(each.metrics for each in found),
        artefacts=tuple(sorted({each.artefact for each in found})),
    )  # fmt: skip
