"""A boosting that samples continues from a checkpoint with the trees of one that never stopped."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.heavy

xgboost = pytest.importorskip("xgboost", reason="needs xgboost")

from twice.errors import CheckpointUnfit  # noqa: E402
from twice.integrations.checkpoints import Checkpoint, find_parts  # noqa: E402

ROUNDS = 5
STOPS = (1, 3)
SETTINGS: list[dict[str, object]] = [
    {},
    {"subsample": 0.5, "colsample_bytree": 0.5, "colsample_bylevel": 0.5, "colsample_bynode": 0.5},
    {"subsample": 0.5, "tree_method": "approx"},
    {"subsample": 0.5, "colsample_bytree": 0.5, "tree_method": "exact"},
    {"booster": "dart", "rate_drop": 0.3, "subsample": 0.5},
    {"num_parallel_tree": 3, "subsample": 0.5, "colsample_bynode": 0.5},
    {"booster": "gblinear", "updater": "coord_descent", "feature_selector": "random"},
    {"grow_policy": "lossguide", "max_leaves": 9, "colsample_bynode": 0.5},
]


@pytest.fixture(autouse=True)
def process_generators() -> Iterator[None]:
    kept = random.getstate(), np.random.get_state()
    yield
    random.setstate(kept[0])
    np.random.set_state(kept[1])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "c.checkpoint"


def table() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(600, 8))
    return inputs, (inputs[:, 0] * inputs[:, 1] + rng.normal(size=600) > 0).astype(float)


def boost(path: Path, settings: dict[str, object], rounds: int) -> bytes:
    data = xgboost.DMatrix(*table())
    parameters = {"objective": "binary:logistic", "nthread": 1, "seed_per_iteration": 1, **settings}
    booster = xgboost.Booster(parameters, [data])
    checkpoint = Checkpoint(path, booster=booster)
    for at in range(checkpoint.resume(), rounds):
        booster.update(data, at)
        checkpoint.save(at + 1)
    return bytes(booster.save_raw("ubj"))


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_booster_continues(tmp_path: Path, settings: dict[str, object]) -> None:
    whole = boost(tmp_path / "whole", settings, ROUNDS)

    for stop in STOPS:
        path = tmp_path / str(stop)
        boost(path, settings, stop)
        assert boost(path, settings, ROUNDS) == whole


def test_settings_that_the_program_changed_come_from_the_checkpoint(path: Path) -> None:
    data = xgboost.DMatrix(*table())
    booster = xgboost.Booster({"eta": 0.1, "max_depth": 2}, [data])
    booster.update(data, 0)
    Checkpoint(path, booster=booster).save(1)

    again = xgboost.Booster({"eta": 0.7}, [data])
    Checkpoint(path, booster=again).resume()

    assert '"eta":"0.100000001"' in again.save_config()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"subsample": 0.5}, "subsample"),
        ({"booster": "dart"}, "dart"),
        (
            {"booster": "gblinear", "updater": "coord_descent", "feature_selector": "shuffle"},
            "feature_selector",
        ),
    ],
)
def test_a_booster_that_samples_from_a_hidden_generator_is_refused(
    path: Path, settings: dict[str, object], named: str
) -> None:
    data = xgboost.DMatrix(*table())
    booster = xgboost.Booster(settings, [data])
    booster.update(data, 0)

    with pytest.raises(CheckpointUnfit, match=rf"booster samples \({named}\)"):
        Checkpoint(path, booster=booster).save(1)
    assert not path.exists()


@pytest.mark.parametrize(
    "state", [None, {}, {"model": b"", "config": "{}"}, {"model": b"{", "config": "[]"}]
)
def test_what_is_no_model_is_refused(state: object) -> None:
    data = xgboost.DMatrix(*table())
    (part,) = find_parts("booster", xgboost.Booster({}, [data])).values()

    with pytest.raises(CheckpointUnfit, match="not one of a booster"):
        part.write(state)


def test_a_booster_without_data_is_refused(path: Path) -> None:
    with pytest.raises(CheckpointUnfit, match="a booster without data"):
        Checkpoint(path, booster=xgboost.Booster()).save(1)


def test_an_estimator_that_makes_boosters_is_refused() -> None:
    with pytest.raises(
        CheckpointUnfit, match="XGBClassifier of xgboost, which makes a new booster"
    ):
        find_parts("model", xgboost.XGBClassifier())


LIGHT_SETTINGS: list[dict[str, object]] = [
    {},
    {"bagging_fraction": 0.5, "bagging_freq": 3, "feature_fraction": 0.5},
    {"boosting": "dart"},
    {"data_sample_strategy": "goss"},
    {"extra_trees": True},
]


def boost_in_stretches(path: Path, settings: dict[str, object], rounds: int) -> str:
    lightgbm = pytest.importorskip("lightgbm")
    parameters = {
        "objective": "binary", "num_threads": 1, "verbose": -1, "deterministic": True, "force_row_wise": True, **settings,
    }  # fmt: skip
    kept: dict[str, str] = {}
    checkpoint = Checkpoint(path, kept=kept)
    for at in range(checkpoint.resume(), rounds, 3):
        booster = lightgbm.train(
            {**parameters, "seed": 7 + at},
            lightgbm.Dataset(*table()),
            3,
            init_model=lightgbm.Booster(model_str=kept["model"]) if kept else None,
        )
        kept["model"] = booster.model_to_string()
        checkpoint.save(at + 3)
    return kept["model"]


@pytest.mark.parametrize("settings", LIGHT_SETTINGS)
def test_lightgbm_continues_in_stretches(tmp_path: Path, settings: dict[str, object]) -> None:
    whole = boost_in_stretches(tmp_path / "whole", settings, 9)

    boost_in_stretches(tmp_path / "stopped", settings, 6)
    assert boost_in_stretches(tmp_path / "stopped", settings, 9) == whole


def test_a_booster_of_lightgbm_is_refused_with_the_way_to_do_it() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    booster = lightgbm.Booster({"verbose": -1}, lightgbm.Dataset(*table()))

    with pytest.raises(CheckpointUnfit, match="Booster of lightgbm") as caught:
        find_parts("booster", booster)
    assert "init_model=" in caught.value.remedy
