"""What a factor is: how its value is chosen, what varies it, what the child reads back of it.

Not here: which factors there are (``factors``), and running anything.

Invariant: choosing a value changes nothing in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from twice.recording.setup import Setup
from twice.recording.surroundings import Surroundings, Variable


@dataclass(frozen=True, slots=True)
class Here:
    """What the choice of a value depends on.

    Attributes:
        base: the surroundings of the run that is not varied.
        folder: an absolute path for empty folders of the experiment.
        setup: the rules of the run, where they are decided.
        python: an interpreter that the caller named; empty for none.
    """

    base: Surroundings
    folder: Path
    setup: Setup | None = None
    python: str = ""

    def value(self, name: str) -> str:
        """A variable of the run that is not varied; empty when it was not decided."""
        variable = self.base.variables.get(name)
        return "" if variable is None else variable.value or ""


@dataclass(frozen=True, slots=True)
class Tried:
    """The value of a factor that is tried here, or why none is.

    Attributes:
        variables: what the varied run is given.
        shown: the value for people; made from ``variables`` when empty.
        skipped: why it cannot be varied here; empty when it can.
        python: the interpreter that executes the run; empty for this one.
    """

    variables: Mapping[str, str]
    shown: str = ""
    skipped: str = ""
    python: str = ""

    @property
    def value(self) -> str:
        """The value as people read it."""
        return self.shown or " ".join(f"{name}={value}" for name, value in self.variables.items())


@dataclass(frozen=True, slots=True)
class Factor:
    """One thing around a program that may be varied.

    Attributes:
        name: as it is asked for.
        what: one line for people.
        choose: the value to try.
        seen: names of what is read back of it; it took effect when one of them differs.
        alone: it is tried in a run of its own, because it could hide another.
    """

    name: str
    what: str
    choose: Callable[[Here], Tried]
    seen: tuple[str, ...]
    alone: bool = False


def varied(base: Surroundings, tried: Tried) -> Surroundings:
    """Surroundings with one factor varied."""
    changed = {name: Variable(value, "explicit") for name, value in tried.variables.items()}
    return replace(base, variables={**base.variables, **changed})


def skipped(why: str) -> Tried:
    """No value: the factor cannot be varied here."""
    return Tried({}, skipped=why)
