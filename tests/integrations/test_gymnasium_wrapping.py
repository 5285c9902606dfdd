"""What a user may get wrong when wrapping an environment, and what is refused by name."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.classic_control import CartPoleEnv
from gymnasium.wrappers import TimeLimit

from twice.errors import ComponentRefused, ComponentTaken, UsageError
from twice.foundation.encoding import encode
from twice.integrations import gymnasium as tg
from twice.integrations.gymnasium.state import EnvAttributes
from twice.integrations.gymnasium.wrapper import fit_action
from twice.recorder.recorder import recording
from twice.recorder.run import Run


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    with recording(tmp_path / "a.twice", seed=1) as opened:
        yield opened


class Robot:
    def __init__(self) -> None:
        self.speed = 0.0
        self.path = [np.zeros(2)]


class Field(gym.Env[Any, Any]):
    """An environment of the user's own, with one of everything."""

    def __init__(self) -> None:
        self.action_space = gym.spaces.Discrete(2)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (2,))
        self.gravity = 9.81
        self.robot = Robot()
        self.target = self.robot
        self.memory: deque[int] = deque(maxlen=3)
        self.map = np.arange(6.0).reshape(2, 3)
        self.row = self.map[1]
        self.reward = lambda speed: -speed

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.robot.speed = float(self.np_random.random())
        self.visited = {(0, 0): 1}
        return np.zeros(2, dtype=np.float32), {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, Any]:
        self.robot.speed += 1.0
        self.robot.path.append(np.array([self.robot.speed, 0.0]))
        self.memory.append(int(action))
        self.row += 1.0
        return self.map[0, :2].astype(np.float32), self.reward(self.robot.speed), False, False, {}


def test_attributes_are_put_back_in_place() -> None:
    env, other = Field(), Field()
    there, here = EnvAttributes(env, "env"), EnvAttributes(other, "env")
    env.reset(seed=1)
    for action in (0, 1, 1, 0):
        env.step(action)
    env.gravity = 1.62

    here.put(there.read())

    assert encode(here.read()) == encode(there.read())
    assert (other.gravity, list(other.memory), other.memory.maxlen) == (1.62, [1, 1, 0], 3)
    assert other.target is other.robot
    assert other.row.base is not None
    assert np.array_equal(other.map, env.map)
    assert other.visited == {(0, 0): 1}


def test_what_became_as_it_was_at_first_is_put_back_too() -> None:
    env = Field()
    attributes = EnvAttributes(env, "env")
    at_first = attributes.read()
    env.gravity = 1.62
    env.extra = 3

    attributes.put(at_first)

    assert env.gravity == 9.81
    assert not hasattr(env, "extra")


def test_a_negative_zero_is_not_the_zero_it_was() -> None:
    env = Field()
    env.speed = 0.0
    attributes = EnvAttributes(env, "env")
    env.speed = -0.0

    assert str(attributes.read()["speed"]) == "-0.0"


def test_what_has_no_plain_form_is_refused_by_path_and_type(run: Run) -> None:
    env = Field()
    env.robot.lock = threading.Lock()

    with pytest.raises(ComponentRefused, match="E-TRACK-001") as caught:
        tg.wrap(run, env, name="field")

    assert "'robot.lock'" in str(caught.value)
    assert "_thread.lock" in str(caught.value)
    assert 'opaque=["robot"]' in str(caught.value)


def test_declared_state_is_all_that_is_captured(run: Run) -> None:
    env = Field()
    env.lock = threading.Lock()

    wrapped = tg.wrap(run, env, name="field", state=["robot.speed", "memory"])
    wrapped.reset()

    component = run._session.points.components["field"]
    state: Any = component.read()
    assert set(state["environment"]) == {"robot.speed", "memory"}
    assert component.put is not None


def test_declared_state_must_be_there(run: Run) -> None:
    with pytest.raises(ComponentRefused, match=r"no attribute 'robot\.sped'"):
        tg.wrap(run, Field(), name="field", state=["robot.sped"])


def test_an_opaque_attribute_makes_the_component_state_only(run: Run) -> None:
    env = Field()
    env.lock = threading.Lock()

    tg.wrap(run, env, name="field", opaque=["lock"])

    assert run._session.points.components["field"].put is None


def test_a_name_is_not_an_environment(run: Run) -> None:
    with pytest.raises(UsageError, match=r'gymnasium\.make\("Ant-v5"\)'):
        tg.wrap(run, "Ant-v5", name="ant")  # type: ignore[type-var]


def test_a_step_before_the_reset_is_refused(run: Run) -> None:
    env = tg.wrap(run, CartPoleEnv(), name="cart")

    with pytest.raises(UsageError, match=r"step\(\) was called on 'cart' before reset\(\)"):
        env.step(0)


def test_a_name_is_given_once(run: Run) -> None:
    tg.wrap(run, gym.make("CartPole-v1"), name="cart")

    with pytest.raises(ComponentTaken, match="'cart' is tracked already"):
        tg.wrap(run, gym.make("CartPole-v1"), name="cart")


def test_wrapping_twice_is_refused(run: Run) -> None:
    env = tg.wrap(run, gym.make("CartPole-v1"), name="cart")

    with pytest.raises(UsageError, match="wrapped already, as 'cart'"):
        tg.wrap(run, env, name="again")


def test_a_wrapper_outside_of_the_wrapped_is_refused(run: Run) -> None:
    env = TimeLimit(tg.wrap(run, gym.make("CartPole-v1"), name="cart"), 5)

    with pytest.raises(UsageError, match="inside TimeLimit"):
        tg.wrap(run, env, name="again")


def test_slots_that_are_wrapped_already_are_refused(run: Run) -> None:
    made = gym.vector.SyncVectorEnv(
        [lambda: tg.wrap(run, gym.make("CartPole-v1"), name="cart")],
    )

    with pytest.raises(UsageError, match="wrapped already"):
        tg.wrap(run, made, name="many")


def test_an_asynchronous_vector_is_refused(run: Run) -> None:
    made = gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="async")
    try:
        with pytest.raises(ComponentRefused, match="live in other processes"):
            tg.wrap(run, made, name="many")
    finally:
        made.close()


def test_every_slot_has_streams_of_its_own(run: Run) -> None:
    made = gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")

    tg.wrap(run, made, name="cart")

    names = [name for name in run.streams.names() if name.startswith("cart/")]
    assert {"cart/0/reset", "cart/1/reset", "cart/0/action_space", "cart/action_space"} <= set(
        names
    )
    ledger = run.streams.ledger()
    assert len({ledger[name]["seed"] for name in names}) == len(names)


def test_the_spaces_inside_a_space_have_streams_of_their_own(run: Run) -> None:
    env = Field()
    env.action_space = gym.spaces.Dict(
        {"move": gym.spaces.Discrete(3), "arm": gym.spaces.Tuple([gym.spaces.Discrete(2)])}
    )
    tg.wrap(run, env, name="field")

    assert {"field/action_space/move", "field/action_space/arm/0"} <= set(run.streams.names())


def test_wrapping_changes_nothing_in_what_the_environment_does(run: Run) -> None:
    alone, wrapped = gym.make("Pendulum-v1"), tg.wrap(run, gym.make("Pendulum-v1"), name="p")
    alone.reset(seed=4)
    wrapped.reset(seed=4)
    actions = np.linspace(-2, 2, 30, dtype=np.float32).reshape(30, 1)

    for action in actions:
        mine, theirs = wrapped.step(action), alone.step(action)
        assert np.array_equal(mine[0], theirs[0])
        assert mine[1:4] == theirs[1:4]


@pytest.mark.parametrize(
    ("given", "own", "space", "expected"),
    [
        (1, np.int64(0), gym.spaces.Discrete(2), np.int64(1)),
        (0.5, np.zeros(3, np.float32), gym.spaces.Box(-1, 1, (3,)), np.full(3, 0.5, np.float32)),
        ([1, 0], np.array([0, 0]), gym.spaces.MultiDiscrete([2, 2]), np.array([1, 0])),
        (
            {"a": 1, "b": [0.25]},
            {"a": 0, "b": np.zeros(1, np.float32)},
            gym.spaces.Dict({"a": gym.spaces.Discrete(2), "b": gym.spaces.Box(-1, 1, (1,))}),
            {"a": 1, "b": np.array([0.25], np.float32)},
        ),
    ],
)
def test_a_substitute_takes_the_form_of_the_action(
    given: Any, own: Any, space: Any, expected: Any
) -> None:
    found = fit_action(given, own, space, "env/action")

    assert type(found) is type(own)
    assert space.contains(found)
    assert str(found) == str(expected)


@pytest.mark.parametrize(
    ("given", "own", "space"),
    [
        (7, np.int64(0), gym.spaces.Discrete(2)),
        (0.5, 0, gym.spaces.Discrete(2)),
        ([0.1, 0.2], np.zeros(3, np.float32), gym.spaces.Box(-1, 1, (3,))),
        ([5.0, 0, 0], np.zeros(3, np.float32), gym.spaces.Box(-1, 1, (3,))),
        ("left", np.int64(0), gym.spaces.Discrete(2)),
    ],
)
def test_a_substitute_that_is_no_action_is_refused(given: Any, own: Any, space: Any) -> None:
    with pytest.raises(UsageError, match=r"'env/action' was substituted by .* no action"):
        fit_action(given, own, space, "env/action")


def test_a_deque_that_is_made_after_the_environment_keeps_its_limit() -> None:
    env, other = Field(), Field()
    there, here = EnvAttributes(env, "env"), EnvAttributes(other, "env")
    env.latest = deque([1, 2], maxlen=2)
    env.robot.latest = [deque([3], maxlen=4)]
    env.memory = deque([5], maxlen=6)
    state: Any = there.read()

    here.put(state)

    assert other.latest == env.latest
    limits = [each.maxlen for each in (other.latest, other.robot.latest[0], other.memory)]
    assert limits == [2, 4, 6]
    assert encode(here.read()) == encode(state)


def test_a_deque_of_a_new_environment_says_no_limit_in_the_state() -> None:
    env = Field()
    attributes = EnvAttributes(env, "env")
    env.memory.append(1)

    assert attributes.read()["memory"] == {"~deque": [1]}
