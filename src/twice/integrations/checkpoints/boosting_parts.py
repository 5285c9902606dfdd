"""Boosters of XGBoost as parts, and what to do for LightGBM.

XGBoost keeps the state of its samplers out of every file that it writes. So a booster is loaded from its own state at
each ``save``: the training that goes on begins its samplers anew there, and so does the one that resumes. A training
that saves at other rounds, or never, has other trees. Samplers that begin anew from the number of the round need
``seed_per_iteration=1``; without it a booster that samples is refused.

Not covered: the state of callbacks of ``xgboost.train``, such as early stopping (loop over ``Booster.update``, and keep
the best score in a dict that is a target); the updater ``shotgun``, which varies from run to run; and a model that
somebody forged: XGBoost's reader may end the process. A LightGBM booster cannot be put back while it trains: train in
stretches, as the error says.

Invariant: after ``save``, the booster is what ``resume`` makes of the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from twice.errors import CheckpointUnfit
from twice.integrations.checkpoints.parts import Part, TargetPart
from twice.integrations.checkpoints.trees import MISFITS

_SAMPLING = ("subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode")


class BoosterPart(TargetPart):
    """An ``xgboost.Booster`` that a loop over ``update(data, round)`` trains."""

    is_renewed = True

    @property
    def device(self) -> str:  # type: ignore[override]
        """Where the booster computes."""
        found = json.loads(self._read_config())["learner"]["generic_param"]["device"]
        return str(found).partition(":")[0]

    def read(self) -> object:
        """Return the model and the configuration.

        Raises:
            CheckpointUnfit: E-CHECKPOINT-003: the booster samples, and not from the number of the round.
        """
        config = self._read_config()
        plain = json.loads(config)
        samples = sorted(dict.fromkeys(_list_samplers(plain)))
        if samples and plain["learner"]["generic_param"]["seed_per_iteration"] in ("0", "false"):
            raise CheckpointUnfit(
                f"{self.name} samples ({', '.join(samples)}) from a generator that XGBoost does not save.",
                "Expected a booster that samples from the number of the round.",
                "Add seed_per_iteration=1 to its parameters.",
                part=self.name,
            )
        return {"model": bytes(self.target.save_raw("ubj")), "config": config}

    def write(self, state: object) -> None:
        """Put model and configuration back."""
        plain: Any = state
        # A booster reads its first parameters when it is first asked; they would come over those of the state.
        self._read_config()
        try:
            model, config = plain["model"], plain["config"]
            if not isinstance(model, bytes) or not model.startswith(b"{"):
                raise ValueError("its model is none")
            if json.loads(config).keys() != {"learner", "version"}:
                raise ValueError("its configuration is none")
            self.target.load_model(bytearray(model))
            self.target.load_config(config)
        except MISFITS as error:
            raise self.refuse(
                f"is not one of a booster ({error})", "what read() returned"
            ) from error

    def _read_config(self) -> str:
        try:
            return str(self.target.save_config())
        except ValueError as error:
            raise CheckpointUnfit(
                f"{self.name} is a booster without data.",
                "Expected one that knows its number of columns.",
                "Make it with its data: xgboost.Booster(parameters, [data]).",
                part=self.name,
            ) from error


def find_parts(name: str, target: object) -> dict[str, Part]:
    """Return the part of an XGBoost booster.

    Raises:
        CheckpointUnfit: E-CHECKPOINT-003: the booster is one of LightGBM, or an estimator that makes boosters.
    """
    library = type(target).__module__.partition(".")[0]
    if type(target).__name__ == "Booster" and library == "xgboost":
        return {name: BoosterPart(name, target)}
    if type(target).__name__ in ("Booster", "Dataset") or hasattr(target, "fit"):
        raise CheckpointUnfit(
            f"{name} is a {type(target).__name__} of {library}, which makes a new booster to continue from an old one.",
            "Expected an xgboost.Booster that a loop over update() trains, or a dict that holds the model as text.",
            "Train in stretches, each from the model of the last one: lightgbm.train(params | {'seed': seed + round}, "
            "data, 10, init_model=lightgbm.Booster(model_str=kept['model'])), put model_to_string() into the dict, "
            "and pass that dict.",
            part=name,
        )
    return {}


def _list_samplers(config: object) -> Iterator[str]:
    """Return the names of settings of a configuration that make a booster draw."""
    if isinstance(config, list):
        for item in config:
            yield from _list_samplers(item)
    if not isinstance(config, dict):
        return
    for key, value in config.items():
        is_drawing = (
            (key in _SAMPLING and float(value) != 1)
            or (key == "name" and value == "dart")
            or (key == "feature_selector" and value not in ("cyclic", "0"))
        )
        if is_drawing:
            yield key if key != "name" else "dart"
        yield from _list_samplers(value)
