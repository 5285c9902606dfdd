"""Rendering an asset again, several times, and what that says of its promise.

A rendering that is as promised counts, wherever it was made. One that is not counts against the promise only
in the surroundings that the log pins; elsewhere, nothing can be judged.

Invariant: nothing in the store is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from twice.assets.errors import InputChanged, RenderFailed
from twice.assets.likening.figures import too_loose, worst
from twice.assets.log.io import read_log, to_document
from twice.assets.log.models import (
    SUFFIX,
    AssetKind,
    DeterminismLog,
    Grade,
    Profile,
    RerenderOutcome,
)
from twice.assets.payload import payload
from twice.assets.rendering.executing import rendered
from twice.assets.rerendering.judging import GRADES, Likeness, liken, limits_of
from twice.assets.rerendering.preparing import differing, given, job_of, took, unrenderable
from twice.assets.rerendering.trusting import require_trusted
from twice.assets.store.store import find_store
from twice.errors import TwiceError, UsageError
from twice.foundation.printable import printable

UNPROMISED: Final = "unpromised"
"""What is told of an asset that is marked as non-deterministic: there is nothing to hold it to."""
REFUSED: Final = "refused"
"""What is told of one of several logs that cannot be rendered at all."""

Doing = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trying:
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
class Rerendered:
    """What re-rendering came to.

    Args:
        log: path of the sidecar.
        outcome: reproduced, differs, cannot-judge, ``unpromised`` or ``refused``.
        promised: the grade of the promise; "" without one.
        grade: the worst that was reached; "" where nothing was rendered.
        runs: how often it was rendered.
        figures: the worst of each.
        reason: why, in words.
        elsewhere: in what these surroundings differ from the recorded ones.
        artefacts: digests of what was rendered, each once.
    """

    log: Path
    outcome: str
    promised: str = ""
    grade: str = ""
    runs: int = 0
    figures: dict[str, float] = field(default_factory=dict)
    reason: str = ""
    elsewhere: tuple[str, ...] = ()
    artefacts: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Give it as ``twice asset rerender --json`` prints it."""
        return {
            "log": str(self.log), "outcome": self.outcome, "promised": self.promised,
            "grade": self.grade, "runs": self.runs, "metrics": self.figures,
            "reason": self.reason, "elsewhere": list(self.elsewhere),
            "artefacts": list(self.artefacts),
        }  # fmt: skip

    def lines(self) -> Iterator[str]:
        """Give it for people."""
        name = self.log.name.removesuffix(SUFFIX)
        yield printable(f"{self.outcome}: {name}: {self.reason}")
        if self.figures:
            figures = ", ".join(f"{key} {value:g}" for key, value in self.figures.items())
            yield f"  worst of {self.runs}: {figures}"
        if self.elsewhere and self.outcome == RerenderOutcome.REPRODUCED:
            yield printable(f"  although {'; '.join(self.elsewhere)}")


@dataclass(frozen=True, slots=True)
class Rerenderings:
    """What re-rendering several logs came to."""

    rows: Sequence[Rerendered]

    @property
    def result(self) -> str:
        """A promise that does not hold counts most; assets without one do not count."""
        outcomes = {str(each.outcome) for each in self.rows}
        if RerenderOutcome.DIFFERS in outcomes:
            return "below"
        unsure = outcomes & {str(RerenderOutcome.CANNOT_JUDGE), REFUSED} or outcomes == {UNPROMISED}
        return "cannot-judge" if unsure else "holds"

    @property
    def exit_code(self) -> int:
        """0 every promise holds, 1 one does not, 2 one could not be judged."""
        return {"holds": 0, "below": 1, "cannot-judge": 2}[self.result]

    def to_json(self) -> dict[str, Any]:
        """Give it as ``twice asset rerender --json`` prints it."""
        rows = [each.to_json() for each in self.rows]
        return {"format": "twice.asset-rerender/1", "result": self.result, "rows": rows}

    def to_text(self) -> str:
        """Give it for people."""
        return "\n".join(line for each in self.rows for line in each.lines())


def rerender_each(paths: Sequence[Path], how: Trying, doing: Doing) -> Rerenderings:
    """Render the assets of several logs again; of several, one that is refused stops no other.

    Raises:
        TwiceError: as ``rerender``, of a log that is alone.
    """
    rows = []
    for path in paths:
        try:
            rows.append(rerender(path, how, doing))
        except TwiceError as error:
            if len(paths) == 1:
                raise
            rows.append(Rerendered(log=path, outcome=REFUSED, reason=error.happened))
    return Rerenderings(rows)


def rerender(path: Path, how: Trying, doing: Doing) -> Rerendered:
    """Render a log's asset again.

    Args:
        path: the sidecar.
        how: how often, and what may run.
        doing: told what is being done.

    Raises:
        LogUnreadable, LogRefused: E-ASSET-LOG-001, E-ASSET-LOG-002: it is no log that could be judged.
        RecipeUntrusted: E-ASSET-RENDER-004: the recipe is somebody else's.
        InputChanged: E-ASSET-RENDER-002: an input or the asset is another one than was logged.
    """
    log = read_log(path)
    promise = log.promise
    if promise is None or not log.deterministic:
        why = promise.why if promise is not None else None
        return Rerendered(log=path, outcome=UNPROMISED, reason=why or "nothing is promised of it")
    promised = str(promise.grade)
    missing = unrenderable(log)
    if missing:
        return Rerendered(
            log=path, outcome=RerenderOutcome.CANNOT_JUDGE, promised=promised, reason=missing
        )
    require_trusted(log, str(path), trust=how.trust, allow=how.allow)
    limits = limits_of(Profile(name=how.profile) if how.profile else promise.profile, log.kind)
    job = job_of(log, base_of(path), timeout_s=how.timeout_s)
    elsewhere = tuple(differing(log, job))
    asset = sealed_asset(path, log)
    unshown = given(log, job, asset) or (promised == Grade.TOLERANCE and _loose(log, limits)) or ""
    found: list[Likeness] = []
    output = to_document(log.recipe)["output"]
    try:
        for number in range(0 if unshown else how.runs):
            doing(f"{path.name}: rendering {number + 1} of {how.runs}")
            with rendered(job, (output,)) as run:
                unshown = unshown or took(run, log, asset)
                found.append(liken(log, asset, run.folder / output, limits))
    except RenderFailed as error:
        unshown = error.happened
    if unshown:
        return Rerendered(
            log=path, outcome=RerenderOutcome.CANNOT_JUDGE, promised=promised, reason=unshown,
            elsewhere=elsewhere,
        )  # fmt: skip
    return _judged(path, promised, found, elsewhere)


def _loose(log: DeterminismLog, limits: Mapping[str, float]) -> str:
    """Say why a tolerance is none; "" where it is one."""
    why = too_loose(limits, sound=log.kind is AssetKind.AUDIO)
    return f"its tolerance is none: {why}" if why else ""


def base_of(path: Path) -> Path:
    """Give the folder that paths of a log's recipe start from."""
    store = find_store(path.parent)
    return store.root if store is not None else path.parent


def sealed_asset(path: Path, log: DeterminismLog) -> Path | None:
    """Find the asset beside its log; None where it is not there.

    Raises:
        InputChanged: E-ASSET-RENDER-002: another file has its name.
        UsageError: E-USE-001: the log does not say what it is about.
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
    taken = payload(asset)
    if (taken.method, taken.digest) != (log.asset.payload.method, log.asset.payload.digest):
        raise InputChanged(
            f"The asset {asset} has changed: its payload is not the one that was sealed.",
            f"Expected the payload {log.asset.payload.digest}.",
            "See what is wrong: twice asset verify",
            path=str(asset),
        )
    return asset


def _judged(
    path: Path, promised: str, found: list[Likeness], elsewhere: tuple[str, ...]
) -> Rerendered:
    grade = max((each.grade for each in found), key=GRADES.index)
    holds = GRADES.index(grade) <= GRADES.index(promised)
    wanting = next((each.wanting for each in found if each.wanting), ())
    reason = f"{len(found)} of {len(found)} reached {grade}" if holds else (
        f"promised {promised}, reached {grade}" + (f": {', '.join(wanting)}" if wanting else "")
    )  # fmt: skip
    outcome = RerenderOutcome.REPRODUCED if holds else RerenderOutcome.DIFFERS
    if not holds and elsewhere:
        outcome, reason = RerenderOutcome.CANNOT_JUDGE, f"{reason}; but here {'; '.join(elsewhere)}"
    return Rerendered(
        log=path, outcome=outcome, promised=promised, grade=grade, runs=len(found),
        figures=worst(each.figures for each in found), reason=reason, elsewhere=elsewhere,
        artefacts=tuple(sorted({each.artefact for each in found})),
    )  # fmt: skip
