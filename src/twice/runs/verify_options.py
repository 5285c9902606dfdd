"""How records are verified, each like the others: by which class, how often, and whether restored too.

Invariant: they are plain data, so one record here and many elsewhere are verified alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from twice.foundation.dataclass import dataclass
from twice.foundation.determinism_class import Predicate
from twice.recorder.runrecord import RunRecord
from twice.replayer.verification import Verification
from twice.replayer.verify import verify


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """How records are verified, each like the others.

    Attributes:
        classes: ``CLASS`` or ``NAME=CLASS``, to judge by instead of the recorded ones.
        scope: to judge by; None for the recorded one.
        informational: go on although the code differs.
        restores: restore at kept snapshots too, and at ``every`` one where that is set.
        repeat: the number of replays of each.
        time_limit_s: how long each replay may execute, in seconds.
    """

    classes: tuple[str, ...] = ()
    scope: str | None = None
    informational: bool = False
    restores: bool = False
    every: bool = False
    repeat: int = 1
    time_limit_s: float | None = None

    def verify(
        self,
        record: Path,
        cited: Mapping[str, Any] | None,
        mismatches: Sequence[str],
        *,
        restoring: Callable[[int, int], None] | None = None,
        **part: Any,
    ) -> Verification:
        """Verify one record, and restore its snapshots where that was asked for.

        Args:
            record: its path.
            cited: the specification of its program, as JSON.
            mismatches: what that promises and is not so; nothing is executed then.
            restoring: called with (restores done, restores in all).
            **part: further arguments of ``verify``.
        """
        statement = verify(
            record,
            predicate=self._choose_predicate(record),
            informational=self.informational,
            repeat=self.repeat,
            time_limit_s=self.time_limit_s,
            mismatches=mismatches,
            **part,
        )
        statement = replace(statement, specification=cited)
        if not self.restores or mismatches:
            return statement
        from twice.diagnosis.restore_gaps import explained_restores

        found = explained_restores(
            record, every=self.every, informational=self.informational, progress=restoring
        )
        return replace(statement, restores=found)

    def _choose_predicate(self, record: Path) -> Predicate | None:
        if not (self.classes or self.scope):
            return None
        with RunRecord.open(record) as opened:
            return opened.setup.predicate.amend(self.classes, self.scope)

    def to_json(self) -> dict[str, Any]:
        """Return them as plain data, for a job and a journal's head."""
        names = ("classes", "scope", "informational", "restores", "every", "repeat", "time_limit_s")
        told = {name: getattr(self, name) for name in names}
        return {**told, "classes": list(self.classes)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> VerifyOptions:
        """Build them from the JSON of ``to_json``."""
        return cls(**{**data, "classes": tuple(data["classes"])})
