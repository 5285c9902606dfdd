"""Wrapped Gymnasium environments: recorded, verified in a fresh process, restored bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from twice.diagnosis.object_digest.mujocostate import mjdata_fields, mjdata_outputs, state_bits
from twice.errors import StreamReseeded
from twice.integrations import gymnasium as tg
from twice.recorder.cadence import Cadence
from twice.recorder.recorder import record, recording
from twice.recorder.runrecord import RunRecord
from twice.replayer.branch_session import branch, prefix_proof
from twice.replayer.restore_test import restores
from twice.replayer.verify import verify

PROGRAMS = Path(__file__).with_name("gymnasium_programs.py")
FOUR = ("Ant-v5", "HalfCheetah-v5", "Humanoid-v5", "CartPole-v1")
OTHERS = (
    "Hopper-v5", "Walker2d-v5", "Pusher-v5", "InvertedDoublePendulum-v5", "Pendulum-v1",
    "Acrobot-v1", "MountainCar-v0", "Taxi-v4", "FrozenLake-v1", "Blackjack-v1",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings into a file where it runs.


def recorded(out: Path, program: str, *, every: int = 100, **config: Any) -> RunRecord:
    made = record(
        f"{PROGRAMS}:{program}",
        seed=11,
        config=config,
        out=out,
        cadence=Cadence("tick", every),
    )
    assert made.ending is not None
    assert made.ending["how"] == "completed", made.ending
    return made


def points(record: RunRecord, name: str) -> list[bytes]:
    """Return the chainless digests of one explicit compare, in order."""
    table = record.reader.points
    return [p.root for p in map(table.point, range(len(table))) if p.name == name]


@pytest.mark.heavy
@pytest.mark.parametrize("env", FOUR)
def test_a_thousand_steps_verify_and_restore_bit_for_bit(env: str, tmp_path: Path) -> None:
    recorded(tmp_path / "a.twice", "act", every=400, env=env, steps=1000).close()

    verification = verify(tmp_path / "a.twice")
    # Snapshots stand before ticks 0, 400 and 800: the first is followed by a thousand steps.
    restored = restores(tmp_path / "a.twice")

    assert verification.to_json()["result"] == "PASS"
    assert (restored["tested"], restored["failed"]) == (3, [])


@pytest.mark.heavy
def test_ten_other_environments_restore_bit_for_bit(tmp_path: Path) -> None:
    names = ",".join(OTHERS)
    recorded(tmp_path / "a.twice", "act_in_many", every=60, envs=names, steps=240).close()

    restored = restores(tmp_path / "a.twice")
    assert (restored["tested"], restored["failed"]) == (4, [])


@pytest.mark.heavy
def test_wrappers_with_state_restore_bit_for_bit(tmp_path: Path) -> None:
    recorded(tmp_path / "a.twice", "stacked", every=60, steps=150).close()

    assert verify(tmp_path / "a.twice").to_json()["result"] == "PASS"
    restored = restores(tmp_path / "a.twice")
    assert (restored["tested"], restored["failed"]) == (3, [])


@pytest.mark.integration
def test_positions_and_velocities_alone_part_at_the_first_step(tmp_path: Path) -> None:
    recorded(tmp_path / "a.twice", "naive", every=50, env="Ant-v5", steps=60).close()

    failed = {entry["tick"]: entry for entry in restores(tmp_path / "a.twice")["failed"]}

    assert 50 in failed
    assert (failed[50]["component"], failed[50]["at_tick"]) == ("naive", 50)


@pytest.mark.integration
@pytest.mark.parametrize("env", ["Ant-v5", "Humanoid-v5"])
def test_what_a_naive_restore_leaves_out_has_a_name(env: str) -> None:
    made: Any = gym.make(env, terminate_when_unhealthy=False)
    made.reset(seed=5)
    made.action_space.seed(5)
    for _ in range(50):
        made.step(made.action_space.sample())
    data = made.unwrapped.data
    before = {name: np.copy(field) for name, field in mjdata_fields(data).items()}
    lagging = np.copy(data.xpos)

    other: Any = gym.make(env)
    other.reset(seed=5)
    other.unwrapped.set_state(before["qpos"], before["qvel"])
    after = mjdata_fields(other.unwrapped.data)
    missing = [name for name in before if not np.array_equal(before[name], after[name])]

    assert missing == ["time", "qacc_warmstart", "ctrl"]
    assert not np.array_equal(lagging, other.unwrapped.data.xpos)


@pytest.mark.integration
def test_the_fields_by_name_are_all_that_mujoco_calls_integration_state() -> None:
    mujoco = pytest.importorskip("mujoco")
    made: Any = gym.make("Humanoid-v5")
    made.reset(seed=1)
    made.step(made.action_space.sample() * 0 + 0.1)
    data = made.unwrapped.data
    spec = mujoco.mjtState.mjSTATE_INTEGRATION
    whole = np.empty(mujoco.mj_stateSize(data.model, spec))
    mujoco.mj_getState(data.model, data, whole, spec)

    named = np.concatenate([np.ravel(field) for field in mjdata_fields(data).values()])

    assert np.array_equal(named, whole)
    assert {"QPOS", "QVEL", "WARMSTART", "CTRL"} <= set(state_bits())
    assert {"xpos", "xipos", "cfrc_ext"} <= set(mjdata_outputs(data))


def test_a_first_seed_gives_the_numbers_of_the_environment_alone(tmp_path: Path) -> None:
    alone = gym.make("CartPole-v1")
    expected = [alone.reset(seed=9)[0], *(alone.step(1)[0] for _ in range(5)), alone.reset()[0]]

    with recording(tmp_path / "a.twice", seed=1) as run:
        env = tg.wrap(run, gym.make("CartPole-v1"), name="cart")
        found = [env.reset(seed=9)[0], *(env.step(1)[0] for _ in range(5)), env.reset()[0]]

    assert np.array_equal(expected, found)
    with RunRecord.open(tmp_path / "a.twice") as made:
        assert made.ending is not None
        assert any(
            "cart/reset was seeded by the program" in text for text in made.ending["caveats"]
        )


def test_without_a_seed_the_numbers_depend_on_the_master_seed_and_the_name(tmp_path: Path) -> None:
    def first(seed: int, name: str, number: int) -> list[Any]:
        with recording(tmp_path / f"{number}.twice", seed=seed) as run:
            env = tg.wrap(run, gym.make("CartPole-v1"), name=name)
            return [*env.reset()[0].tolist(), [int(env.action_space.sample()) for _ in range(40)]]

    one = first(1, "cart", 0)

    assert one == first(1, "cart", 1)
    assert one[:4] != first(2, "cart", 2)[:4]
    assert one[:4] != first(1, "other", 3)[:4]


@pytest.mark.parametrize(
    ("reseed", "words"),
    [
        (lambda env: env.reset(seed=3), "'cart' was reset with seed=3 in the middle of the run"),
        (lambda env: env.action_space.seed(3), "'cart/action_space' was replaced"),
        (lambda env: env.unwrapped.reset(seed=3), "'cart/reset' was replaced"),
    ],
)
def test_a_seed_in_the_middle_of_a_run_is_refused(reseed: Any, words: str, tmp_path: Path) -> None:
    def act() -> None:
        with recording(tmp_path / "a.twice", seed=1) as run:
            env: Any = tg.wrap(run, gym.make("CartPole-v1"), name="cart")
            env.reset()
            for tick in run.ticks(3):
                env.step(0)
                if tick == 1:
                    reseed(env)

    with pytest.raises(StreamReseeded, match="E-RNG-005") as caught:
        act()

    assert words in str(caught.value)


@pytest.mark.heavy
def test_a_vector_of_its_own_kind_verifies_and_restores_bit_for_bit(tmp_path: Path) -> None:
    kind = "vector_entry_point"
    recorded(tmp_path / "a.twice", "vector", every=40, kind=kind, slots=3, steps=100).close()

    assert verify(tmp_path / "a.twice").to_json()["result"] == "PASS"
    assert restores(tmp_path / "a.twice")["failed"] == []


@pytest.mark.integration
def test_a_vector_verifies_and_restores_bit_for_bit(tmp_path: Path) -> None:
    recorded(tmp_path / "a.twice", "vector", every=40, kind="sync", slots=3, steps=100).close()

    assert verify(tmp_path / "a.twice").to_json()["result"] == "PASS"
    restored = restores(tmp_path / "a.twice")
    assert (restored["tested"], restored["failed"]) == (3, [])


@pytest.mark.integration
def test_a_slot_does_not_depend_on_the_number_of_slots(tmp_path: Path) -> None:
    first = {}
    for slots in (1, 4):
        with recorded(
            tmp_path / f"{slots}.twice", "vector", kind="sync", slots=slots, steps=80
        ) as made:
            first[slots] = points(made, "first slot")
            assert made.ending is not None

    assert len(first[1]) == 80
    assert first[1] == first[4]


@pytest.fixture
def cartpole(tmp_path: Path) -> Iterator[RunRecord]:
    with recorded(tmp_path / "a.twice", "act", env="CartPole-v1", steps=12) as made:
        yield made


@pytest.mark.integration
def test_a_branch_substitutes_an_action(cartpole: RunRecord, tmp_path: Path) -> None:
    own = cartpole.inputs(tick=5)[0].value
    with branch(
        cartpole.path, at=5, inputs={"env/action": 1 - int(own)}, out=tmp_path / "b.twice"
    ) as other:
        (event,) = other.inputs(tick=5)

        assert (event.name, event.value, event.substituted) == ("env/action", 1 - int(own), True)
        assert prefix_proof(other, cartpole)
        assert points(other, "env/outcome")[:5] == points(cartpole, "env/outcome")[:5]
        assert points(other, "env/outcome")[5] != points(cartpole, "env/outcome")[5]


@pytest.mark.integration
def test_the_same_action_given_as_plain_numbers_changes_nothing(tmp_path: Path) -> None:
    with recorded(tmp_path / "a.twice", "act", env="Pendulum-v1", steps=8) as made:
        own = made.inputs(tick=3)[0].value
        assert own.dtype == np.float32
        with branch(
            made.path, at=3, inputs={"env/action": own.tolist()}, out=tmp_path / "b.twice"
        ) as other:
            assert points(other, "env/outcome") == points(made, "env/outcome")
