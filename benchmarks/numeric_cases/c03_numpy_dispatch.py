"""Exponentials, and the order of equal keys in a default sort."""

import numpy as np

rng = np.random.default_rng(0)
values = rng.random(10_000) - 0.5
print("exp", float(np.exp(values.astype(np.float32) * 20).sum(dtype=np.float64)).hex())
print("tan", float(np.tan(values).sum()).hex())
print("ties", np.argsort(np.round(values, 2))[:12].tolist())
