"""Estimators of scikit-learn learn further from a checkpoint as if they had never stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.heavy

pytest.importorskip("sklearn", reason="needs scikit-learn")

from sklearn.base import is_classifier  # noqa: E402
from sklearn.cluster import MiniBatchKMeans  # noqa: E402
from sklearn.decomposition import IncrementalPCA, MiniBatchDictionaryLearning  # noqa: E402
from sklearn.ensemble import RandomForestClassifier  # noqa: E402
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.neural_network import MLPClassifier, MLPRegressor  # noqa: E402

from twice.errors import CheckpointUnfit  # noqa: E402
from twice.foundation.encoding import encode  # noqa: E402
from twice.integrations.checkpoints import Checkpoint, find_parts  # noqa: E402

ESTIMATORS: list[Callable[[], Any]] = [
    lambda: SGDClassifier(random_state=0, average=True),
    lambda: SGDRegressor(random_state=None, learning_rate="adaptive"),
    lambda: Perceptron(random_state=0),
    lambda: MLPClassifier((4,), random_state=0),
    lambda: MLPRegressor(hidden_layer_sizes=(4,), random_state=0, solver="sgd"),
    lambda: MiniBatchKMeans(3, random_state=0, n_init=1),
    lambda: MiniBatchDictionaryLearning(3, random_state=0, transform_max_iter=3),
    lambda: IncrementalPCA(2),
    GaussianNB,
]


@pytest.fixture(autouse=True)
def process_generators() -> Iterator[None]:
    kept = np.random.get_state()
    yield
    np.random.set_state(kept)


def learn(path: Path, make: Callable[[], Any], stop: int) -> bytes:
    np.random.seed(3)
    estimator = make()
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(6, 30, 5))
    outputs = (inputs[:, :, 0] > 0).astype(int)
    classes = {"classes": [0, 1]} if is_classifier(estimator) else {}
    checkpoint = Checkpoint(path, estimator=estimator)
    for at in range(checkpoint.resume(), stop):
        estimator.partial_fit(inputs[at], outputs[at], **classes)
        if at + 1 == 3:
            checkpoint.save(3)
    return encode(find_parts("estimator", estimator)["estimator"].read())


@pytest.mark.parametrize("make", ESTIMATORS)
def test_an_estimator_continues(tmp_path: Path, make: Callable[[], Any]) -> None:
    whole = learn(tmp_path / "whole", make, 6)

    learn(tmp_path / "stopped", make, 3)
    assert learn(tmp_path / "stopped", make, 6) == whole


def test_columns_with_names_come_back(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    estimator = GaussianNB().fit(table, ["yes", "no"])
    Checkpoint(tmp_path / "c", estimator=estimator).save(1)

    again = GaussianNB()
    Checkpoint(tmp_path / "c", estimator=again).resume()
    assert again.predict(table).tolist() == ["yes", "no"]


def test_a_forest_is_refused_by_name(tmp_path: Path) -> None:
    forest = RandomForestClassifier(1, random_state=0).fit([[0.0], [1.0]], [0, 1])

    with pytest.raises(
        CheckpointUnfit, match=r"forest\.estimators_\[0\]\.tree_ is of the type sklearn"
    ):
        Checkpoint(tmp_path / "c", forest=forest).save(1)


def test_a_shared_generator_is_refused(tmp_path: Path) -> None:
    estimator = SGDClassifier(random_state=np.random.RandomState(1))

    with pytest.raises(CheckpointUnfit, match="others may share"):
        Checkpoint(tmp_path / "c", estimator=estimator).save(1)


@pytest.mark.parametrize(
    ("state", "named"),
    [
        (None, "GaussianNB"),
        ({}, "lacks the parameters priors"),
        ({"priors": {"type": "object", "class": "subprocess:Popen", "attributes": {}}}, "Popen"),
        ({"priors": {"type": "object", "class": "none:None", "attributes": {}}}, "none:None"),
        ({"priors": {"type": "random state", "state": 1}}, "GaussianNB|random_state"),
    ],
)
def test_what_is_no_state_is_refused(state: object, named: str) -> None:
    (part,) = find_parts("estimator", GaussianNB()).values()

    with pytest.raises(CheckpointUnfit, match=named):
        part.write(state)
