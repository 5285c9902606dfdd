"""The script of one case: what is tried in which round, from the rerun to the factor that exposes it.

Watched once; then without enforcement, which would hide what it refuses: twice in two processes, then twice with
everything varied at once, under two hash seeds, for a small set has one order under many. Only what differs then is tried factor by factor, each twice and beside one more plain
run, and by halving where no single factor differs. Then the laws: what a declaration says besides its class.

A script asks for trials and is given their points. All scripts advance together, so that one process serves the
trials of all cases in equal surroundings.

Invariant: a factor is named only after two trials in which nothing else was varied, or together with those that
it differs with. A law that could not be tried exposes nothing, and says why.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from twice.diagnosis.minimal_causes import find_minimal_causes
from twice.foundation.comparison import differences
from twice.foundation.printable import pluralize
from twice.tools.determinism import Determinism
from twice.tools.verification.processes import NAMES, TrialProcesses
from twice.tools.verification.report import Exposure, ToolDescription
from twice.tools.verification.trial import RESTORED_START, SEED, ToolTrial, TrialPoint

_RERUN: Final = "rerun"
_REACHES_OUT: Final = frozenset({"network", "processes"})
_OTHER_SEEDS: Final = (SEED + 1, SEED + 2, SEED + 3)

_Script = Generator[Sequence[ToolTrial], list[TrialPoint], None]


@dataclass
class Examination:
    """What was seen of one case of a tool."""

    tool: ToolDescription
    trial: ToolTrial
    processes: TrialProcesses
    first: TrialPoint = field(default_factory=TrialPoint)
    """What came of the first run without enforcement."""
    exposures: list[Exposure] = field(default_factory=list)
    failure: str = ""
    has_rerun: bool = False
    perturbed: Sequence[str] = ()
    laws: list[str] = field(default_factory=list)
    not_tried: dict[str, str] = field(default_factory=dict)
    runs: int = 0
    seconds: float = 0.0
    _process: int = 0
    """Which of the varied processes differed."""

    def follow_script(self) -> _Script:
        """Ask for the trials of each round, and judge their points."""
        (watched,) = yield [replace(self.trial, watched=True)]
        if refusal := watched.refusal:
            operation = refusal.get("operation")
            what = f"it uses {operation}" if operation else "its class and its needs contradict"
            need = str(refusal.get("need") or ", ".join(refusal.get("needs", ())))
            self._expose("enforcement", what, need, str(refusal.get("place") or ""))
            if need in _REACHES_OUT or "needs" in refusal:
                self.not_tried["without enforcement"] = f"it needs {need}"
                return
        self.first, again = yield [self.trial, replace(self.trial, process=1)]
        self.has_rerun = True
        if self._expose(_RERUN, self._find_difference(again)):
            return
        if self.first.ok:
            yield from self._vary()
            if not any(each.by == _RERUN for each in self.exposures):
                yield from self._try_laws()
        elif not self.exposures:
            self.failure = self.first.failure

    def _vary(self) -> _Script:
        looks = yield [replace(self.trial, varied=NAMES, process=at) for at in range(2)]
        if looks[0].lost and not self.exposures:
            self.not_tried["everything at once"] = looks[0].lost
        self.not_tried |= {**looks[0].unable, **self.processes.without_effect}
        self.perturbed = [name for name in NAMES if name not in self.not_tried]
        differing = [at for at, each in enumerate(looks) if self._find_difference(each)]
        if not differing:
            return
        self._process = differing[0]
        trial = replace(self.trial, process=self._process)
        # Of the two varied processes the second has another hash seed, and is equal otherwise.
        names = ["hash seed"] if self._process else self.perturbed
        alone = [replace(trial, varied=(name,)) for name in names for _ in range(2)]
        plain, *points = yield [replace(self.trial, process=1), *alone]
        if self._find_difference(plain):
            self._expose(_RERUN, "it differs now and then, with nothing perturbed")
            return
        pairs = zip(names, points[::2], points[1::2], strict=True)
        found = [self._expose_pair(name, pair) for name, *pair in pairs]
        if not any(found):
            groups = find_minimal_causes(self.perturbed, self._ask, harmless=self.perturbed)
            found = [self._expose_pair(" + ".join(each), self._run(each, 2)) for each in groups]
        if not any(found):
            self._expose(_RERUN, "everything perturbed at once differed, and not again")

    def _expose_pair(self, by: str, points: Sequence[TrialPoint]) -> bool:
        found = [self._find_difference(each) for each in points]
        return all(found) and self._expose(by, found[-1])

    def _ask(self, groups: Sequence[tuple[str, ...]]) -> list[bool]:
        return [bool(self._find_difference(self._run(each, 1)[0])) for each in groups]

    def _run(self, group: Sequence[str], count: int) -> list[TrialPoint]:
        """Vary some factors together, outside of the common rounds, for that is seldom needed."""
        trial = replace(self.trial, varied=tuple(group), process=self._process)
        points = self.processes.run([trial] * count)
        self.count(points)
        return points

    def count(self, points: Sequence[TrialPoint]) -> None:
        """Add trials to those that were made."""
        self.runs += len(points)
        self.seconds += sum(each.seconds for each in points)

    # -- laws ----------------------------------------------------------------------------------

    def _try_laws(self) -> _Script:
        trial, first = self.trial, self.first
        self._judge_second_call()
        parts = [each for each in first.parts if len(each["path"]) == 1]
        restored = replace(trial, varied=(RESTORED_START,))
        stepped = replace(trial, steps=tuple(each["call"] for each in parts))
        seeded = [trial.with_seed(seed) for seed in _OTHER_SEEDS]
        asked = [restored]
        if is_stepped := self.tool.is_macro and bool(parts):
            asked.append(stepped)
        if is_seeded := self.tool.determinism == Determinism.SEEDED:
            asked += [*seeded, replace(seeded[0], process=1)]
        points = iter((yield asked))
        self._judge_restored(next(points))
        if is_stepped:
            self._judge_steps(parts, next(points))
        elif self.tool.is_macro:
            self.not_tried["step by step"] = "it has no steps here"
        if is_seeded:
            *others, again = points
            differs = find_difference(self.tool, others[0], again)
            if differs:
                self._expose(_RERUN, f"under another seed, {differs}")
            elif trial.case.seed_matters:
                self._judge_seeds(others)

    def _judge_second_call(self) -> None:
        first, tool = self.first, self.tool
        names = ", ".join(first.made_again[:3])
        self.laws.append("name taken")
        self._expose("name taken", names and f"called again, it made another name: {names}")
        if tool.reads_only:
            self.laws.append("reads only")
            has_changed = first.before != first.after
            self._expose("reads only", "it changed the state" if has_changed else "")
        if tool.idempotent:
            self.laws.append("idempotent")
            what = "a second equal call changed the state again"
            self._expose("idempotent", what if first.again != first.after else "")

    def _judge_restored(self, point: TrialPoint) -> None:
        if why := point.unable.get(RESTORED_START):
            self.not_tried[RESTORED_START] = why
            return
        self.laws.append(RESTORED_START)
        self._expose(RESTORED_START, self._find_difference(point))

    def _judge_steps(self, parts: Sequence[Mapping[str, Any]], point: TrialPoint) -> None:
        if point.lost or point.unready is not None:
            self.not_tried["step by step"] = point.failure
            return
        self.laws.append("step by step")
        for part, envelope in zip(parts, point.steps, strict=True):
            found = _show_first(part["path"][0], part["result"], envelope.get("result"))
            if self._expose("step by step", found and f"a step by itself differs: {found}"):
                return
        is_same = point.after == self.first.after
        self._expose("step by step", "" if is_same else "its steps one by one leave another state")

    def _judge_seeds(self, points: Sequence[TrialPoint]) -> None:
        """Expect something else of one other seed: two of them may draw alike by chance."""
        self.laws.append("another seed")
        count = pluralize(len(points), "other seed")
        if all(each.ok and not self._find_difference(each) for each in points):
            self._expose("another seed", f"{count} gave the same")
            return
        # What stays the same of a part that does the same under another seed.
        keys = ("path", "before", "after", "result")
        one, *others = (
            [[part[key] for key in keys] for part in each.parts] for each in (self.first, *points)
        )
        for part, own in zip(self.first.parts, one, strict=True):
            if part["seeded"] and all(own in each for each in others):
                path = " > ".join(part["path"])
                self._expose("another seed", f"its part {path} is seeded and gave the same")
                return

    def _find_difference(self, point: TrialPoint) -> str:
        return find_difference(self.tool, self.first, point)

    def _expose(self, by: str, what: str, need: str = "", place: str = "") -> bool:
        """Note an exposure, unless there is nothing to say of it."""
        exposure = Exposure(by, what, need, place)
        if what and exposure not in self.exposures:
            self.exposures.append(exposure)
        return bool(what)


def advance(examinations: Sequence[Examination], processes: TrialProcesses) -> None:
    """Advance all scripts together to their ends, one round after the other."""
    scripts = [(each, each.follow_script()) for each in examinations]
    asked = [(each, script, next(script)) for each, script in scripts]
    while asked:
        points = iter(processes.run([trial for *_, trials in asked for trial in trials]))
        rest = []
        for each, script, trials in asked:
            own = [next(points) for _ in trials]
            each.count(own)
            with suppress(StopIteration):
                rest.append((each, script, script.send(own)))
        asked = rest


def find_difference(tool: ToolDescription, one: TrialPoint, other: TrialPoint) -> str:
    """Describe the first difference of two points; return an empty text if there is none."""
    if one.lost or other.lost or one.unready is not None or other.unready is not None:
        return "" if one.failure == other.failure else f"{_tell(one)}; {_tell(other)}"
    if one.before != other.before:
        return "the state that it began in differs: its start is not reproduced"
    if one.result_form != other.result_form:
        if not (one.ok and other.ok):
            return f"{_tell(one)}; {_tell(other)}"
        results = one.envelope["result"], other.envelope["result"]
        if tool.equality is None or not tool.equality.same(*results).same:
            return _show_first("result", *results)
    if one.after == other.after:
        return ""
    is_shown = one.state is not None and other.state is not None
    found = _show_first("state", one.state, other.state) if is_shown else ""
    return found or f"the state's fingerprint differs: {one.after[:19]}…, {other.after[:19]}…"


def _show_first(root: str, one: object, other: object) -> str:
    """Describe the smallest difference of two plain values; empty where there is none."""
    found = differences(one, other, limit=1)
    return "".join(
        f"{root}{each.path.removeprefix('state')} is {each.a}; {each.b}" for each in found
    )


def _tell(point: TrialPoint) -> str:
    return "it gave a result" if point.ok else point.failure
