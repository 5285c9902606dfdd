"""Normal draws and an exponential in JAX."""

import jax
import jax.numpy as jnp

draws = jax.random.normal(jax.random.key(0), (1000,))
print("draws", [float(value).hex() for value in draws[:6]])
print("sum", float(jnp.exp(draws).sum()).hex())
