"""The replay of what was recorded, beside the recording: how long each takes in the same round.

Both times begin when the program is loaded. The recording's ends with its record closed, the replay's with the last
comparison.

Invariant: a figure comes from replays that agreed with their records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from twice.errors import TwiceError
from twice.recorder.runrecord import RunRecord
from twice.replayer.outcome import Replay
from twice.replayer.preconditions import trusting
from twice.replayer.replay_run import Plan, execute_once
from twice.specification.cost.result import MeasuredReplay, MeasuredRun


@dataclass(slots=True)
class ReplayMeasurement:
    """Replays of recorded runs, one in each round; or ``why`` there is no figure, once one did not agree."""

    replays: list[MeasuredReplay] = field(default_factory=list)
    why: str = ""

    def add(self, path: Path, run: MeasuredRun) -> None:
        """Replay a record that was just made, and note how long that took beside the recording."""
        if self.why:
            return
        try:
            replay = _execute(path)
        except TwiceError as error:
            self.why = f"its replay is refused: {error.happened}"
            return
        if (failure := replay.failure) is not None:
            place = f"{failure.name} of tick {failure.tick}: {', '.join(failure.columns)}"
            self.why = f"its replay differs at {place}"
        elif replay.death or replay.took_s is None:
            self.why = f"its replay gave no answer: {replay.death}"
        else:
            self.replays.append(MeasuredReplay(run.wall_s, replay.took_s, run.ticks))

    @property
    def agreed_replays(self) -> Sequence[MeasuredReplay]:
        """The replays, where all of them agreed."""
        return () if self.why else self.replays


def _execute(path: Path) -> Replay:
    with RunRecord.open(path) as record:
        allow = record.recorded_allow
    # It was made here, from a program that is executed anyway.
    with trusting(path, allow=allow), RunRecord.open(path) as record:
        return execute_once(record, Plan(predicate=record.setup.predicate))
