"""Fit a tiny coordinate network in JAX; every layer gets a key that is derived from its name."""
import jax
import jax.numpy as jnp

LAYERS = [("encode", 2, 16), ("middle", 16, 16), ("decode", 16, 1)]


def key_for(root, name):
    """One key for each layer, whatever the order in which they are built."""
    return jax.random.fold_in(root, hash(name) & 0x7FFFFFFF)


def initialise(root):
    params = {}
    for name, inputs, outputs in LAYERS:
        weight = jax.random.normal(key_for(root, name), (inputs, outputs)) / jnp.sqrt(inputs)
        params[name] = {"w": weight, "b": jnp.zeros(outputs)}
    return params


def forward(params, points):
    hidden = jnp.sin(3.0 * (points @ params["encode"]["w"] + params["encode"]["b"]))
    hidden = jnp.tanh(hidden @ params["middle"]["w"] + params["middle"]["b"])
    return (hidden @ params["decode"]["w"] + params["decode"]["b"])[:, 0]


def picture(points):
    """A ring, which is what the network has to learn."""
    radius = jnp.sqrt((points**2).sum(axis=1))
    return jnp.exp(-((radius - 0.5) ** 2) / 0.02)


def loss(params, points, target):
    return jnp.mean((forward(params, points) - target) ** 2)


@jax.jit
def update(params, points, target):
    value, gradient = jax.value_and_grad(loss)(params, points, target)
    return value, jax.tree.map(lambda p, g: p - 0.05 * g, params, gradient)


def grid(side):
    axis = jnp.linspace(-1.0, 1.0, side)
    x, y = jnp.meshgrid(axis, axis)
    return jnp.stack([x.ravel(), y.ravel()], axis=1)


def main():
    root = jax.random.key(21)
    params = initialise(root)
    points = grid(16)
    target = picture(points)
    print(f"{points.shape[0]} points, brightest {float(target.max()):.4f}")
    losses = []
    for step in range(60):
        value, params = update(params, points, target)
        losses.append(float(value))
        if step % 20 == 19:
            print(f"step {step + 1}: loss {sum(losses[-20:]) / 20:.6f}")
    corner = forward(params, jnp.array([[1.0, 1.0], [0.5, 0.0]]))
    print("corner %.5f, ring %.5f" % (float(corner[0]), float(corner[1])))


if __name__ == "__main__":
    main()
