"""XGBoost with samples of rows. ``own`` saves the model after each round and goes on from it."""

import os
import sys

import numpy as np
import xgboost

OWN = "own" in sys.argv
rng = np.random.default_rng(0)
x = rng.normal(size=(400, 6))
data = xgboost.DMatrix(x, label=(x.sum(1) > 0).astype(int))
settings = {"objective": "binary:logistic", "max_depth": 3, "subsample": 0.5, "seed": 1}


class Save(xgboost.callback.TrainingCallback):
    def after_iteration(self, model, _epoch, _logs):
        model.save_model("last.json")
        return False


if OWN:
    before = xgboost.Booster(model_file="last.json") if os.path.exists("last.json") else None
    done = before.num_boosted_rounds() if before is not None else 0
    booster = xgboost.train(settings, data, 24 - done, xgb_model=before, callbacks=[Save()])
else:
    from twice.integrations.checkpoints import Checkpoint

    booster = xgboost.Booster({**settings, "seed_per_iteration": 1}, [data])
    checkpoint = Checkpoint("last.ckpt", booster=booster)
    for number in range(checkpoint.resume(), 24):
        booster.update(data, number)
        checkpoint.save(number + 1)
booster.save_model("final.json")
