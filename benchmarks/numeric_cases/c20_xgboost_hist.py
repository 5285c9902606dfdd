"""XGBoost's histograms on 60,000 rows with outliers."""

import numpy as np
import xgboost

rng = np.random.default_rng(0)
rows = rng.random((60_000, 10))
target = rows[:, 0] * 2 + rng.random(60_000) * 0.1 + 1e3 * (rows[:, 2] > 0.999)
model = xgboost.train({"seed": 0, "tree_method": "hist"}, xgboost.DMatrix(rows, target), 10)
leaves = model.predict(xgboost.DMatrix(rows[:500]))
print("sum", float(leaves.astype(np.float64).sum()).hex())
