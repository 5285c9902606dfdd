"""Steps of Gymnasium environments: observation, reward, terminated and truncated are compared.

Every class with a ``step`` of its own is told of, but only the outermost call counts: what wrappers and
vectors do inside of it is theirs. One component, ``gymnasium``, holds the latest step of whichever
environment made it.

Not covered: environments that do not derive from ``gymnasium.Env`` or ``VectorEnv``, ``reset``, ``info``.

Invariant: ``step`` returns the very objects that the environment returned.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from twice.recorder.autopoints.steps import AutoSteps, Undo

LIBRARY = "gymnasium"
_NAMES = ("observation", "reward", "terminated", "truncated")


def watch_envs(steps: AutoSteps, module: ModuleType) -> Undo:
    """Watch the steps of single environments; ``module`` is ``gymnasium.core``."""
    return _watch(steps, module.Env)


def watch_vectors(steps: AutoSteps, module: ModuleType) -> Undo:
    """Watch the steps of vectors; ``module`` is ``gymnasium.vector.vector_env``."""
    return _watch(steps, module.VectorEnv)


def _watch(steps: AutoSteps, base: Any) -> Undo:
    told = _Told(steps)
    changed: list[tuple[Any, Any]] = []

    def take(kind: Any) -> None:
        own = vars(kind).get("step")
        if callable(own) and kind is not base:
            changed.append((kind, own))
            kind.step = told.of(own)

    def subclassed(cls: Any, /, **kwargs: Any) -> None:
        super(base, cls).__init_subclass__(**kwargs)
        take(cls)

    for kind in _below(base):
        take(kind)
    base.__init_subclass__ = classmethod(subclassed)

    def undo() -> None:
        del base.__init_subclass__
        for kind, own in changed:
            kind.step = own

    return undo


def _below(base: Any) -> list[Any]:
    found: list[Any] = []
    for kind in base.__subclasses__():
        found += [kind, *_below(kind)]
    return list(dict.fromkeys(found))


class _Told:
    """Stands around every ``step``; shared by all of them, so that it knows the outermost."""

    inside = False  # of the class: single environments run inside of vectors

    def __init__(self, steps: AutoSteps) -> None:
        self._steps = steps
        self._numbers: WeakKeyDictionary[Any, list[int]] = WeakKeyDictionary()

    def of(self, own: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a ``step`` so that it reports its outcome."""
        steps = self._steps

        @functools.wraps(own)
        def step(env: Any, *args: Any, **kwargs: Any) -> Any:
            if _Told.inside or not steps.counts(LIBRARY):
                return own(env, *args, **kwargs)
            steps.begins()
            _Told.inside = True
            try:
                outcome = own(env, *args, **kwargs)
            finally:
                _Told.inside = False
            self._tell(env, outcome)
            return outcome

        return step

    def _tell(self, env: Any, outcome: Any) -> None:
        steps = self._steps
        numbers = self._numbers.setdefault(env, [len(self._numbers), -1])
        numbers[1] += 1
        if steps.takes_point:
            latest = steps.latest(LIBRARY, last=None)
            latest.state = {"environment": f"{numbers[0]} {_name(env)}", "step": numbers[1]}
            if isinstance(outcome, tuple):
                for name, value in zip(_NAMES, outcome, strict=False):
                    latest.state[name] = steps.plain(LIBRARY, name, value)
        steps.ends()


def _name(env: Any) -> str:
    spec = getattr(env, "spec", None)
    return str(getattr(spec, "id", None) or type(env).__name__)
