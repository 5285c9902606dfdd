"""Steps of environments and optimisers are compared in programs that never heard of twice."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import twice
from programs import cli, environ, names
from twice.diagnosis.diagnose import diagnose
from twice.integrations.torch_steps import WINDOW_BYTES, ParameterWindow
from twice.recorder.auto_steps import WATCHED, has_point
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify

CART = """
    import os
    import gymnasium as gym
    env = gym.make("CartPole-v1")
    seen, _ = env.reset(seed=3)
    for step in range(12):
        push = int(seen[2] > 0)
        if step == 7:
            push = int(os.environ.get("PUSH", "0"))
        seen, reward, over, cut, _ = env.step(push)
    print(env.spec.id, type(env).__name__)
"""
TRAIN = """
    import os
    import torch
    torch.set_num_threads(1)
    model = torch.nn.Linear(4, 1)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(5):
        given = torch.randn(8, 4)
        rate = 1.0 + float(os.environ.get("PUSH", "0")) * (step == 3)
        loss = (model(given) * rate - given.sum(1, keepdim=True)).pow(2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    print(float(loss))
"""


def put(folder: Path, source: str) -> str:
    (folder / "script.py").write_text(textwrap.dedent(source), encoding="utf-8")
    return str(folder / "script.py")


def recorded(folder: Path, source: str, out: str = "a.twice", **options: Any) -> RunRecord:
    return twice.record(put(folder, source), seed=7, out=folder / out, force=True, **options)


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.fixture
def gymnasium() -> Any:
    return pytest.importorskip("gymnasium")


@pytest.mark.integration
def test_every_step_of_an_environment_is_a_tick_with_a_point(
    tmp_path: Path, gymnasium: Any
) -> None:
    with recorded(tmp_path, CART) as record:
        assert names(record) == [(-1, "start"), *((n, "tick") for n in range(12)), (11, "end")]
        assert record.ticks == 12
        assert record.ending is not None
        assert record.ending["components"] == {"gymnasium": "automatic"}
        assert record.printed()[0] == b"CartPole-v1 TimeLimit\n"
        statement = verify(record.path)
    assert statement.result == "PASS"
    assert any("12 steps of gymnasium" in caveat for caveat in statement.caveats)


@pytest.mark.integration
def test_two_runs_of_an_environment_part_at_a_step(tmp_path: Path, gymnasium: Any) -> None:
    for name, push in (("a", "0"), ("b", "1")):
        recorded(tmp_path, CART, f"{name}.twice", env={"PUSH": push}).close()

    found = diagnose(tmp_path / "a.twice", tmp_path / "b.twice", lines=False).to_json()

    assert (found["compare_point"]["tick"], found["components"]) == (7, ["gymnasium"])


@pytest.mark.heavy
def test_two_trainings_part_at_an_optimisers_step(tmp_path: Path, torch: Any) -> None:
    for name, push in (("a", "0"), ("b", "1")):
        with recorded(tmp_path, TRAIN, f"{name}.twice", env={"PUSH": push}) as record:
            assert record.ticks == 5
    assert verify(tmp_path / "a.twice").result == "PASS"

    found = diagnose(tmp_path / "a.twice", tmp_path / "b.twice", lines=False).to_json()

    assert (found["compare_point"]["tick"], found["components"]) == (3, ["torch.optim"])


@pytest.mark.integration
def test_automatic_points_can_be_switched_off(tmp_path: Path, gymnasium: Any) -> None:
    path = put(tmp_path, CART)
    done = cli("record", path, "--seed", 7, "--no-auto-points", "-o", "a.twice", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with RunRecord.open(tmp_path / "a.twice") as record:
        assert names(record) == [(-1, "start"), (-1, "end")]
        assert verify(record.path).result == "PASS"
    recorded(tmp_path, CART, "b.twice").close()
    found = diagnose(tmp_path / "a.twice", tmp_path / "b.twice")
    assert [each.what for each in found.input_differences] == ["policy auto_points"]


@pytest.mark.integration
def test_only_the_outermost_step_counts_and_a_crash_in_it_shows_no_frame_of_ours(
    tmp_path: Path, gymnasium: Any
) -> None:
    path = put(
        tmp_path,
        """
        import gymnasium as gym

        class Pond(gym.Env):
            observation_space = action_space = gym.spaces.Discrete(9)
            place = 0
            def step(self, action):
                self.place += 1
                if self.place == 3:
                    raise ValueError("too deep")
                return object(), 1.0, False, False, {}

        class Deeper(gym.Wrapper):
            def step(self, action):
                self.env.step(action)
                return self.env.step(action)

        pond = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1")] * 2)
        pond.reset(seed=3)
        pond.step(pond.action_space.sample() * 0)
        deeper = Deeper(Pond())
        deeper.step(0)
        deeper.step(0)
        """,
    )

    alone = subprocess.run(
        [sys.executable, path], env=environ(), capture_output=True, text=True, check=False
    )
    with twice.record(path, seed=7, out=tmp_path / "a.twice") as record:
        assert (record.ticks, record.ending is not None) == (2, True)
        caveats = (record.ending or {})["caveats"]
        assert (
            record.printed()[1].decode().endswith(alone.stderr[alone.stderr.index("Traceback") :])
        )
        assert any("no canonical form: gymnasium observation" in caveat for caveat in caveats)
        assert verify(record.path).result == "PASS"


@given(st.integers(0, 7))
def test_a_run_of_any_length_has_a_few_ten_thousand_points(decade: int) -> None:
    first = 10**decade if decade else 0
    stride = max(1, 10 ** (decade - 3))

    assert all(has_point(first + n * stride) for n in range(9))
    if stride > 1:
        assert not has_point(first + 1)


@pytest.mark.parametrize("name", dict.fromkeys(WATCHED.values()))
def test_every_module_that_knows_a_librarys_steps_is_there(name: str) -> None:
    """They are named and not imported, so nothing else would miss one that was renamed."""
    assert callable(importlib.import_module(name).watch)


@pytest.mark.heavy
def test_the_window_over_a_big_models_parameters_sees_all_of_them_in_turn(torch: Any) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(600, 700), torch.nn.Linear(700, 600))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    total = sum(each.numel() * 4 for each in model.parameters())
    seen, looks, found = ParameterWindow("0 SGD"), -(-total // WINDOW_BYTES), {}

    for _ in range(looks):
        parameters: Any = seen.read(optimiser)["parameters"]
        assert sum(part.nbytes for part in parameters.values()) <= WINDOW_BYTES + 8
        found.update(parameters)

    assert looks > 3
    covered = sum(part.nbytes for part in found.values())
    assert covered >= total
    assert {name.partition("[")[0] for name in found} == {"0/0", "0/1", "0/2", "0/3"}


@pytest.mark.heavy
def test_a_look_at_parameters_of_a_type_that_numpy_lacks_gives_their_bytes(torch: Any) -> None:
    parameter = torch.nn.Parameter(torch.ones(3, dtype=torch.bfloat16))
    optimiser = torch.optim.SGD([parameter], lr=0.1)

    state: Any = ParameterWindow("0 SGD").read(optimiser)

    assert state["parameters"]["0/0"].tobytes() == b"\x80\x3f" * 3
