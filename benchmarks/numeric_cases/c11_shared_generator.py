"""Two walks draw from one generator: a neighbour's length moves the other."""

import numpy as np


def walk(lengths):
    rng = np.random.default_rng(7)
    places = [0.0] * len(lengths)
    for step in range(max(lengths)):
        for number, length in enumerate(lengths):
            if step < length:
                places[number] += float(rng.standard_normal())
    return places[0]


print("neighbour 10", walk([50, 10]).hex())
print("neighbour 11", walk([50, 11]).hex())
