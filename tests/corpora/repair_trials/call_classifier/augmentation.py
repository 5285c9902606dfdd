"""Changes that make a call sound as if another microphone had heard it."""

import numpy as np


class Augmenter:
    """Shifts spectra by a bin or two and adds noise.

    Attributes:
        generator: decides how far each spectrum is shifted.
        noise: the deviation of the noise; 0 adds none.
    """

    def __init__(self, generator: np.random.Generator, noise: float, shift: int) -> None:
        self.generator = generator
        self.noise = noise
        self.shift = shift

    def apply(self, spectra: np.ndarray) -> np.ndarray:
        """Return changed copies of spectra."""
        steps = self.generator.integers(-self.shift, self.shift + 1, size=len(spectra))
        moved = np.stack([np.roll(row, step) for row, step in zip(spectra, steps)])
        return moved + self._hiss(moved.shape)

    def _hiss(self, shape: tuple[int, ...]) -> np.ndarray:
        colour = np.linspace(1.0, 0.4, shape[-1])
        return np.random.normal(0.0, 1.0, shape) * colour * self.noise
