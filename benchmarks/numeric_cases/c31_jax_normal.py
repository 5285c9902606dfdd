"""Normal draws and their exponentials in JAX."""

import jax
import jax.numpy as jnp
import numpy as np

draws = jax.random.normal(jax.random.key(0), (1000,))
print("draws", float(np.asarray(draws, np.float64).sum()).hex())
print("grown", float(np.asarray(jnp.exp(draws), np.float64).sum()).hex())
