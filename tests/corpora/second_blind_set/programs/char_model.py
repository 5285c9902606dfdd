"""A character model of a short text, trained by plain numpy, that writes a line now and then."""

import numpy as np

TEXT = (
    "the sea was grey and the boats lay low; nobody spoke of the storm, "
    "and the gulls went inland before the bells began to ring."
)


class Vocabulary:
    def __init__(self, text):
        self.chars = list(set(text))
        self.index = {char: number for number, char in enumerate(self.chars)}

    def __len__(self):
        return len(self.chars)

    def encode(self, text):
        return [self.index[char] for char in text]

    def decode(self, numbers):
        return "".join(self.chars[number] for number in numbers)


def softmax(scores):
    shifted = np.exp(scores - scores.max())
    return shifted / shifted.sum()


class Bigram:
    """One hidden layer between a letter and the next."""

    def __init__(self, size, rng, hidden=12, rate=0.2):
        self.embed = rng.normal(0, 0.3, size=(size, hidden))
        self.out = rng.normal(0, 0.3, size=(hidden, size))
        self.rate = rate
        self.loss = float(np.log(size))
        self.steps = 0

    def learn(self, here, there):
        hidden = np.tanh(self.embed[here])
        chance = softmax(hidden @ self.out)
        self.loss += 0.02 * (float(-np.log(chance[there])) - self.loss)
        chance[there] -= 1.0
        back = (self.out @ chance) * (1 - hidden**2)
        self.out -= self.rate * np.outer(hidden, chance)
        self.embed[here] -= self.rate * back
        self.steps += 1

    def dream(self, start, length, rng):
        letters = [start]
        for _ in range(length):
            chance = softmax(np.tanh(self.embed[letters[-1]]) @ self.out)
            letters.append(int(rng.choice(len(chance), p=chance)))
        return letters


def main(run):
    vocabulary = Vocabulary(TEXT)
    model = Bigram(len(vocabulary), run.rng("weights"))
    run.track("model", model, fields=["loss", "steps"])
    diary = run.track("diary", [])
    muse = run.rng("muse")
    numbers = vocabulary.encode(TEXT)
    for epoch in run.ticks(20):
        for here, there in zip(numbers, numbers[1:]):
            model.learn(here, there)
        if epoch % 5 == 4:
            diary.append(vocabulary.decode(model.dream(numbers[0], 24, muse)))
