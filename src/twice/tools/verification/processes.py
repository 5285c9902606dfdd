"""The processes that trials are carried out in: one for each surroundings, forked for each trial.

A process is started in its surroundings and loads the registry in them, so what a module does when it is imported
is varied too. Its forks have its addresses; a rerun is made in another process, whose addresses are others.

The surroundings are those of ``twice vary``, without the ones that a contract's profile pins (processor kernels,
libraries, the interpreter). Not here: what is tried. The network is not cut off but for where a trial denies it.

Invariant: at most two processes in plain surroundings and one in others live at a time, and none after ``close``.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from twice.diagnosis.vary.factor import Factor, FactorSetting, VaryContext, skip
from twice.diagnosis.vary.factors import FACTORS
from twice.diagnosis.vary.numeric_factors import NUMERIC_FACTORS
from twice.errors import ProgramFailed, SurroundingsRefused
from twice.foundation.dataclass_codec import to_plain
from twice.foundation.printable import pluralize
from twice.foundation.with_blocks import Closing
from twice.recorder.environment.surroundings import environ_for_child, for_recording
from twice.tools.deadlines import now_s
from twice.tools.verification.trial import INSIDE, ToolTrial, TrialPoint
from twice.worker.fork_server import ACTION
from twice.worker.process import FreshWorker

MODULE: Final = "twice.tools.verification"
_PINNED: Final = {*(each.name for each in NUMERIC_FACTORS), "interpreter", "global generators"}
AROUND: Final[dict[str, Factor]] = {each.name: each for each in FACTORS if each.name not in _PINNED}
NAMES: Final = (*AROUND, *INSIDE)
"""Every factor, in the order in which they are named."""
_APART_S: Final = 1.1
"""Between runs and reruns, so that a clock of whole seconds has moved."""
_FAR_ZONE: Final = "FAR+23:45"
"""So far behind Greenwich that the date is another one at almost every hour, also by a clock that C code reads."""
_SECOND_HASH_SEED: Final = "20260101"
_LATE_S: Final = 30.0
"""How much longer than a trial may take its process is waited for."""

Progress = Callable[[str], None]
_Place = tuple[tuple[str, ...], int]


class TrialProcesses(Closing):
    """Where one registry is tried; a context manager, with the arguments of ``verify_tools``.

    Attributes:
        without_effect: factors that are not varied here, or had no effect when all were, and why.
        starts: processes that were started.
        starting_s: seconds that this took.
    """

    def __init__(self, registry: str, *, python: str, limit_s: float, progress: Progress) -> None:
        self.starts, self.starting_s = 0, 0.0
        place, colon, name = registry.rpartition(":")
        if place.endswith(".py"):  # Trials stand elsewhere.
            registry = f"{Path(place).resolve()}{colon}{name}"
        self._registry, self._python, self._limit_s = registry, python, limit_s
        self._progress = progress
        self._folder = Path(tempfile.mkdtemp(prefix="twice-tools-")).resolve()
        self._stand = self._folder / "here"
        self._stand.mkdir()
        self._base = for_recording(os.environ)
        context = VaryContext(self._base, self._folder)
        self._chosen = {name: factor.choose(context) for name, factor in AROUND.items()}
        self._chosen["time zone"] = FactorSetting({"TZ": _FAR_ZONE})
        self.without_effect = {
            name: each.skipped for name, each in self._chosen.items() if each.skipped
        }
        self._workers: dict[_Place, tuple[FreshWorker, bool]] = {}
        self._settings: Mapping[str, str] = {}
        self._ended_s = 0.0

    def describe(self, cases: Path | None) -> dict[str, Any]:
        """Describe the registry, the cases of its tools, and the environment.

        Args:
            cases: a file of cases; None for none.
        """
        return self._ask(((), 0), {"cases": "" if cases is None else str(cases.resolve())})

    def run(self, trials: Sequence[ToolTrial]) -> list[TrialPoint]:
        """Carry out trials, those of equal surroundings in one process; the points in the order of the trials."""
        places: dict[_Place, list[int]] = {}
        for at, trial in enumerate(trials):
            around = tuple(name for name in trial.varied if name in AROUND)
            places.setdefault((around, trial.process), []).append(at)
        points: dict[int, TrialPoint] = {}
        for place, numbers in places.items():
            named = " + ".join(place[0]) if len(place[0]) < 3 else "many factors varied"
            count = pluralize(len(numbers), "trial")
            self._progress(f"{count}: {named or 'nothing varied'}")
            points |= {at: self._try(place, trials[at]) for at in numbers}
            self._ended_s = now_s()
            if place[0]:
                self._end(place)
        return [points[at] for at in range(len(trials))]

    def close(self) -> None:
        """End every process and remove the folder."""
        for place in [*self._workers]:
            self._end(place)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _try(self, place: _Place, trial: ToolTrial) -> TrialPoint:
        with suppress(OSError):
            for each in self._folder.glob("*/*"):
                if each.is_dir() and not each.is_symlink():
                    shutil.rmtree(each, ignore_errors=True)
                else:
                    each.unlink()
        began_s = now_s()
        try:
            point = TrialPoint(**self._ask(place, {"trial": to_plain(trial)})["point"])
        except ProgramFailed as error:
            point = TrialPoint(lost=f"its process died: {error.expected.splitlines()[-1]}")
        except TimeoutError:
            point = TrialPoint(lost=f"it took longer than {self._limit_s:g} s")
        return replace(point, seconds=now_s() - began_s)

    def _ask(self, place: _Place, job: Mapping[str, Any]) -> dict[str, Any]:
        """Have a job done; a process that did not answer in time, that died or cannot fork is not asked again."""
        worker, is_fit = self._workers.get(place) or self._start(place)
        is_lost = True
        try:
            # The process itself ends a fork that is late, unless it does the job itself.
            answer = worker.ask(job, self._limit_s + _LATE_S * is_fit)
            is_lost = False
        finally:
            if is_lost or not is_fit:
                self._end(place)
        return answer

    def _start(self, place: _Place) -> tuple[FreshWorker, bool]:
        """Start a process; a factor that it cannot give itself is left out from here on."""
        around, number = place
        if number:
            threading.Event().wait(max(0.0, self._ended_s + _APART_S - now_s()))
        began_s = now_s()
        self.starts += 1
        worker = FreshWorker(
            MODULE, self._environ(place), cwd=str(self._stand), python=self._python
        )
        try:
            hello = worker.ask(
                {
                    "action": ACTION,  # Then it is the job that loads numpy.
                    "registry": self._registry,
                    "folder": str(Path.cwd()),
                    "limit_s": self._limit_s,
                }
            )
        except SurroundingsRefused as error:
            worker.close()
            variable = error.fields.get("variable")
            culprit = next((n for n in around if variable in self._chosen[n].variables), None)
            if culprit is None:
                raise
            self.without_effect[culprit] = error.happened
            self._chosen[culprit] = skip(error.happened)
            return self._start(place)
        except BaseException:
            worker.close()
            raise
        self.starting_s += now_s() - began_s
        settings = hello["settings"]
        if not around:
            self._settings = settings
        for name, factor in AROUND.items() if len(around) == len(AROUND) else ():
            if not factor.took_effect(self._settings, settings):
                self.without_effect.setdefault(name, factor.explain_no_effect(self._settings))
        self._workers[place] = found = worker, bool(hello["is_fit"])
        return found

    def _environ(self, place: _Place) -> dict[str, str]:
        base, (around, number) = self._base, place
        for name in around:
            base = base.with_variables(self._chosen[name].variables)
        if number and self._chosen["hash seed"].variables and "hash seed" in around:
            base = base.with_variables({"PYTHONHASHSEED": _SECOND_HASH_SEED})
        return environ_for_child(os.environ, base)

    def _end(self, place: _Place) -> None:
        worker, _ = self._workers.pop(place, (None, False))
        if worker is not None:
            worker.kill()
            worker.close()
