"""Sums by group in Arrow, whose threads take the chunks."""

import numpy as np
import pyarrow as pa

rng = np.random.default_rng(0)
keys, values = rng.integers(0, 2000, 1_000_000), rng.random(1_000_000) - 0.5
chunks = range(0, 1_000_000, 50_000)
table = pa.table(
    {
        "key": pa.chunked_array([keys[start : start + 50_000] for start in chunks]),
        "value": pa.chunked_array([values[start : start + 50_000] for start in chunks]),
    }
)
sums = table.group_by("key").aggregate([("value", "sum")]).sort_by("key")["value_sum"]
print("sums", [value.hex() for value in sums.to_pylist()[:40]])
