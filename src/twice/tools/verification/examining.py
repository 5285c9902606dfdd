"""One case of one tool, from the first run to the factor that exposes it.

Watched once; then without enforcement, which would hide what it refuses: twice in two processes, then
with everything perturbed at once. Only what differs then is tried factor by factor, and, where no
single one differs, by halving. Whatever is blamed has differed twice, beside a run that did not.

Invariant: a factor is named only after a trial in which nothing else was perturbed, or together with
those that it differs with.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from twice.diagnosis.minimal_causes import Group, find_minimal_causes
from twice.tools.limiting import now_s
from twice.tools.verification.attempts import Attempt, Outcome
from twice.tools.verification.comparing import difference
from twice.tools.verification.describing import Described
from twice.tools.verification.exposure import ENFORCEMENT, RERUN, Exposure
from twice.tools.verification.laboratory import Laboratory
from twice.tools.verification.laws import Laws
from twice.tools.verification.perturbations import AROUND, INSIDE

APART_S: Final = 1.1
"""Between a run and its rerun, so that a clock of whole seconds has moved."""
_REACHES_OUT: Final = frozenset({"network", "processes"})


@dataclass
class Examination:
    """What was seen of one case.

    Attributes:
        tool: what is tried.
        attempt: the case.
        origin: ``declared``, ``file`` or ``generated``.
        laboratory: where it is tried.
        factors: what is perturbed.
        first: what came of the first run without enforcement.
        exposures: what broke the declaration.
        failure: why it could not be tried; empty when it was.
        reran: whether two plain runs were held against each other.
        perturbed: factors that were perturbed.
        laws: laws that were tried.
        not_tried: factors and laws that were not, and why.
        seconds: of wall clock that its trials took; processes that serve many tools are not in it.
        runs: trials that were made.
    """

    tool: Described
    attempt: Attempt
    origin: str
    laboratory: Laboratory
    factors: Sequence[str]
    first: Outcome = field(default_factory=Outcome)
    exposures: list[Exposure] = field(default_factory=list)
    failure: str = ""
    reran: bool = False
    perturbed: list[str] = field(default_factory=list)
    laws: list[str] = field(default_factory=list)
    not_tried: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    runs: int = 0
    _ended_s: float = 0.0
    _suspects: Sequence[str] = ()
    _blamed: list[str] = field(default_factory=list)

    def run_first(self) -> None:
        """Once under enforcement, once without."""
        watched = self._run(replace(self.attempt, watched=True))
        refusal = watched.refused_for
        need = str(refusal.get("need") or ", ".join(refusal.get("needs", ())))
        if refusal:
            operation = refusal.get("operation")
            what = f"it uses {operation}" if operation else "its class and its needs contradict"
            self.exposures.append(
                Exposure(ENFORCEMENT, what, need, str(refusal.get("place") or ""))
            )
        if refusal and (need in _REACHES_OUT or "needs" in refusal):
            self.not_tried["without enforcement"] = f"it needs {need}"
            return
        self.first = self._run(self.attempt)
        self._ended_s = now_s()

    def run_again(self) -> None:
        """In another process, a little later."""
        if not self._goes_on:
            return
        threading.Event().wait(max(0.0, self._ended_s + APART_S - now_s()))
        differs = self._differs(self._run(self.attempt, process=1))
        self.reran = True
        if differs:
            self.exposures.append(Exposure(RERUN, differs))
        elif not self.first.ok and not self.exposures:
            self.failure = self.first.failure

    def run_perturbed(self) -> None:
        """With everything perturbed, then what is needed to name a factor."""
        if not self._goes_on or not self.first.ok or any(e.by == RERUN for e in self.exposures):
            return
        group = tuple(self.factors)
        together = self._perturbed(group)
        if together.lost and not self.exposures:
            self.not_tried["everything at once"] = together.lost
        around = tuple(name for name in group if name in AROUND)
        self.not_tried.update(together.unable)
        self.not_tried.update(self.laboratory.without_effect(around))
        able = [name for name in group if name not in self.laboratory.skipped]
        self.perturbed = [name for name in able if name not in self.not_tried]
        self._suspects = able if self._differs(together) else []

    def run_plainly(self) -> None:
        """Once more with nothing perturbed, where a factor is about to be blamed."""
        if self._suspects and self._differs(self._run(self.attempt, process=1)):
            self.exposures.append(
                Exposure(RERUN, "it differs now and then, with nothing perturbed")
            )
            self._suspects = []

    def run_factor(self, name: str) -> None:
        """With one factor perturbed, twice before it is blamed."""
        if name in self._suspects and self._moves((name,)):
            what = self._differs(self._perturbed((name,)))
            if what:
                self._blamed.append(name)
                self.exposures.append(Exposure(name, what))

    def run_together(self) -> None:
        """With fewer and fewer, where no single one differs."""
        if not self._suspects or self._blamed:
            return
        for group in find_minimal_causes(
            self._suspects, lambda groups: [self._moves(each) for each in groups]
        ):
            what = self._differs(self._perturbed(group))
            if what:
                self._blamed.append(" + ".join(group))
                self.exposures.append(Exposure(" + ".join(group), what))
        if not self._blamed:
            what = "everything perturbed at once differed, and not again"
            self.exposures.append(Exposure(RERUN, what))

    def run_laws(self) -> None:
        """Test the declaration's promises apart from its class."""
        if not self._goes_on or not self.first.ok or any(e.by == RERUN for e in self.exposures):
            return
        laws = Laws(self.tool, self.attempt, self.first, self._run, partial(self._run, process=1))
        self.exposures += laws.exposures()
        self.laws = laws.tried
        self.not_tried.update(laws.not_tried)

    @property
    def _goes_on(self) -> bool:
        return "without enforcement" not in self.not_tried

    def _moves(self, group: Group) -> bool:
        return bool(self._differs(self._perturbed(group)))

    def _differs(self, outcome: Outcome) -> str:
        return difference(self.tool, self.first, outcome)

    def _perturbed(self, group: Group) -> Outcome:
        inside = tuple(name for name in group if name in INSIDE)
        around = tuple(name for name in group if name in AROUND)
        return self._run(replace(self.attempt, inside=inside), around)

    def _run(self, attempt: Attempt, around: Sequence[str] = (), process: int = 0) -> Outcome:
        made = self.laboratory
        began_s, runs, starting_s = now_s(), made.runs, made.starting_s
        found = made.run(attempt, around, process)
        self.seconds += now_s() - began_s - (made.starting_s - starting_s)
        self.runs += made.runs - runs
        return found
