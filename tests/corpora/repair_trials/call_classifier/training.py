"""The training loop."""

from dataclasses import dataclass

import numpy as np

from augmentation import Augmenter
from calls import BINS, SPECIES, make_calls, split
from model import Model


@dataclass(frozen=True)
class Result:
    """A trained model, the loss of each epoch, and the accuracy on the test rows."""

    model: Model
    losses: list[float]
    accuracy: float


def train(settings: dict) -> Result:
    """Train a model as the settings say."""
    data, start, order, change = np.random.SeedSequence(settings["seed"]).spawn(4)
    spectra, labels = make_calls(settings["calls"], np.random.default_rng(data))
    training, test = split(labels, 0.8)
    model = Model(BINS, settings["hidden"], len(SPECIES), np.random.default_rng(start))
    shuffle = np.random.default_rng(order)
    augmenter = Augmenter(np.random.default_rng(change), settings["noise"], settings["shift"])

    losses = []
    for _ in range(settings["epochs"]):
        places = shuffle.permutation(training)
        batches = np.array_split(places, max(1, len(places) // settings["batch"]))
        total = [
            model.step(augmenter.apply(spectra[batch]), labels[batch], settings["rate"])
            for batch in batches
        ]
        losses.append(sum(total) / len(total))
    guesses = model.predict(spectra[test]).argmax(axis=1)
    return Result(model, losses, float((guesses == labels[test]).mean()))
