"""A difference planted into the system's own run, and searched for as any other would be.

A driver, written into a folder of its own, runs the program with one value of one component moved
before one tick. By how much is an input, 0 when it is recorded; a branch replaces it, so that the branch
reads from the world what the recorded run read, and differs in nothing else. Diagnosing is then told
nothing of what was planted.

Invariant: the project's own files are neither changed nor copied.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.divergence import Divergence
from twice.errors import TwiceError
from twice.recording.program import Program
from twice.recording.runrecord import RunRecord
from twice.replayer.branch_session import branch
from twice.specifying.gate.evidence import Planted
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.fields import steps
from twice.specifying.gate.gathering.bench import Bench, because

_INPUT: Final = "twice/planted"
_DRIVER: Final = '''\
"""The program, with one value of one component moved before one tick."""

from twice.recording.program import Program, load


def main(run):
    program = load(Program.from_json({program!r}))
    program(Watched(run))


class Watched:
    def __init__(self, run):
        self._run = run
        self._parts = {{}}

    def __getattr__(self, name):
        return getattr(self._run, name)

    def track(self, name, target, **how):
        self._parts[name] = target
        return self._run.track(name, target, **how)

    def ticks(self, *given, **how):
        for tick in self._run.ticks(*given, **how):
            if tick == {tick!r}:
                plant(self._parts[{component!r}], self._run.input({asked!r}, lambda: 0))
            yield tick


def plant(part, by):
    if hasattr(part, "restore"):
        state = part.state()
        state{path} = state{path} + by
        part.restore(state)
    elif isinstance(part, (dict, list)):
        part{path} = part{path} + by
    else:
        part{held} = part{held} + by
'''


def gather_planted(bench: Bench) -> Planted | Unavailable:
    """Plant a difference, and say what diagnosing found of it."""
    try:
        trial, program = bench.trial(), bench.program()
        where = bench.plan.planted or chosen(trial)
        if where is None:
            return Unavailable("no component of the trial holds a number that could be moved")
        if not steps(where[1]):
            return Unavailable(
                f"sheet 05 plants a difference in {where[1]!r}, which names no field"
            )
        if program.whole:
            return Unavailable("a whole program has no component that a difference could go into")
        bench.doing(f"planting a difference in {where[0]}")
        found, driver = _diagnosed(bench, program, where)
    except TwiceError as error:
        return Unavailable(because(error).replace(f"{bench.scratch}/", ""))
    component, field, tick = where
    point = found.compare_point
    operation = found.operation is not None and Path(found.operation.file).name == driver
    return Planted(
        component=component,
        field=field,
        tick=tick,
        result=found.result,
        found_tick=-1 if point is None else point.tick,
        found_components=tuple(each for each in found.components if each != "inputs"),
        found_fields=tuple(each.path for each in found.fields),
        operation=operation,
    )


def _diagnosed(
    bench: Bench, program: Program, where: tuple[str, str, int]
) -> tuple[Divergence, str]:
    component, field, tick = where
    keys = steps(field)
    driver = bench.scratch / "planted_driver.py"
    text = _DRIVER.format(
        program=program.to_json(),
        tick=tick,
        component=component,
        asked=_INPUT,
        path=_indexed(keys),
        held=f".{keys[0]}{_indexed(keys[1:])}",
    )
    driver.write_text(text, encoding="utf-8")
    target = os.path.relpath(driver, bench.project)
    straight = bench.recorded(
        Program("function", target, "main", str(bench.project)), "straight.twice"
    )
    moved = bench.scratch / "moved.twice"
    branch(straight, at=tick, inputs={_INPUT: 1}, out=moved).close()
    return diagnose(straight, moved), driver.name


def _indexed(keys: Sequence[str | int]) -> str:
    return "".join(f"[{key!r}]" for key in keys)


def chosen(trial: Path) -> tuple[str, str, int] | None:
    """Give the first number that can be moved in the first snapshot, and a tick in the middle."""
    with RunRecord.open(trial) as record:
        forms: Mapping[str, str] = (record.ending or {}).get("components", {})
        if not record.reader.snapshots or not record.ticks:
            return None
        state = record.state_at(0)
        for component in sorted(forms):
            field = _number_in(state.get(component))
            if field is not None and forms[component] != "state only":
                return component, field, record.ticks // 2
    return None


def _number_in(value: Any, path: str = "") -> str | None:
    """Give the path of the first number below keys that are names, and indices."""
    if isinstance(value, Mapping):
        for key in sorted(each for each in value if isinstance(each, str) and each.isidentifier()):
            found = _number_in(value[key], f"{path}.{key}" if path else key)
            if found is not None:
                return found
        return None
    if not path:
        return None
    if isinstance(value, list) and value:
        return _number_in(value[0], f"{path}[0]")
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.size:
        return f"{path}[0]" if np.issubdtype(value.dtype, np.number) else None
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return path if is_number else None
