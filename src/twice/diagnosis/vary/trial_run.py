"""One recording of an experiment: where it stands, what it was given, and whether another gave the same.

Invariant: runs of another seed are compared by what they print and leave alone, since their streams differ anyway.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.order_experiment import differ_besides_order
from twice.errors import TwiceError
from twice.foundation.dataclass import dataclass
from twice.foundation.environment import Fingerprint
from twice.recorder.runrecord import RunRecord
from twice.replayer.output_difference import compare_outputs, list_measurements
from twice.replayer.record_outcomes import compare_outcomes

_CHANCE = {"entropy", "process", "network"}
"""Reads after which another number in the output may be another result."""


@dataclass(frozen=True)
class TrialRun:
    """One recording.

    Attributes:
        path: of the record.
        failed: what went wrong with it; empty when nothing did.
        has_other_seed: whether twice seeded it from another master seed.
    """

    path: Path
    failed: str = ""
    has_other_seed: bool = False

    @property
    def has_tasks(self) -> bool:
        """Whether it started tasks of asyncio beside others."""
        return any("/task/" in each for each in self._ending.get("lineages", {}))

    @property
    def has_threads(self) -> bool:
        """Whether it started threads of its own."""
        return any("/task/" not in each for each in self._ending.get("lineages", {}))

    @property
    def libraries(self) -> Sequence[str]:
        """The libraries that it had loaded at its end."""
        return tuple(self._ending.get("imported", ()))

    @property
    def reads_chance(self) -> bool:
        """Whether it read a clock, or something after which any number may be another result."""
        return bool(self._kinds & {"clock", *_CHANCE})

    @cached_property
    def _ending(self) -> Mapping[str, Any]:
        try:
            with RunRecord.open(self.path) as record:
                return record.ending or {}
        except TwiceError:  # a run that failed may have left no record
            return {}

    @property
    def _kinds(self) -> set[str]:
        """The kinds of its reads, such as ``clock``."""
        return {name.partition(".")[0] for name in self._ending["effects"]["strict"]}

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """What the child read back of its surroundings, by name; empty when there is no record."""
        try:
            with RunRecord.open(self.path) as record:
                start = Fingerprint.from_json(record.identity["environment"])
                ending, seed = record.ending or {}, record.seed.value
        except TwiceError:
            return {}
        settings = ending.get("settings")
        used = ", ".join(ending.get("globals_used") or ())
        return {
            **start.settings,
            **({"global generators": f"{used} of seed {seed}"} if used else {}),
            "python": start.python.version,
            "blas": " ".join(one.architecture for one in start.blas),
            "blas threads": " ".join(str(one.threads) for one in start.blas),
            **{f"dispatch {name}": value for name, value in start.dispatch.items()},
            **{f"library {name}": value for name, value in start.libraries.items()},
            # Last, because a library that the program loads settles some of these only then.
            **(settings if isinstance(settings, Mapping) else {}),
        }

    def is_same(self, other: TrialRun) -> bool:
        """Whether another run holds the class against this one, by the logs alone."""
        if other.failed:
            return False
        with RunRecord.open(self.path) as a, RunRecord.open(other.path) as b:
            if a.setup.order != b.setup.order:
                return not differ_besides_order(a, b)
            if self.has_other_seed == other.has_other_seed:
                return diagnose(self.path, other.path, lines=False).exit_code == 0
            ignored, folders = a.setup.ignored_output, a.program_folders()
            printed, _ = compare_outputs(a.printed(), b.printed(), ignored, folders)
            return printed is None and not compare_outcomes(a, b)[0]

    def leaves_other_files(self, other: TrialRun) -> bool:
        """Whether two runs that differ do so in the files alone that they leave."""
        if self.failed or other.failed:
            return False
        found = diagnose(self.path, other.path, lines=False)
        are_files = [row.what.startswith("file ") for row in found.outcome]
        return found.compare_point is None and bool(are_files) and all(are_files)

    def list_measurements(self, other: TrialRun, ignored: Sequence[str]) -> tuple[str, ...]:
        """List patterns of the lines in which two runs differ that read a clock and draw from no source of chance."""
        kinds = self._kinds | other._kinds
        if "clock" not in kinds or kinds & _CHANCE:
            return ()
        with RunRecord.open(self.path) as a, RunRecord.open(other.path) as b:
            return list_measurements(a.printed(), b.printed(), ignored, a.program_folders())
