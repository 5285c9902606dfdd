"""Weights are mapped from a file; one is changed later, and size and times of the file stay as they were."""
import os

import numpy as np

weights = np.load("weights.npy", mmap_mode="r")
inputs = np.linspace(0, 1, weights.shape[1])
scores = weights @ inputs
print("size", os.path.getsize("weights.npy"))
print("class", int(np.argmax(scores)))
print("scores", scores.tolist())
