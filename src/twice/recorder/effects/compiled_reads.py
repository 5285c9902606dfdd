"""Reads of the world in the compiled twin: the clock and entropy, recorded and served.

Python judges who asks, and answers the first read of each module. What follows by the same module costs a tenth of what it
costs in Python.

Invariant: what a read returns, notes and refuses does not depend on whether it is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twice.foundation.compiled import load_twin
from twice.recorder.effects.actors import CURRENT, Actor
from twice.recorder.effects.events import RUN_READS_MAX, Waiting
from twice.recorder.effects.sources import RecordedActor


def compile_read(
    number: int,
    real: Callable[..., object],
    judge: Callable[..., object],
    *,
    like: Any,
    holder: str,
    is_sized: bool = False,
    is_served: bool = False,
) -> tuple[Any, Callable[[object], object]] | None:
    """Build a read of the world in the compiled twin; None where that is not in force.

    It is a function of the same type and names as the one whose place it takes, recorded or replayed: programs copy,
    pickle and compare such functions.

    Args:
        number: of the operation.
        real: asks the world.
        judge: called with its caller's globals, or with the size that it was given; it answers.
        like: the function whose place it takes.
        holder: name of the module that has it.
        is_sized: whether it takes a size.
        is_served: whether its values are those that the record has next, in place of the world's.

    Returns:
        The read, and a function that is told the globals of code whose next reads by an actor are to be noted and answered
        without ``judge``, or None.
    """
    twin, _ = load_twin()
    if twin is None:
        return None
    waiting, recorded = vars(Waiting), vars(RecordedActor)
    source = vars(Actor)["source"] if is_served else None
    signature, text = getattr(like, "__text_signature__", None), like.__doc__ or ""
    text = f"{like.__name__}{signature}\n--\n\n{text}" if signature else text
    names = (like.__name__, holder, text)
    made: tuple[Any, Callable[[object], object]] = twin.make_read(
        *names, real, number, CURRENT, Actor, waiting["number"], waiting["values"], RUN_READS_MAX, judge, is_sized,
        RecordedActor, source, recorded["next_number"], recorded["next_values"],
    )  # fmt: skip
    return made


def follow_none(module: object) -> None:
    """Take the place of the second function of ``compile_read`` where that is not in force."""
