"""What a program promises about every order of its steps, said in the program itself.

``always`` must hold now, or after each following step. ``eventually`` must hold at some later step. ``sometimes`` names
something that some order must reach, so that a search which never gets there says so. The words are those of
Antithesis' SDKs. ``fault`` asks whether something fails here, which a search decides. Outside of a simulated loop,
``always`` holds now, nothing fails, and the others do nothing.

Invariant: a property runs no code of the program but the condition that it was given.
"""

from __future__ import annotations

from asyncio import events
from collections.abc import Callable

from twice.errors import PropertyViolated
from twice.simulation.loop import SimulatedLoop

Condition = bool | Callable[[], object]


def always(condition: Condition, name: str) -> None:
    """Demand that a condition holds; a function is called now and after each step of the loop.

    Args:
        condition: a truth value, or a function that returns one.
        name: what the condition says, as the error repeats it.

    Raises:
        PropertyViolated: E-SCHEDULE-005, now, or out of the loop after the step that broke it.
    """
    if not (condition() if callable(condition) else condition):
        raise _make_error("always", name, "It did not hold")
    loop = events._get_running_loop()
    if callable(condition) and isinstance(loop, SimulatedLoop):
        loop.checks.append(_Always(condition, name))


def eventually(condition: Callable[[], object], name: str) -> None:
    """Demand that a condition holds at some step from now on, before the program ends.

    Args:
        condition: a function that returns a truth value.
        name: what the condition says, as the error repeats it.

    Raises:
        PropertyViolated: E-SCHEDULE-005, out of the loop when the program has ended.
    """
    loop = events._get_running_loop()
    if isinstance(loop, SimulatedLoop) and not condition():
        loop.checks.append(_Eventually(condition, name))


def sometimes(condition: object, name: str) -> None:
    """Note whether a condition holds here; a search in which it never does warns of that.

    Args:
        condition: a truth value.
        name: what is reached, as the warning repeats it.
    """
    loop = events._get_running_loop()
    if isinstance(loop, SimulatedLoop):
        loop.reached[name] = loop.reached.get(name, False) or bool(condition)


def fault(name: str) -> bool:
    """Return whether a fault is to happen here; the program makes it happen, for example by raising ``OSError``.

    In a search each name is in force in half of the schedules, and strikes there each fourth time. In a recorded order it
    strikes where it struck. Elsewhere it never does.

    Args:
        name: of the fault, as reports show it: ``disk-full``.
    """
    loop = events._get_running_loop()
    return isinstance(loop, SimulatedLoop) and loop.strike(name)


class _Always:
    def __init__(self, condition: Callable[[], object], name: str) -> None:
        self._condition, self._name = condition, name

    def is_done(self) -> bool:
        if not self._condition():
            raise _make_error("always", self._name, "After this step it did not hold")
        return False

    def end(self) -> None:
        """Do nothing: it held until the end."""


class _Eventually:
    def __init__(self, condition: Callable[[], object], name: str) -> None:
        self._condition, self._name = condition, name

    def is_done(self) -> bool:
        return bool(self._condition())

    def end(self) -> None:
        if not self.is_done():
            raise _make_error("eventually", self._name, "The program ended, and it never held")


def _make_error(kind: str, name: str, happened: str) -> PropertyViolated:
    return PropertyViolated(
        f"{kind} {name!r}: {happened[0].lower()}{happened[1:]}.",
        "Expected it in every order of the program's steps.",
        "Look at the steps before this one: twice explore names the orders that matter.",
        name=name,
    )
