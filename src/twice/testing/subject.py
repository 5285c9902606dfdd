"""What is tested: a program, or a system that twice wraps into one.

A program is a function of a run. A system is an object with ``step``, ``state`` and ``restore``; what
is named is the callable that makes it, and ``systems.run`` is the program that drives it.

Invariant: naming a subject runs nothing of the user's.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from twice.errors import ProgramNotFound
from twice.foundation.determinism_class import Predicate
from twice.foundation.seeds import Seed
from twice.recording.cadence import parse_cadence
from twice.recording.naming import parse_program
from twice.recording.program import Program, program_of, require_runnable
from twice.recording.setup import Setup

DRIVER = "twice.testing.systems"


@dataclass(frozen=True, slots=True)
class Subject:
    """A system under test, as a fresh process can start it."""

    program: Program
    label: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    predicate: Predicate = field(default_factory=Predicate)
    policies: Mapping[str, Any] = field(default_factory=dict)

    def setup(self, config: Mapping[str, Any], seed: int) -> Setup:
        """Return the setup of one example; a snapshot before every tick, so that all can be put back."""
        return Setup(
            self.program,
            Seed(seed),
            {**self.fixed, **config},
            predicate=self.predicate,
            cadence=parse_cadence("tick"),
            **self.policies,
        )


def subject_of(
    thing: str | Callable[..., object] | Subject,
    *,
    predicate: Predicate | None = None,
    policies: Mapping[str, Any] | None = None,
) -> Subject:
    """Understand what a test names.

    Args:
        thing: ``"file.py:function"``, ``"module:function"``, a function of a run, or the same two
            forms for a callable that makes a system (a class, or a function that takes no single
            run).
        predicate: the class that judges; bit-exact on one host when None.
        policies: other fields of ``Setup``.

    Raises:
        ProgramNotFound: E-PROGRAM-001, when no fresh process could find it.
    """
    if isinstance(thing, Subject):
        return thing
    if isinstance(thing, str):
        name = thing
        is_system = _makes_a_system(thing)
        program = None if is_system else parse_program(thing)
    else:
        program = program_of(thing)
        if not program.rerunnable or "<" in program.function:
            raise ProgramNotFound(
                f"{program.target} is a closure or a lambda: no fresh process can find it.",
                "Expected a function or a class at the top of a file.",
                'Move it there, or name it: "tests/systems.py:Swarm".',
                target=program.target,
            )
        name = str(program)
        is_system = inspect.isclass(thing) or not _takes_a_run(inspect.signature(thing).parameters)
        if not is_system:
            require_runnable(thing, name)
    fixed = {}
    if is_system or program is None:
        program = Program("module", DRIVER, "run", str(Path.cwd().resolve()))
        fixed = {"system": name}
    return Subject(program, name, fixed, predicate or Predicate(), dict(policies or {}))


def _takes_a_run(parameters: Collection[str]) -> bool:
    return len(parameters) == 1 and "rng" not in parameters


def _makes_a_system(name: str) -> bool:
    """Whether a written name is a class or a function of something else than a run, by its source."""
    target, _, member = name.rpartition(":")
    path: Path | None = None
    if target.endswith(".py"):
        path = Path(os.path.abspath(target))  # noqa: PTH100
    elif target and (local := Path(*target.split(".")).with_suffix(".py")).is_file():
        path = local
    elif target:
        with suppress(ImportError, ValueError):
            spec = importlib.util.find_spec(target)
            path = None if spec is None or spec.origin is None else Path(spec.origin)
    try:
        body = [] if path is None else ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return False  # parse_program says what is wrong with it
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name == member:
            return True
        if isinstance(node, ast.FunctionDef) and node.name == member:
            given = node.args
            every = (*given.posonlyargs, *given.args, *given.kwonlyargs)
            return not _takes_a_run([each.arg for each in every])
    return False
