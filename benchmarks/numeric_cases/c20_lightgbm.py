"""LightGBM on 60,000 rows with outliers: histograms are added by thread."""

import lightgbm
import numpy as np

rng = np.random.default_rng(0)
rows = rng.random((60_000, 10))
target = rows[:, 0] * 2 + np.sin(rows[:, 1] * 6) + 1e3 * (rows[:, 2] > 0.999)
data = lightgbm.Dataset(rows, target)
settings = {"objective": "regression", "verbose": -1, "seed": 0, "num_leaves": 63}
model = lightgbm.train(settings, data, 8)
print("predictions", [value.hex() for value in model.predict(rows[:20])])
