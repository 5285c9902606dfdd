"""The recordings of one experiment: made in processes of their own, once for each set of factors.

Invariant: a set of factors is recorded once, unless a second recording is asked for by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.minimal_causes import Group
from twice.diagnosis.vary.factor import Factor, Tried, varied
from twice.diagnosis.vary.readback import Seen, seen_in, took_effect
from twice.errors import FilesUnprotected, SurroundingsRefused, TwiceError
from twice.recording.recorder import record_program
from twice.recording.setup import Setup
from twice.recording.surroundings import Surroundings
from twice.worker.concurrency import run_concurrently

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Made:
    """One recording: where it stands, and what went wrong with it."""

    path: Path
    failed: str = ""


@dataclass
class Experiment:
    """The recordings of one program.

    Attributes:
        setup: the rules of every run.
        base: the surroundings of the run that is not varied.
        folder: where records stand until the experiment is over.
        progress: called with what is being done.
        factors: what is varied, by name.
        tried: the value of each factor.
        refused: factors that a child could not give itself, and why.
    """

    setup: Setup
    base: Surroundings
    folder: Path
    progress: Progress
    factors: Mapping[str, Factor]
    tried: Mapping[str, Tried]
    refused: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._made: dict[frozenset[str], Made] = {}
        self._count = 0
        self._seen: dict[Path, Seen] = {}

    def unvaried(self, times: int) -> list[Made]:
        """New recordings of the program as it is; the first ever is what others are compared with."""
        made = self._record([()] * times)
        if not hasattr(self, "baseline"):
            self.baseline = made[0]
        return made

    def differ(self, groups: Sequence[Group]) -> list[bool]:
        """Whether runs with these factors varied differ from the one without."""
        new = [group for group in groups if frozenset(group) not in self._made]
        if new:
            self.progress("varying " + " | ".join(", ".join(group) for group in new))
            for group, made in zip(new, self._record(new), strict=True):
                self._made[frozenset(group)] = made
        return [not self.same(self.made(group)) for group in groups]

    def made(self, group: Group) -> Made:
        """The recording of a set of factors that was asked about."""
        return self._made[frozenset(group)]

    def again(self, groups: Sequence[Group]) -> list[Made]:
        """Second recordings."""
        return self._record(groups)

    def same(self, made: Made) -> bool:
        """Whether a run holds the class against the one that is not varied; by the logs alone."""
        if made.failed:
            return False
        return diagnose(self.baseline.path, made.path, lines=False).exit_code == 0

    def took_effect(self, factor: Factor) -> bool:
        """Whether some run in which the factor was varied reads back another setting of it."""
        unvaried = self.seen(self.baseline)
        runs = [made for group, made in self._made.items() if factor.name in group]
        return any(
            took_effect(factor, unvaried, self.seen(made)) for made in runs if self.seen(made)
        )

    def seen(self, made: Made) -> Seen:
        """What a run read back of its surroundings."""
        if made.path not in self._seen:
            self._seen[made.path] = seen_in(made.path)
        return self._seen[made.path]

    def variables(self, group: Group) -> dict[str, str]:
        """What the child of a group is given."""
        return {key: value for name in group for key, value in self.tried[name].variables.items()}

    def python(self, group: Group) -> str:
        """The interpreter that executes a group; empty for this one."""
        return next((path for name in group if (path := self.tried[name].python)), "")

    def _record(self, groups: Sequence[Group]) -> list[Made]:
        calls = []
        for group in groups:
            self._count += 1
            out = self.folder / f"{self._count}.twice"
            calls.append(partial(self._record_one, group, out))
        return run_concurrently(calls)

    def _record_one(self, group: Group, out: Path) -> Made:
        able = tuple(name for name in group if name not in self.refused)
        surroundings = varied(self.base, Tried(self.variables(able)))
        try:
            ended = record_program(
                self.setup, surroundings, out, python=self.python(able), in_copy=True
            )
        except SurroundingsRefused as error:
            culprit = self._refuses(able, str(error.fields.get("variable")))
            if culprit is None:
                return Made(out, error.happened)
            self.refused[culprit] = error.happened
            return self._record_one(group, out)
        except FilesUnprotected:
            raise  # no other surroundings would help
        except TwiceError as error:
            return Made(out, f"{error.happened} {error.expected}".splitlines()[0])
        if ended["how"] == "interrupted":
            raise KeyboardInterrupt
        if ended["how"] == "exception":
            raised = ended["exception"]
            return Made(out, f"{raised['type'].removeprefix('builtins.')}: {raised['message']}")
        return Made(out)

    def _refuses(self, group: Group, variable: str) -> str | None:
        """The factor that a child's refusal is about."""
        return next((name for name in group if variable in self.tried[name].variables), None)
