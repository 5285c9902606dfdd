"""Where two simulated runs go on in other orders of their steps, and the orders that make their difference, as a value.

Invariant: an order is named only if executions showed that it makes the difference.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from twice.diagnosis.divergence import Attribution, Confirmation, OperationFound
from twice.diagnosis.text_layout import set_values
from twice.foundation.channels import Channel
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize

if TYPE_CHECKING:  # they load asyncio, which most runs do without
    from twice.schedules.shrink import Ordering, StepPlace
    from twice.simulation.faults import StruckFault

CAUSE: Final = "order of steps"
_FAULTS: Final = "faults of the simulation"
_SURE, _ONE_OF_SEVERAL, _SEEN_ONLY = 0.95, 0.8, 0.5


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


def report_parting(found: ScheduleParting) -> dict[str, Any]:
    """Return the members of a verdict that it gives."""
    if found.faults:
        words = f"1 run without its faults, and the {found.difference} of run {found.explained} was gone"
        return {
            "result": "localised" if (operation := _name_faulty_line(found)) else "unlocalised",
            "operation": operation,
            "attribution": [
                Attribution(Channel.CONCURRENCY, 0.99, tuple(found.sentences), confirmed=True)
            ],
            "experiments": [Confirmation(_FAULTS, Channel.CONCURRENCY, "confirmed", words)],
        }
    if not found.orders:
        told = Attribution(Channel.CONCURRENCY, _SEEN_ONLY, (found.describe(),))
        return {"result": "unlocalised", "attribution": [told]}
    with_difference = (
        f"{found.with_difference} of them gave the {found.difference} of run {found.explained}"
    )
    sentence = f"{pluralize(found.runs, 'run')} in orders between those of both: {with_difference}"
    if found.is_undone:
        sentence += f", but not run {found.explained} with this alone turned round"
    is_sure = found.is_undone and found.is_minimal and len(found.orders) == 1
    operation = _name_operation(found, _SURE if is_sure else _ONE_OF_SEVERAL)
    return {
        "result": "unlocalised" if operation is None else "localised",
        "operation": operation,
        "attribution": [
            Attribution(Channel.CONCURRENCY, 0.99, tuple(found.sentences), confirmed=True)
        ],
        "experiments": [Confirmation(CAUSE, Channel.CONCURRENCY, "confirmed", sentence)],
    }


def _name_faulty_line(found: ScheduleParting) -> OperationFound | None:
    """Return the line at which the first fault struck, or of the step that it followed; None without one."""
    fault = next((each for each in found.faults if each.place is not None), None)
    if fault is None or fault.place is None:
        return None
    file, line, function = fault.place
    values = ["no fault", fault.what]
    a, b = values if found.explained == "b" else values[::-1]
    code = linecache.getline(file, line).strip()
    confidence = _SURE if found.is_minimal else _ONE_OF_SEVERAL
    return OperationFound(file, line, function, code, function, a, b, confidence)


def _name_operation(found: ScheduleParting, confidence: float) -> OperationFound | None:
    """Return the line of the first step that ran too early; None without one."""
    order = next((each for each in found.orders if each.first.place is not None), None)
    if order is None or order.first.place is None:
        return None
    file, line, function = order.first.place
    values = [f"after {order.then}", f"before {order.then}"]
    a, b = values if found.explained == "b" else values[::-1]
    code, name = linecache.getline(file, line).strip(), f"{order.first.name}()"
    return OperationFound(file, line, function, code, name, a, b, confidence)
