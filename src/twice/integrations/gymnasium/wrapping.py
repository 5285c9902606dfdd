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
from twice.integrations.gymnasium.attributes import Attributes
from twice.integrations.gymnasium.component import (
    Compared,
    Part,
    Progress,
    Restorable,
    layers_of,
    parts_of,
)
from twice.integrations.gymnasium.generators import Generators
from twice.recording.run import Run

EnvT = TypeVar("EnvT", bound="gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any]")


class Channel:
    """What a wrapped environment and its run say to each other.

    Args:
        run: the run.
        name: of the component, and the first segment of inputs, decisions and streams.
        env: the environment.
        only: attributes of the innermost environment that are its state.
        opaque: attributes that are neither captured nor compared.
    """

    def __init__(
        self, run: Run, name: str, env: Any, *, only: Sequence[str] | None, opaque: Sequence[str]
    ) -> None:
        self.run = run
        self.name = name
        self.progress = Progress()
        self.generators = Generators(run, lambda: self.progress.steps == 0)
        self._space = env.action_space
        self._action, self._outcome = f"{name}/action", f"{name}/outcome"
        self._kind = Compared if opaque else Restorable
        slots: list[Any] = list(getattr(env.unwrapped, "envs", ()))
        for index, slot in enumerate(slots):
            self._track(f"{name}/{index}", parts_of(slot, name, only=only, opaque=opaque))
        own = None if slots else only
        parts = parts_of(env, name, only=own, opaque=opaque)
        self._track(name, {**parts, "progress": self.progress})
        for index, slot in enumerate(slots):
            self._govern(f"{name}/{index}", slot)
        self._govern(name, env, draws=not slots)

    def _track(self, name: str, parts: dict[str, Part]) -> None:
        component = self._kind(parts, self.generators)
        component.state()  # What cannot be captured is refused here, where the user wraps.
        self.run.track(name, component)

    def _govern(self, name: str, env: Any, *, draws: bool = True) -> None:
        """Give every generator of one environment and its wrappers a stream."""
        if draws:
            self.generators.govern(f"{name}/reset", env.unwrapped)
        for kind in ("action_space", "observation_space"):
            for depth, layer in enumerate(layers_of(env)):
                suffix = f"/{depth}" if depth else ""
                space = getattr(layer, kind, None)
                self.generators.govern_space(f"{name}/{kind}{suffix}", space)
        for depth, layer in enumerate(layers_of(env)):
            for attribute, generator in Attributes(layer, name).generators():
                self.generators.adopt(f"{name}/{depth}/{attribute}", generator)

    def decide(self, action: Any) -> Any:
        """The action as an input: what the program decided, or what a branch put in its place."""
        if not self.progress.resets:
            raise UsageError(
                f"step() was called on {self.name!r} before reset().",
                "Expected a reset after tg.wrap: what was drawn before it is not governed.",
                "Call env.reset() once, right after wrapping.",
                name=self.name,
            )
        given = self.run.input(self._action, lambda: action)
        return given if given is action else fit_action(given, action, self._space, self._action)

    def before_reset(self, seed: Any) -> None:
        """Refuse a seed in the middle of the run."""
        if seed is not None and self.progress.steps:
            raise StreamReseeded(
                f"{self.name!r} was reset with seed={seed!r} in the middle of the run.",
                "A run has one master seed; each episode goes on where the stream "
                f"{self.name + '/reset'!r} stands.",
                "Call env.reset() without a seed; for other episodes record with another --seed.",
                name=self.name,
            )

    def after_reset(self, observation: Any) -> None:
        """Take a first seed over, and compare the observation."""
        self.generators.check()
        progress = self.progress
        progress.resets += 1
        progress.observation = observation
        progress.returned, progress.length = 0.0, 0
        self.run.compare(f"{self.name}/reset", observation)

    def compare(self, outcome: Any) -> None:
        """Observation, reward and endings as one decision."""
        self.progress.steps += 1
        self.progress.observation = outcome[0]
        self.run.compare(self._outcome, outcome[:4])


class RecordedEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment under a run; see ``wrap``."""

    def __init__(self, channel: Channel, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self._channel = channel

    @property
    def observation(self) -> Any:
        """The latest observation: part of the state, so it is there after a restore as well."""
        return self._channel.progress.observation

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step once; the action is the input ``NAME/action``.

        Raises:
            UsageError: E-USE-001, before the first reset, or for a substitute that is no action.
        """
        channel = self._channel
        outcome = self.env.step(channel.decide(action))
        channel.compare(outcome)
        progress = channel.progress
        progress.returned += float(outcome[1])
        progress.length += 1
        if outcome[2] or outcome[3]:
            channel.run.summary(f"{channel.name}/return", progress.returned)
            channel.run.summary(f"{channel.name}/length", progress.length)
            channel.run.episode(channel.name)
        return outcome

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset; without a seed the governed stream goes on.

        Raises:
            StreamReseeded: E-RNG-005, for a seed after the first step.
        """
        self._channel.before_reset(seed)
        observation, info = self.env.reset(seed=seed, options=options)
        self._channel.after_reset(observation)
        return observation, info


class RecordedVectorEnv(gymnasium.vector.VectorWrapper):
    """A vectorised environment under a run; see ``wrap``."""

    def __init__(self, channel: Channel, env: Any) -> None:
        super().__init__(env)
        self._channel = channel

    @property
    def observation(self) -> Any:
        """The latest observations, of all slots."""
        return self._channel.progress.observation

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step every slot once; raises what ``RecordedEnv.step`` raises."""
        channel = self._channel
        outcome = self.env.step(channel.decide(actions))
        channel.compare(outcome)
        progress = channel.progress
        returned = progress.returned + np.asarray(outcome[1], dtype=np.float64)
        over = np.logical_or(outcome[2], outcome[3])
        if over.any():
            for slot in np.flatnonzero(over):
                channel.run.summary(f"{channel.name}/{slot}/return", float(returned[slot]))
                returned[slot] = 0.0
            channel.run.episode(channel.name)
        progress.returned = returned
        return outcome

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Reset every slot; raises what ``RecordedEnv.reset`` raises."""
        self._channel.before_reset(seed)
        observation, info = self.env.reset(seed=seed, options=options)
        self._channel.after_reset(observation)
        return observation, info


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
    with one component ``NAME/i`` for each slot of a synchronous vector. Generators are the streams
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
    _require_environment(env)
    vector = isinstance(env, gymnasium.vector.VectorEnv)
    slots = getattr(env.unwrapped, "envs", ()) if vector else ()
    for one in (env, *slots):
        _require_unwrapped(one, name)
    if isinstance(env.unwrapped, gymnasium.vector.AsyncVectorEnv):
        raise ComponentRefused(
            f"{name!r} is an AsyncVectorEnv: its {env.unwrapped.num_envs} environments live in "
            "other processes.",
            "Expected environments whose state this process can read.",
            'Make it with vectorization_mode="sync"; the numbers are the same.',
            name=name,
        )
    channel = Channel(run, name, env, only=state, opaque=tuple(opaque))
    inner: Any = env
    made: Any = RecordedVectorEnv(channel, inner) if vector else RecordedEnv(channel, inner)
    wrapped: EnvT = made
    return wrapped


def _require_environment(env: object) -> None:
    if not isinstance(env, (gymnasium.Env, gymnasium.vector.VectorEnv)):
        text = repr(env) if isinstance(env, str) else f"a {type(env).__name__}"
        made = env if isinstance(env, str) else "Ant-v5"
        raise UsageError(
            f"tg.wrap was given {text}, which is no environment.",
            "Expected a gymnasium.Env or a vector environment.",
            f'Make it first: tg.wrap(run, gymnasium.make("{made}"), name="...")',
        )


def _require_unwrapped(env: Any, name: str) -> None:
    for depth, layer in enumerate(layers_of(env)):
        if isinstance(layer, (RecordedEnv, RecordedVectorEnv)):
            outside = " inside " + type(env).__name__ if depth else ""
            raise UsageError(
                f"The environment for {name!r} is wrapped already, as {layer._channel.name!r}"
                f"{outside}.",
                "Expected one tg.wrap around everything: what is outside of it is not captured.",
                "Put other wrappers on first, then tg.wrap the result once.",
                name=name,
            )


def fit_action(value: Any, own: Any, space: gymnasium.Space[Any], name: str) -> Any:
    """A substituted action, shaped like the one it replaces.

    Args:
        value: what the branch gave.
        own: what the program decided; its dtype and shape are expected.
        space: where it must lie.
        name: of the input, for the error.

    Raises:
        UsageError: E-USE-001, when it cannot be made to fit or lies outside of the space.
    """
    try:
        action = _like(value, own)
        inside = bool(space.contains(action)) or not space.contains(own)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise _refuse_action(value, space, name) from error
    if not inside:
        raise _refuse_action(value, space, name)
    return action


def _like(value: Any, own: Any) -> Any:
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
        return {key: _like(value[key], own[key]) for key in own}
    if isinstance(own, (list, tuple)):
        if len(value) != len(own):
            raise ValueError("as many parts are expected")
        return type(own)(_like(a, b) for a, b in zip(value, own, strict=True))
    return value


def _refuse_action(value: Any, space: gymnasium.Space[Any], name: str) -> UsageError:
    return UsageError(
        f"The input {name!r} was substituted by {value!r}, which is no action of this environment.",
        f"Expected a value in {space}.",
        f"For example: --input {name}=... with numbers of that shape.",
        name=name,
    )
