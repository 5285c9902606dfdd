"""Derives the rate equations of a reactor symbolically and fits their constants.

The expressions are turned into functions with lambdify; parameters are found by a short
coordinate search from a fixed start.
"""
import math

import sympy as sp

TIME = sp.Symbol("t", positive=True)
EXPRESSIONS = {
    "decay": "A*exp(-k*t) + c",
    "saturation": "vmax*t/(km + t) + c",
    "growth": "K/(1 + b*exp(-r*t))",
}
TRUTH = {"A": 2.0, "k": 0.7, "c": 0.3, "vmax": 3.0, "km": 1.5, "K": 4.0, "b": 5.0, "r": 1.1}


class Law:
    def __init__(self, name, text):
        self.name = name
        self.expression = sp.sympify(text, locals={"t": TIME})
        self.parameters = list(self.expression.free_symbols - {TIME})
        self.function = sp.lambdify([TIME, *self.parameters], self.expression, "math")

    def values(self, times, constants):
        return [self.function(time, *constants) for time in times]

    def truth(self):
        return [TRUTH[str(symbol)] for symbol in self.parameters]


def wobble(index):
    """A deterministic stand-in for noise."""
    return 0.02 * math.sin(12.9898 * index)


def misfit(law, times, seen, constants):
    return sum((a - b) ** 2 for a, b in zip(law.values(times, constants), seen))


def coordinate_search(law, times, seen, sweeps):
    """One parameter after the other, with a step that halves."""
    constants = [1.0] * len(law.parameters)
    best = misfit(law, times, seen, constants)
    step = 0.5
    for _ in range(sweeps):
        for place in range(len(constants)):
            for sign in (step, -step):
                trial = list(constants)
                trial[place] = max(0.05, trial[place] + sign)
                score = misfit(law, times, seen, trial)
                if score < best:
                    best, constants = score, trial
        step *= 0.75
    return best, dict(zip(map(str, law.parameters), constants))


def main():
    times = [0.25 * n for n in range(1, 24)]
    laws = [Law(name, text) for name, text in EXPRESSIONS.items()]
    print("laws:", ", ".join(law.name for law in laws))
    fitted = {}
    for law in laws:
        seen = [value + wobble(i) for i, value in enumerate(law.values(times, law.truth()))]
        fitted[law.name] = coordinate_search(law, times, seen, sweeps=9)
    for name, (score, constants) in sorted(fitted.items()):
        text = " ".join(f"{key}={value:.4f}" for key, value in sorted(constants.items()))
        print(f"{name:11s} misfit {score:.6f}  {text}")


main()
