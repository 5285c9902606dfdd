"""Fits growth laws, written as formulas, to measured series: a few random starts each, best one wins."""

import time

import numpy as np
import sympy
from scipy.optimize import least_squares

FORMULAS = {
    "logistic": "cap / (1 + exp(-rate * (t - mid)))",
    "gompertz": "cap * exp(-shift * exp(-rate * t))",
    "bump": "base + height * exp(-((t - mid) / wide)**2)",
    "power": "base + cap * (t + 1)**slope",
}
BOUNDS = {
    "cap": (0.5, 8.0), "rate": (0.05, 3.0), "mid": (0.0, 10.0), "shift": (0.5, 9.0),
    "base": (-1.0, 2.0), "height": (0.2, 6.0), "wide": (0.3, 4.0), "slope": (-0.5, 1.2),
}


class Law:
    """A formula in t, compiled, with its derivatives."""

    def __init__(self, name, text):
        self.name = name
        self.expr = sympy.sympify(text)
        self.t = sympy.Symbol("t")
        self.parameters = list(self.expr.free_symbols - {self.t})
        self.call = sympy.lambdify([self.t, *self.parameters], self.expr, "numpy")
        slopes = [self.expr.diff(p) for p in self.parameters]
        self.slopes = [sympy.lambdify([self.t, *self.parameters], s, "numpy") for s in slopes]

    @property
    def names(self):
        return [p.name for p in self.parameters]

    def limits(self):
        return np.array([BOUNDS[name] for name in self.names]).T

    def residuals(self, values, t, y):
        return self.call(t, *values) - y

    def jacobian(self, values, t, y):
        return np.stack([np.broadcast_to(s(t, *values), t.shape) for s in self.slopes], axis=1)


class Series:
    def __init__(self, name, t, y):
        self.name, self.t, self.y = name, t, y


def measure(rng):
    t = np.linspace(0, 10, 30)
    truths = {
        "yeast": 5 / (1 + np.exp(-1.2 * (t - 4))),
        "algae": 4 * np.exp(-5 * np.exp(-0.6 * t)),
        "bloom": 0.3 + 3 * np.exp(-(((t - 6) / 1.5) ** 2)),
    }
    return [Series(name, t, y + 0.05 * rng.standard_normal(30)) for name, y in truths.items()]


def starts(law, rng, number):
    low, high = law.limits()
    return [low + (high - low) * rng.random(len(low)) for _ in range(number)]


def fit(law, series, rng):
    low, high = law.limits()
    best, used = None, 0
    for start in starts(law, rng, 2):
        found = least_squares(
            law.residuals, start, law.jacobian, bounds=(low, high), args=(series.t, series.y), max_nfev=12
        )
        used += found.nfev
        if best is None or found.cost < best.cost:
            best = found
    return best, used


def main():
    began = time.perf_counter()
    rng = np.random.default_rng(2024)
    laws = [Law(name, text) for name, text in FORMULAS.items()]
    tried = {name for law in laws for name in law.names}
    print(f"{len(laws)} laws over {len(tried)} parameters: {', '.join(sorted(tried))}")
    total = 0
    for series in measure(rng):
        print(f"{series.name}: {len(series.t)} points, highest {series.y.max():.4f}")
        ranking = []
        for law in laws:
            best, used = fit(law, series, rng)
            total += used
            named = dict(zip(law.names, best.x))
            ranking.append((best.cost, law.name, named))
        ranking.sort(key=lambda entry: entry[:2])
        for cost, name, named in ranking[:2]:
            told = " ".join(f"{key}={named[key]:.3f}" for key in sorted(named))
            print(f"  {name:9s} cost {cost:.5f}  {told}")
    print(f"{total} evaluations" + (" (slow machine)" if time.perf_counter() - began > 600 else ""))


if __name__ == "__main__":
    main()
