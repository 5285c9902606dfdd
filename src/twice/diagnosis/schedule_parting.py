"""Where two simulated runs go on in other orders of their steps, and the orders that make their difference, as a value.

Invariant: an order is named only if executions showed that it makes the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from twice.diagnosis.text_layout import set_values
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize

if TYPE_CHECKING:  # they load asyncio, which most runs do without
    from twice.schedules.shrink import Ordering, StepPlace
    from twice.simulation.faults import StruckFault


@dataclass(frozen=True)
class ScheduleParting:
    """How the steps of two runs part.

    Attributes:
        step: number of the first step that is another one, from 0; None where no execution showed it.
        steps: that step in run a and in run b; nothing without a number.
        difference: what the runs differ in besides, and what the experiment was about; empty for nothing.
        explained: the run whose difference from the other one the orders make, ``a`` or ``b``.
        orders: orders of two steps that make this difference together, by experiment.
        faults: those without which run ``explained`` does not have this difference, by experiment; no orders then.
        sentences: either in words.
        runs: executions in orders between those of both runs.
        with_difference: how many of them gave the difference.
        is_minimal: whether each order was seen to be needed.
        is_undone: whether run ``explained``, with its orders turned round and nothing else, lost the difference.
        obstacle: why no order is named; empty if there is nothing to explain.
    """

    step: int | None = None
    steps: Sequence[StepPlace] = ()
    difference: str = ""
    explained: str = "b"
    orders: Sequence[Ordering] = ()
    faults: Sequence[StruckFault] = ()
    sentences: Sequence[str] = ()
    runs: int = 0
    with_difference: int = 0
    is_minimal: bool = False
    is_undone: bool = False
    obstacle: str = ""

    def describe(self) -> str:
        """Say it in one sentence."""
        if self.sentences:
            more, noun = len(self.sentences) - 1, "fault" if self.faults else "order"
            return self.sentences[0] + (f", and {pluralize(more, noun)} more" if more else "")
        begin = "" if self.step is None else f" from step {self.step} on"
        besides = "" if self.obstacle else ", and in nothing else that is compared"
        return f"they differ in the order of their steps{begin}{besides}"

    def to_lines(self) -> list[str]:
        """Show the first step that is another one, for people."""
        if self.step is None:
            return []
        a, b = (str(each) for each in self.steps)
        if a == b:  # two tasks of one function
            a, b = (f"{each} of {each.actor}" for each in self.steps)
        return set_values(f"  step {self.step}", a, b)

    def to_json(self) -> dict[str, object]:
        """Return it as ``schedule`` of a diagnosis."""
        return {
            "step": self.step,
            "steps": [each.to_json() for each in self.steps],
            "difference": self.difference,
            "explained": self.explained,
            "orders": [each.to_json() for each in self.orders],
            "faults": [each.to_json() for each in self.faults],
            "sentences": list(self.sentences),
            "runs": self.runs,
            "with_difference": self.with_difference,
            "minimal": self.is_minimal,
            "undone": self.is_undone,
            "obstacle": self.obstacle,
        }
