"""Steps of Gymnasium environments as ticks: observation, reward, terminated and truncated are compared.

Every class with a ``step`` of its own is told of, but only the outermost call counts: what wrappers and
vectors do inside of it is theirs. One component, ``gymnasium``, holds the latest step of whichever
environment made it. Loaded by ``recorder/auto_steps`` while gymnasium is still being imported, so apart from the
folder ``gymnasium/``, which imports it.

Not covered: environments that do not derive from ``gymnasium.Env`` or ``VectorEnv``, ``reset``, ``info``.

Invariant: ``step`` returns the very objects that the environment returned.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from twice.recorder.auto_steps import AutoSteps, Undo

LIBRARY = "gymnasium"
_NAMES = ("observation", "reward", "terminated", "truncated")


def watch(steps: AutoSteps, module: ModuleType) -> Undo:
    """Watch every class below the base class that a module defines, now and later."""
    base: Any = module.Env if module.__name__ == "gymnasium.core" else module.VectorEnv
    wrapper = StepWrapper(steps)
    changed: dict[Any, Any] = {}

    def replace(kind: Any) -> None:
        own = vars(kind).get("step")
        if callable(own):
            changed[kind] = own
            kind.step = wrapper.wrap(own)

    def init_subclass(cls: Any, /, **kwargs: Any) -> None:
        super(base, cls).__init_subclass__(**kwargs)
        replace(cls)

    for kind in dict.fromkeys(_list_below(base)):
        replace(kind)
    base.__init_subclass__ = classmethod(init_subclass)

    def undo() -> None:
        del base.__init_subclass__
        for kind, own in changed.items():
            kind.step = own

    return undo


def _list_below(base: Any) -> Iterator[Any]:
    for kind in base.__subclasses__():
        yield kind
        yield from _list_below(kind)


class StepWrapper:
    """Stands around every ``step``; shared by all of them, so that it knows the outermost."""

    inside = False  # of the class: single environments run inside of vectors

    def __init__(self, steps: AutoSteps) -> None:
        self._steps = steps
        self._numbers: WeakKeyDictionary[Any, list[int]] = WeakKeyDictionary()

    def wrap(self, own: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a ``step`` so that it reports its outcome."""
        steps = self._steps

        @functools.wraps(own)
        def step(env: Any, *args: Any, **kwargs: Any) -> Any:
            if StepWrapper.inside or not steps.counts(LIBRARY):
                return own(env, *args, **kwargs)
            steps.begin()
            StepWrapper.inside = True
            try:
                outcome = own(env, *args, **kwargs)
            finally:
                StepWrapper.inside = False
            self._report(env, outcome)
            return outcome

        return step

    def _report(self, env: Any, outcome: Any) -> None:
        steps = self._steps
        numbers = self._numbers.setdefault(env, [len(self._numbers), -1])
        numbers[1] += 1
        if steps.takes_point:
            latest = steps.latest(LIBRARY, last=None)
            name = getattr(getattr(env, "spec", None), "id", None) or type(env).__name__
            latest.state = {"environment": f"{numbers[0]} {name}", "step": numbers[1]}
            if isinstance(outcome, tuple):
                for part, value in zip(_NAMES, outcome, strict=False):
                    latest.state[part] = steps.to_plain(LIBRARY, part, value)
        steps.end()
