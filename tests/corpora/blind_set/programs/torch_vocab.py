"""A bag-of-words classifier for recipes, with an embedding, trained for a few epochs."""

import random

import torch
from torch import nn

DISHES = {
    0: ("flour yeast salt oven crust", "flour butter sugar oven cake", "yeast water flour knead oven"),
    1: ("stock onion leek simmer bowl", "tomato onion basil simmer cream", "leek potato stock salt bowl"),
    2: ("ice cream mint sugar glass", "lemon ice water sugar glass", "mint lemon syrup ice shake"),
}


def recipes(rng, count):
    rows = []
    for _ in range(count):
        label = rng.randrange(3)
        words = rng.choice(DISHES[label]).split()
        words[rng.randrange(len(words))] = "salt"
        rows.append((words, label))
    return rows


class Vocabulary:
    """A number for each word; 0 is for words that were never seen."""

    def __init__(self, rows):
        known = set()
        for words, _ in rows:
            known.update(words)
        self.index = {word: k for k, word in enumerate(known, start=1)}  # guilty

    def __len__(self):
        return len(self.index) + 1

    def encode(self, words):
        return torch.tensor([self.index.get(word, 0) for word in words])  # innocent


class Classifier(nn.Module):
    def __init__(self, words, width, classes):
        super().__init__()
        self.embed = nn.EmbeddingBag(words, width, mode="mean")
        self.out = nn.Linear(width, classes)

    def forward(self, batch):
        return self.out(torch.tanh(self.embed(batch)))


def batches(rng, rows, size):
    order = list(range(len(rows)))
    rng.shuffle(order)  # innocent
    for start in range(0, len(order), size):
        yield [rows[k] for k in order[start : start + size]]


def main():
    torch.manual_seed(12)
    torch.set_num_threads(1)
    rng = random.Random(12)
    rows = recipes(rng, 48)
    vocabulary = Vocabulary(rows)
    model = Classifier(len(vocabulary), 6, 3)  # innocent
    optimiser = torch.optim.SGD(model.parameters(), lr=0.5)
    print("rows", len(rows), "words", len(vocabulary) - 1)
    for epoch in range(4):
        total = 0.0
        for batch in batches(rng, rows, 16):
            x = torch.stack([vocabulary.encode(words) for words, _ in batch])
            y = torch.tensor([label for _, label in batch])
            loss = nn.functional.cross_entropy(model(x), y)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total:.6f}")


if __name__ == "__main__":
    main()
