"""Random search over lens stacks with JAX: designs are sampled, traced, refined by gradient, and the best kept."""

import jax
import jax.numpy as jnp
import numpy as np

GLASSES = {"BK7": 1.5168, "SF11": 1.7847, "F2": 1.6200, "LAK9": 1.6910, "PMMA": 1.4918}
SURFACES = 3
KEPT = 4


class Catalogue:
    """Glasses by name; a design holds names, the tracer needs indices of refraction."""

    def __init__(self, glasses):
        self.glasses = dict(glasses)
        self.uses = {name: 0 for name in set(glasses)}
        self.cache = {}

    def take(self, names):
        for name in frozenset(names):
            self.uses[name] += 1
        key = tuple(names)
        if key not in self.cache:
            self.cache[key] = jnp.array([self.glasses[name] for name in names])
        return self.cache[key]

    def common(self):
        return sorted(self.uses, key=lambda name: (-self.uses[name], name))[:2]

    def unused(self):
        return {name for name, number in self.uses.items() if not number}


@jax.jit
def blur(curvature, index):
    """How far rays of several heights miss each other behind the stack."""

    def through(carry, surface):
        height, slope = carry
        c, n = surface
        bent = slope - height * c * (n - 1.0) - 0.02 * height**3 * c
        return (height + 0.4 * bent, bent), None

    heights = jnp.linspace(0.1, 1.0, 9)
    (height, slope), _ = jax.lax.scan(through, (heights, jnp.zeros_like(heights)), (curvature, index))
    focus = -height / jnp.where(jnp.abs(slope) < 1e-6, -1e-6, slope)
    return jnp.var(focus) + 0.1 * (focus.mean() - 4.0) ** 2


refine = jax.jit(jax.grad(blur))


class Archive:
    """The best designs so far; one per set of glasses."""

    def __init__(self):
        self.best = {}
        self.rejected = set()

    def offer(self, names, curvature, value):
        key = frozenset(names)
        known = self.best.get(key)
        if known is None or value < known[0]:
            self.best[key] = (value, names, curvature)
        else:
            self.rejected.add((round(value, 9), names))

    def trim(self):
        ranked = sorted(self.best.items(), key=lambda item: (item[1][0], item[1][1]))
        for key, _ in ranked[KEPT:]:
            del self.best[key]

    def parents(self):
        order = sorted(self.best, key=lambda key: self.best[key][1])
        return [self.best[key] for key in order]


def main():
    rng, catalogue, archive = np.random.default_rng(12), Catalogue(GLASSES), Archive()
    names = sorted(catalogue.uses)
    key = jax.random.key(4)
    for generation in range(8):
        key, here = jax.random.split(key)
        noise = jax.random.normal(here, (10, SURFACES))
        parents = archive.parents()
        for place in range(10):
            if parents and place % 2:
                _, chosen, curvature = parents[int(rng.integers(len(parents)))]
                curvature = curvature + 0.05 * noise[place]
            else:
                chosen = tuple(str(name) for name in rng.choice(names, SURFACES))
                curvature = 0.3 + 0.2 * noise[place]
            index = catalogue.take(chosen)
            for _ in range(3):
                curvature = curvature - 0.02 * jnp.clip(refine(curvature, index), -1.0, 1.0)
            archive.offer(chosen, curvature, float(blur(curvature, index)))
        archive.trim()
        print(f"generation {generation}: {len(archive.best)} kept, {len(archive.rejected)} rejected")
    for value, chosen, curvature in sorted(archive.parents(), key=lambda entry: entry[0]):
        print(f"{'+'.join(chosen):16s} {value:.6f}  {np.round(np.asarray(curvature), 4).tolist()}")
    print(f"most used {catalogue.common()}, never used {len(catalogue.unused())}")


if __name__ == "__main__":
    main()
