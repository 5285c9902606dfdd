"""Boosters at the end of a training, which is often made in stretches, each with a booster of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from twice.integrations.training.live import find_parts_of

pytestmark = pytest.mark.heavy


def table() -> tuple[Any, Any]:
    draws = np.random.default_rng(3)
    features = draws.normal(size=(60, 3))
    return features, features[:, 0] + draws.normal(size=60)


def train_lightgbm(rounds: int, old: Any = None) -> Any:
    lightgbm = pytest.importorskip("lightgbm")
    settings = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 2}
    return lightgbm.train(settings, lightgbm.Dataset(*table()), rounds, init_model=old)


def test_a_booster_of_lightgbm_is_compared_by_its_trees() -> None:
    one, same, other = train_lightgbm(4), train_lightgbm(4), train_lightgbm(5)

    texts = [find_parts_of([each])["booster"].read() for each in (one, same, other)]

    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_rounds_that_were_asked_for_are_no_difference() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    long = train_lightgbm(4)
    again = lightgbm.Booster(
        model_str=long.model_to_string().replace("[num_iterations: 4]", "[num_iterations: 2]")
    )

    assert find_parts_of([long])["booster"].read() == find_parts_of([again])["booster"].read()


def test_of_the_boosters_of_stretches_the_last_one_counts() -> None:
    first = train_lightgbm(2)
    second = train_lightgbm(2, first)
    resumed = train_lightgbm(2, first)

    straight = find_parts_of([first, second])

    assert [*straight] == ["booster"]
    assert straight["booster"].read() == find_parts_of([resumed])["booster"].read()


def test_of_xgboost_too_the_last_booster_counts() -> None:
    xgboost = pytest.importorskip("xgboost")
    data = xgboost.DMatrix(*table())
    first = xgboost.train({"nthread": 1}, data, 2)
    second = xgboost.train({"nthread": 1}, data, 2, xgb_model=first)

    assert (
        find_parts_of([first, second])["booster"].read()
        == find_parts_of([second])["booster"].read()
    )
