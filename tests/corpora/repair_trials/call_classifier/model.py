"""A network with one hidden layer, and its gradients."""

import numpy as np


class Model:
    """Two layers: tanh, then softmax."""

    def __init__(self, n_in: int, n_hidden: int, n_out: int, generator: np.random.Generator) -> None:
        self.weights_in = generator.normal(0.0, n_in**-0.5, (n_in, n_hidden))
        self.weights_out = generator.normal(0.0, n_hidden**-0.5, (n_hidden, n_out))

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return the probability of each class."""
        scores = np.tanh(rows @ self.weights_in) @ self.weights_out
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def step(self, rows: np.ndarray, labels: np.ndarray, rate: float) -> float:
        """Move the weights against the gradient, and return the loss before."""
        hidden = np.tanh(rows @ self.weights_in)
        chances = self.predict(rows)
        loss = float(-np.log(chances[np.arange(len(rows)), labels] + 1e-12).mean())
        error = chances
        error[np.arange(len(rows)), labels] -= 1.0
        error /= len(rows)
        back = (error @ self.weights_out.T) * (1.0 - hidden**2)
        self.weights_out -= rate * hidden.T @ error
        self.weights_in -= rate * rows.T @ back
        return loss
