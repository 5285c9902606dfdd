"""The processes that trials are carried out in: one for each set of surroundings, forked for each trial.

A process is started in its surroundings and loads the registry in them, so what a module does when it
is imported is perturbed too. Its forks have its addresses; a rerun is made in another process, whose
addresses are others.

Not here: what is tried. The network is not cut off but for where the trial denies it.

Invariant: when the laboratory is closed no process of it is left, and no folder.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from twice.diagnosis.vary.factor import VaryContext
from twice.errors import ProgramFailed, SurroundingsRefused
from twice.foundation.with_blocks import Closing
from twice.recorder.environment.surroundings import environ_for_child, for_recording
from twice.tools.limiting import now_s
from twice.tools.verification.attempts import Attempt, Outcome, outcome_of
from twice.tools.verification.perturbations import AROUND
from twice.worker.channel import revive_error
from twice.worker.fork_server import ForkServer
from twice.worker.process import FreshWorker

MODULE: Final = "twice.tools.verification"
_KEPT: Final = 6
"""Processes that are kept for more trials in the same surroundings."""

Progress = Callable[[str], None]


class Laboratory(Closing):
    """Where one registry is tried; a context manager.

    Args:
        registry: its name; a file's path is absolute.
        python: the interpreter; empty for this one.
        limit_s: how long one trial may take.
        progress: told what is being done.

    Attributes:
        skipped: factors that cannot be perturbed here, and why.
        runs: trials that were carried out.
        starts: processes that were started for them.
        starting_s: seconds that this took.
    """

    def __init__(self, registry: str, *, python: str, limit_s: float, progress: Progress) -> None:
        self.runs = 0
        self.starts, self.starting_s = 0, 0.0
        self.progress = progress
        self._registry, self._python, self._limit_s = registry, python, limit_s
        self._folder = Path(tempfile.mkdtemp(prefix="twice-tools-")).resolve()
        self._stand = [self._folder / "here", self._folder / "elsewhere"]
        for each in self._stand:
            each.mkdir()
        self._base = for_recording(os.environ)
        context = VaryContext(self._base, self._folder)
        self._tried = {name: factor.choose(context) for name, factor in AROUND.items()}
        self.skipped = {name: each.skipped for name, each in self._tried.items() if each.skipped}
        self._processes: dict[tuple[tuple[str, ...], int], ForkServer] = {}
        self._settings: dict[tuple[str, ...], Mapping[str, str]] = {}

    def describe(self) -> dict[str, Any]:
        """Describe the registry and its environment."""
        told = self._ask({"action": "describe"}, (), 0)
        around = self._ask({"action": "surroundings", "whole": True}, (), 0)
        return {**told, "environment": around["environment"]}

    def run(self, attempt: Attempt, around: Sequence[str] = (), process: int = 0) -> Outcome:
        """Carry out a trial.

        Args:
            attempt: what is tried.
            around: factors of its surroundings.
            process: which of several processes in these surroundings.
        """
        able = tuple(name for name in around if name not in self.skipped)
        for folder in self._stand:
            _empty(folder)
        self.runs += 1
        try:
            return outcome_of(self._ask({"action": "try", **attempt.to_json()}, able, process))
        except SurroundingsRefused as error:
            culprit = self._refuses(able, str(error.fields.get("variable")))
            if culprit is None:
                raise
            self.skipped[culprit] = error.happened
            return self.run(attempt, around, process)
        except ProgramFailed as error:
            return Outcome(lost=f"its process died: {error.expected}")
        except TimeoutError:
            return Outcome(lost=f"it took longer than {self._limit_s:g} s")

    def without_effect(self, around: Sequence[str]) -> dict[str, str]:
        """Factors of some surroundings that had no effect in them, and why that is thought."""
        able = tuple(name for name in around if name not in self.skipped)
        plainly, varied = self._read_back(()), self._read_back(able)
        return {
            name: AROUND[name].explain_no_effect(plainly)
            for name in able
            if not AROUND[name].took_effect(plainly, varied)
        }

    def close(self) -> None:
        """End every process and remove the folder."""
        for key in list(self._processes):
            self._processes.pop(key).close()
        shutil.rmtree(self._folder, ignore_errors=True)

    # -- processes -----------------------------------------------------------------------------

    def _read_back(self, around: tuple[str, ...]) -> Mapping[str, str]:
        if around not in self._settings:
            told = self._ask({"action": "surroundings", "whole": False}, around, 0)
            self._settings[around] = told["settings"]
        return self._settings[around]

    def _ask(
        self, job: Mapping[str, Any], around: tuple[str, ...], process: int
    ) -> Mapping[str, Any]:
        key = (around, process)
        job = {**job, "registry": self._registry, "folder": str(Path.cwd())}
        server = self._process(key, job)
        if server.fit:
            with server.fork() as fork:
                fork.channel.send(job)
                try:
                    message = fork.channel.receive(self._limit_s)
                except TimeoutError:
                    self._processes.pop(key).close()  # Its forks end with it.
                    raise
                if message is None:
                    tail = fork.errors_tail(300).splitlines()
                    raise ProgramFailed("A trial's process died.", tail[-1] if tail else "", "")
            if message.get("kind") == "error":
                raise revive_error(message)
            return message
        child = FreshWorker(
            MODULE, self._environ(around), cwd=str(self._stand[0]), python=self._python
        )
        try:
            return child.ask(job, self._limit_s)
        finally:
            child.kill()
            child.close()

    def _process(self, key: tuple[tuple[str, ...], int], job: Mapping[str, Any]) -> ForkServer:
        found = self._processes.pop(key, None)
        if found is None:
            around = " + ".join(key[0]) if len(key[0]) < len(AROUND) // 2 else "everything varied"
            self.progress(f"starting a process{f': {around}' if around else ''}")
            while len(self._processes) >= _KEPT:
                self._processes.pop(next(iter(self._processes))).close()
            began_s = now_s()
            found = ForkServer(
                MODULE,
                self._environ(key[0]),
                cwd=str(self._stand[0]),
                python=self._python,
                job=job,
            )
            self.starts += 1
            self.starting_s += now_s() - began_s
        self._processes[key] = found  # The one that was used last stands last.
        return found

    def _environ(self, around: tuple[str, ...]) -> dict[str, str]:
        base = self._base
        for name in around:
            base = base.with_variables(self._tried[name].variables)
        return environ_for_child(os.environ, base)

    def _refuses(self, around: Sequence[str], variable: str) -> str | None:
        return next((name for name in around if variable in self._tried[name].variables), None)


def _empty(folder: Path) -> None:
    with suppress(OSError):
        for each in folder.iterdir():
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each, ignore_errors=True)
            else:
                each.unlink()
