"""What a verdict says of runs that part in the order of their steps, or in the faults of their simulation.

Invariant: a line is named only of what an execution showed to make the difference.
"""

from __future__ import annotations

import linecache
from typing import Any, Final

from twice.diagnosis.divergence import Attribution, Confirmation, OperationFound
from twice.diagnosis.schedule_parting import ScheduleParting
from twice.foundation.channels import Channel
from twice.foundation.printable import pluralize

CAUSE: Final = "order of steps"
_FAULTS: Final = "faults of the simulation"
_SURE, _ONE_OF_SEVERAL, _SEEN_ONLY = 0.95, 0.8, 0.5


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
