"""Half of a generator's state is restored: the half-word in its buffer is lost."""

import numpy as np

source = np.random.default_rng(0)
source.integers(0, 2**31, dtype=np.uint32)
target = np.random.default_rng(1)
state = target.bit_generator.state
state["state"] = source.bit_generator.state["state"]
target.bit_generator.state = state
print("goes on", source.integers(0, 2**31, 3, dtype=np.uint32).tolist())
print("restored", target.integers(0, 2**31, 3, dtype=np.uint32).tolist())
