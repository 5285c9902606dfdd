"""``wrap``: an environment that tells a run what it is given, what it gives, and what it holds.

Wrap last: what is put around the wrapped environment afterwards is not captured.

Invariant: ``step`` and ``reset`` return the very objects that the environment returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import gymnasium
import numpy as np

from twice.errors import ComponentRefused, StreamReseeded, UsageError
from twice.foundation.printable import pluralize
from twice.integrations.gymnasium.generators import EnvGenerators
from twice.integrations.gymnasium.state import (
    ComparedEnv,
    EnvAttributes,
    EnvProgress,
    RestorableEnv,
    StatePart,
    list_layers,
    parts_of,
)
from twice.recorder.run import Run

EnvT = TypeVar("EnvT", bound="gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any]")


class EnvRecorder:
    """What a wrapped environment tells its run, and is told by it."""

    def __init__(
        self, run: Run, name: str, env: Any, *, only: Sequence[str] | None, opaque: Sequence[str]
    ) -> None:
        self.run = run
        self.name = name
        self.progress = EnvProgress()
        self.generators = EnvGenerators(run, lambda: self.progress.steps == 0)
        self._space = env.action_space
        self._action, self._outcome = f"{name}/action", f"{name}/outcome"
        self._kind = ComparedEnv if opaque else RestorableEnv
        slots = {f"{name}/{at}": each for at, each in enumerate(getattr(env.unwrapped, "envs", ()))}
        for slot, each in slots.items():
            self._track(slot, parts_of(each, name, only=only, opaque=opaque), each)
        parts = parts_of(env, name, only=None if slots else only, opaque=opaque)
        self._track(name, {**parts, "progress": self.progress}, env)
        for slot, each in slots.items():
            self._govern(slot, each)
        self._govern(name, env, draws=not slots)

    def _track(self, name: str, parts: dict[str, StatePart], env: Any) -> None:
        component = self._kind(parts, self.generators, env)
        component.state()  # What cannot be captured is refused here, where the user wraps.
        self.run.track(name, component)

    def _govern(self, name: str, env: Any, *, draws: bool = True) -> None:
        """Govern every generator of one environment and its wrappers by a stream."""
        if draws:
            self.generators.govern(f"{name}/reset", env.unwrapped)
        for kind in ("action_space", "observation_space"):
            for depth, layer in enumerate(list_layers(env)):
                suffix = f"/{depth}" if depth else ""
                space = getattr(layer, kind, None)
                self.generators.govern_space(f"{name}/{kind}{suffix}", space)
        for depth, layer in enumerate(list_layers(env)):
            for attribute, generator in EnvAttributes(layer, name).generators():
                # One that the environment made for itself; its seed is its own.
                self.run.streams.adopt(f"{name}/{depth}/{attribute}", generator)

    def take_action(self, action: Any) -> Any:
        """Return the action as an input: the program's decision, or a branch's substitute."""
        if not self.progress.resets:
            raise UsageError(
                f"step() was called on {self.name!r} before reset().",
                "Expected a reset after tg.wrap: what was drawn before it is not governed.",
                "Call env.reset() once, right after wrapping.",
                name=self.name,
            )
        given = self.run.input(self._action, lambda: action)
        return given if given is action else fit_action(given, action, self._space, self._action)

    def reset(self, env: Any, seed: Any, options: Any) -> tuple[Any, dict[str, Any]]:
        """Reset the environment: a first seed is taken over, one in the middle of the run refused."""
        progress = self.progress
        if seed is not None and progress.steps:
            raise StreamReseeded(
                f"{self.name!r} was reset with seed={seed!r} in the middle of the run.",
                "A run has one master seed; each episode goes on where the stream "
                f"{self.name + '/reset'!r} stands.",
                "Call env.reset() without a seed; for other episodes record with another --seed.",
                name=self.name,
            )
        observation, info = env.reset(seed=seed, options=options)
        self.generators.check()
        progress.resets += 1
        progress.observation = observation
        progress.returned, progress.length = 0.0, 0
        self.run.compare(f"{self.name}/reset", observation)
        return observation, info

    def compare(self, outcome: Any) -> None:
        """Compare observation, reward and endings as one decision."""
        self.progress.steps += 1
        self.progress.observation = outcome[0]
        self.run.compare(self._outcome, outcome[:4])


class _RecordedLayer:
    """What an environment and a vector of them have in common under a run."""

    def __init__(self, recorder: EnvRecorder, env: Any) -> None:
        super().__init__(env)  # type: ignore[call-arg]  # of gymnasium's wrapper, which comes next
        self._recorder = recorder

    @property
    def observation(self) -> Any:
        """The latest observation, of all slots: part of the state, so it is there after a restore as well."""
        return self._recorder.progress.observation

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Reset; without a seed the governed stream goes on."""
        return self._recorder.reset(self.env, seed, options)  # type: ignore[attr-defined]


class RecordedEnv(_RecordedLayer, gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment under a run; see ``wrap``."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step once; the action is the input ``NAME/action``.

        Raises:
            UsageError: E-USE-001, before the first reset, or for a substitute that is no action.
        """
        recorder = self._recorder
        outcome = self.env.step(recorder.take_action(action))
        recorder.compare(outcome)
        progress = recorder.progress
        progress.returned += float(outcome[1])
        progress.length += 1
        if outcome[2] or outcome[3]:
            recorder.run.summary(f"{recorder.name}/return", progress.returned)
            recorder.run.summary(f"{recorder.name}/length", progress.length)
            recorder.run.episode(recorder.name)
        return outcome


class RecordedVectorEnv(_RecordedLayer, gymnasium.vector.VectorWrapper):
    """A vectorised environment under a run; see ``wrap``."""

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step every slot once, with the errors of ``RecordedEnv.step``."""
        recorder = self._recorder
        outcome = self.env.step(recorder.take_action(actions))
        recorder.compare(outcome)
        progress = recorder.progress
        returned = progress.returned + np.asarray(outcome[1], dtype=np.float64)
        over = np.logical_or(outcome[2], outcome[3])
        if over.any():
            for slot in np.flatnonzero(over):
                recorder.run.summary(f"{recorder.name}/{slot}/return", float(returned[slot]))
                returned[slot] = 0.0
            recorder.run.episode(recorder.name)
        progress.returned = returned
        return outcome


def wrap(
    run: Run,
    env: EnvT,
    *,
    name: str,
    state: Sequence[str] | None = None,
    opaque: Sequence[str] = (),
) -> EnvT:
    """Put an environment under a run.

    Actions are the input ``NAME/action``; observation, reward, terminated and truncated are the
    decision ``NAME/outcome`` (after a reset, ``NAME/reset``). The state is the component ``NAME``,
    with one component ``NAME/i`` for each slot of a synchronous vector. EnvGenerators are the streams
    ``NAME/reset``, ``NAME/action_space`` and ``NAME/observation_space``, seeded here from their
    names, and for slots ``NAME/i/reset`` and so on, whatever the number of slots.

    Args:
        run: the run.
        env: made already, not yet reset, with every wrapper that it is to have.
        name: a path of its own, such as ``ant``.
        state: attributes of the innermost environment that are its whole state, as dotted paths;
            None looks at all of its attributes and at its MuJoCo simulation.
        opaque: attributes to leave out. What they hold is neither compared nor put back: seeking
            and branching then execute from the start.

    Returns:
        The environment to use from now on, with ``.observation`` besides.

    Raises:
        UsageError: E-USE-001, when this is no environment, or is wrapped already.
        ComponentRefused: E-TRACK-001, when it holds what cannot be captured.
        ComponentTaken: E-TRACK-002, when the name is in use.
    """
    given: object = env
    if not isinstance(given, (gymnasium.Env, gymnasium.vector.VectorEnv)):
        text = repr(given) if isinstance(given, str) else f"a {type(given).__name__}"
        made = given if isinstance(given, str) else "Ant-v5"
        raise UsageError(
            f"tg.wrap was given {text}, which is no environment.",
            "Expected a gymnasium.Env or a vector environment.",
            f'Make it first: tg.wrap(run, gymnasium.make("{made}"), name="...")',
        )
    is_vector = isinstance(env, gymnasium.vector.VectorEnv)
    for each in (env, *(getattr(env.unwrapped, "envs", ()) if is_vector else ())):
        for depth, layer in enumerate(list_layers(each)):
            if isinstance(layer, (RecordedEnv, RecordedVectorEnv)):
                outside = " inside " + type(each).__name__ if depth else ""
                raise UsageError(
                    f"The environment for {name!r} is wrapped already, as "
                    f"{layer._recorder.name!r}{outside}.",
                    "Expected one tg.wrap around everything: what is outside of it is not captured.",
                    "Put other wrappers on first, then tg.wrap the result once.",
                    name=name,
                )
    if isinstance(env.unwrapped, gymnasium.vector.AsyncVectorEnv):
        raise ComponentRefused(
            f"{name!r} is an AsyncVectorEnv: its {pluralize(env.unwrapped.num_envs, 'environment lives', 'environments live')} in "
            "other processes.",
            "Expected environments whose state this process can read.",
            'Make it with vectorization_mode="sync"; the numbers are the same.',
            name=name,
        )
    recorder = EnvRecorder(run, name, env, only=state, opaque=tuple(opaque))
    inner: Any = env
    wrapped: Any = RecordedVectorEnv(recorder, inner) if is_vector else RecordedEnv(recorder, inner)
    return wrapped  # type: ignore[no-any-return]


def fit_action(value: Any, own: Any, space: gymnasium.Space[Any], name: str) -> Any:
    """Return a substituted action, shaped like the one it replaces."""
    cause: Exception | None = None
    try:
        action = _shape_like(value, own)
        if space.contains(action) or not space.contains(own):
            return action
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        cause = error
    raise UsageError(
        f"The input {name!r} was substituted by {value!r}, which is no action of this environment.",
        f"Expected a value in {space}.",
        f"For example: --input {name}=... with numbers of that shape.",
        name=name,
    ) from cause


def _shape_like(value: Any, own: Any) -> Any:
    if isinstance(own, np.ndarray):
        given = np.asarray(value)
        array = given.astype(own.dtype)
        if own.dtype.kind in "iu" and not np.array_equal(array, given):
            raise ValueError("an integer action is expected")
        return np.full(own.shape, array) if array.ndim == 0 else array.reshape(own.shape).copy()
    if isinstance(own, (np.generic, bool, int, float)):
        scalar = type(own)(value)
        if scalar != value and not isinstance(own, (float, np.floating)):
            raise ValueError("an integer action is expected")
        return scalar
    if isinstance(own, Mapping):
        return {key: _shape_like(value[key], own[key]) for key in own}
    if isinstance(own, (list, tuple)):
        if len(value) != len(own):
            raise ValueError("as many parts are expected")
        return type(own)(_shape_like(a, b) for a, b in zip(value, own, strict=True))
    return value
