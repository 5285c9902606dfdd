"""Estimators of scikit-learn as parts: those that learn further with ``partial_fit`` or ``warm_start``.

A part holds all attributes of an estimator, its parameters included: those in the checkpoint come over those that the
program passes. ``random_state`` is an integer, or None for numpy's global generator, which is a part of its own.

Not covered, and refused by name: trees and forests, histograms of gradient boosting, ``Birch``. Nor is ``n_jobs`` looked
at: whether another number of jobs gives other bits depends on the estimator, and ``twice vary --factor threads`` tries
it. A grid search or another loop inside of one ``fit`` has no place where it could be saved.

Invariant: no class is imported because a checkpoint names it, and no method of one is called.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from twice.errors import CheckpointUnfit
from twice.integrations.checkpoints.generator_parts import NumpyGeneratorPart
from twice.integrations.checkpoints.parts import Part, TargetPart
from twice.integrations.checkpoints.trees import MISFITS, TYPE, from_tree, to_tree

_DERIVED = ("_loss_function_",)
"""Attributes that ``partial_fit`` makes anew at each call."""
_HELPERS = "sklearn.neural_network._stochastic_optimizers"


class EstimatorPart(TargetPart):
    """An estimator: its attributes."""

    def read(self) -> object:
        """Return the attributes, fitted and passed ones.

        Raises:
            CheckpointUnfit: E-CHECKPOINT-003: an attribute that a checkpoint cannot hold, or a shared generator.
        """
        if isinstance(getattr(self.target, "random_state", None), np.random.RandomState):
            raise CheckpointUnfit(
                f"{self.name} has a numpy RandomState as its random_state, which others may share.",
                "Expected an integer, or None for the global generator of numpy.",
                "Pass random_state=7, for example.",
                part=self.name,
            )
        return {
            key: to_tree(value, f"{self.name}.{key}", _convert)
            for key, value in vars(self.target).items()
            if key not in _DERIVED
        }

    def write(self, state: object) -> None:
        """Put the attributes back."""
        plain: Any = state
        try:
            values = {key: from_tree(tree, _build) for key, tree in plain.items()}
            missing = self.target.get_params(deep=False).keys() - values.keys()
            if missing:
                raise ValueError(f"it lacks the parameters {', '.join(sorted(missing))}")
        except MISFITS as error:
            raise self.refuse(
                f"is not one of a {self.kind} ({error})", "what read() returned"
            ) from error
        vars(self.target).clear()
        vars(self.target).update(values)


def find_parts(name: str, target: object) -> dict[str, Part]:
    """Return the part of an estimator; nothing for other objects of scikit-learn."""
    return {name: EstimatorPart(name, target)} if isinstance(target, BaseEstimator) else {}


def _convert(value: object, name: str) -> object:
    """Return the tree of a generator, an estimator inside of one, an optimiser of a network, or an array of objects."""
    if isinstance(value, np.random.RandomState):
        return {TYPE: "random state", "state": NumpyGeneratorPart(name, value).read()}
    if isinstance(value, np.ndarray):
        items = to_tree(value.ravel().tolist(), name, _convert)
        return {TYPE: "objects", "shape": list(value.shape), "items": items}
    cls = type(value)
    if not _is_known(cls):
        return None
    attributes = {
        key: to_tree(item, f"{name}.{key}", _convert) for key, item in vars(value).items()
    }
    return {
        TYPE: "object",
        "class": f"{cls.__module__}:{cls.__qualname__}",
        "attributes": attributes,
    }


def _build(tree: dict[str, Any]) -> object:
    match tree[TYPE]:
        case "random state":
            generator = np.random.RandomState()
            NumpyGeneratorPart("random_state", generator).write(tree["state"])
            return generator
        case "objects":
            objects = np.empty(tree["shape"], dtype=object)
            objects.ravel()[:] = from_tree(tree["items"], _build)
            return objects
        case "object":
            module, _, name = str(tree["class"]).partition(":")
            cls = (
                vars(sys.modules.get(module, object())).get(name) if module in sys.modules else None
            )
            if not isinstance(cls, type) or not _is_known(cls):
                raise ValueError(f"{tree['class']} is not a loaded class of scikit-learn")
            made: object = object.__new__(cls)
            vars(made).update(
                {key: from_tree(one, _build) for key, one in tree["attributes"].items()}
            )
            return made
    raise ValueError(f"{tree[TYPE]!r} is not a type of a tree")


def _is_known(cls: type[Any]) -> bool:
    is_of_library = cls.__module__.startswith("sklearn.")
    return is_of_library and (issubclass(cls, BaseEstimator) or cls.__module__ == _HELPERS)
