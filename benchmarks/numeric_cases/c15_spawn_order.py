"""Streams by position: a new component moves the streams of those behind it."""

import numpy as np


def streams(names):
    children = np.random.SeedSequence(1).spawn(len(names))
    return {
        name: np.random.default_rng(child).random()
        for name, child in zip(names, children, strict=True)
    }


print("before", streams(["env", "policy"])["policy"].hex())
print("after", streams(["env", "augment", "policy"])["policy"].hex())
