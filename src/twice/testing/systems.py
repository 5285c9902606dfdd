"""The program that drives a system: an object with ``step``, ``state`` and ``restore``.

    twice record twice.testing.systems:run --seed 7 --set system=swarm.py:Swarm --set ticks=8

The callable that makes the object gets from the configuration what its parameters name, ``rng`` a
stream of its own, and ``run`` the run. What ``step`` asks for by name is an input: the configuration
may list its values under ``inputs``, tick by tick.

Invariant: the system is tracked as ``system`` and stepped once a tick; nothing else happens.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from twice.errors import ConfigError, ProgramNotFound
from twice.recording.naming import parse_program
from twice.recording.program import Program, find
from twice.recording.run import Run

TICKS_DEFAULT = 8


def run(run: Run) -> None:
    """Make the system that the configuration names, and step it."""
    name = str(run.config["system"])
    target, _, member = name.rpartition(":")
    if not target:
        parse_program(name)  # which refuses it
    make = find(Program("function" if target.endswith(".py") else "module", target, member))
    made = make(**_find_arguments(run, make, name))
    step = getattr(made, "step", None)
    if not callable(step):
        raise ProgramNotFound(
            f"{name} made a {type(made).__name__} without a step().",
            "Expected an object with step(), state() and restore(state).",
            "Add step(), or write a program: def main(run): ...",
            target=name,
        )
    system = run.track("system", made)
    names = [each for each in inspect.signature(step).parameters if each != "self"]
    given: Mapping[str, Sequence[Any]] = run.config.get("inputs", {})
    for tick in run.ticks(int(run.config.get("ticks", TICKS_DEFAULT))):
        system.step(**{each: _take_input(run, each, given.get(each, ()), tick) for each in names})


def _take_input(run: Run, name: str, values: Sequence[Any], tick: int) -> Any:
    if not values:
        raise ConfigError(
            f"step() asks for {name!r}, and no values are configured for it.",
            "Expected a list of values, one a tick; the last is taken again when it is short.",
            f"For example: inputs=strategies.inputs({name}=st.floats(-1, 1))",
            input=name,
        )
    return run.input(name, lambda: values[min(tick, len(values) - 1)])


def _find_arguments(run: Run, make: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        parameters = inspect.signature(make).parameters
    except ValueError:
        return {}
    found: dict[str, Any] = {}
    for each, parameter in parameters.items():
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            continue
        if each == "rng":
            found[each] = run.rng("system")
        elif each == "run":
            found[each] = run
        elif each in run.config:
            found[each] = run.config[each]
        elif parameter.default is parameter.empty:
            raise ConfigError(
                f"{name} needs {each!r}, and the configuration has none.",
                f"Its parameters: {', '.join(parameters)}.",
                f"Generate it: config=strategies.config({each}=...)",
                key=each,
            )
    return found
