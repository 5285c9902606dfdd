"""One thing around a program that may be varied: its name, the value that is tried, and how a child shows that it took.

A factor is a few variables of a child's surroundings. ``factors.py`` has the table, ``numeric_factors.py`` its rows of
numerics. Not here: running anything that is varied.

Invariant: choosing a value changes nothing in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path

from twice.foundation.dataclass import dataclass
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.setup import Setup


@dataclass(frozen=True, slots=True)
class VaryContext:
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
        """Return a variable of the run that is not varied; empty when it was not decided."""
        variable = self.base.variables.get(name)
        return "" if variable is None else variable.value or ""

    def empty_folder(self, name: str) -> str:
        """Make a folder of the experiment and return its absolute path."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return str(folder)


@dataclass(frozen=True, slots=True)
class FactorSetting:
    """The value of a factor that is tried here, or why none is.

    Attributes:
        variables: what the varied run is given.
        shown: the value for people; made from ``variables`` when empty.
        skipped: why it cannot be varied here; empty when it can.
        python: the interpreter that executes the run; empty for this one.
        other_seed: whether twice seeds the run from another master seed.
    """

    variables: Mapping[str, str]
    shown: str = ""
    skipped: str = ""
    python: str = ""
    other_seed: bool = False

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
        choose: returns the value to try.
        seen: names of settings that the child reads back, ``*`` at the end for all that begin so. A
            variable that nobody obeyed moves none of them, and a run under it proves nothing.
        alone: it is tried in a run of its own, because it could hide another.
        remedy: how a program stops depending on it, where one thing mostly helps.
        remedies: the same for programs that have loaded a library, by its name.
    """

    name: str
    what: str
    choose: Callable[[VaryContext], FactorSetting]
    seen: tuple[str, ...]
    alone: bool = False
    remedy: str = ""
    remedies: Mapping[str, str] = field(default_factory=dict)

    def took_effect(self, unvaried: Mapping[str, str], varied: Mapping[str, str]) -> bool:
        """Return whether a setting of the factor differs between two runs."""
        return any(
            unvaried.get(name) != varied.get(name)
            for name in (*unvaried, *varied)
            if any(fnmatchcase(name, pattern) for pattern in self.seen)
        )

    def list_remedies(self, loaded: Sequence[str]) -> list[str]:
        """List what helps a program that has loaded these libraries, the most particular first."""
        own = [text for library, text in self.remedies.items() if library in loaded]
        return [*own, self.remedy] if self.remedy else own

    def explain_no_effect(self, unvaried: Mapping[str, str]) -> str:
        """Return what to say of the factor when its settings all stayed as they were."""
        known = [f"{name} is still {unvaried[name]}" for name in self.seen if unvaried.get(name)]
        if known:
            return f"it was set and had no effect: {', '.join(known)}"
        return f"nothing that it acts on was used (no {', no '.join(self.seen)} to read back)"


def skip(why: str) -> FactorSetting:
    """Return a setting that says why nothing is tried."""
    return FactorSetting({}, skipped=why)


def choose_between(
    variable: str, first: str, second: str = "", *, shown: str = ""
) -> Callable[[VaryContext], FactorSetting]:
    """Return a choice of the first value, or the second if the run has the first; empty unsets."""

    def choose(context: VaryContext) -> FactorSetting:
        if context.value(variable) != first:
            return FactorSetting({variable: first}, shown)
        return FactorSetting({variable: second}, "" if second else "as the system has it")

    return choose
