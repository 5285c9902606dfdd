"""Spectra of recorded calls, made up from the songs of four birds."""

import numpy as np

BINS = 24
SPECIES = ("tern", "plover", "curlew", "dunlin")


def make_calls(count: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return spectra (count, BINS) and the index of each one's species."""
    labels = generator.integers(len(SPECIES), size=count)
    centres = 4.0 + 5.0 * labels + generator.normal(0.0, 1.6, count)
    bins = np.arange(BINS)
    spectra = np.exp(-((bins[None] - centres[:, None]) ** 2) / 12.0)
    return spectra + generator.normal(0.0, 0.15, spectra.shape), labels


def split(labels: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the training and test rows, with all species in both."""
    training: list[int] = []
    for species in sorted(set(labels.tolist())):
        places = np.flatnonzero(labels == species)
        training.extend(places[: int(len(places) * share)].tolist())
    training.sort()
    return np.array(training), np.setdiff1d(np.arange(len(labels)), training)
