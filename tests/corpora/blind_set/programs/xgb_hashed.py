"""Spam in a mailbox: words are hashed into columns, and a small boosted model learns from them."""

import random
import re

import numpy as np
import xgboost as xgb

SPAM = ("win", "prize", "cheap", "pills", "offer", "credit", "free", "bonus")
HAM = ("lunch", "meeting", "report", "train", "garden", "dinner", "invoice", "school")
BOTH = ("today", "please", "now", "the", "for", "and", "you", "with")


def letter(rng, spam):
    pool = (SPAM if spam else HAM) + BOTH
    other = HAM if spam else SPAM
    words = [rng.choice(pool) for _ in range(9)] + [rng.choice(other) for _ in range(3)]
    rng.shuffle(words)
    return " ".join(words)


class Hasher:
    """Text into a row of so many columns; no vocabulary is kept."""

    def __init__(self, columns):
        self.columns = columns
        self.seen = set()

    def column(self, word):
        return hash(("word", word)) % self.columns  # guilty

    def row(self, text):
        out = np.zeros(self.columns)
        for word in re.findall(r"[a-z]+", text.lower()):  # innocent
            self.seen.add(word)
            out[self.column(word)] += 1.0
        return out

    def matrix(self, texts):
        return np.stack([self.row(text) for text in texts])


def mailbox(rng, count):
    labels = [k % 3 == 0 for k in range(count)]
    return [letter(rng, spam) for spam in labels], np.array(labels, dtype=float)


def main():
    rng, arrivals = random.Random(17), random.Random(18)
    texts, labels = mailbox(rng, 160)
    check, truth = mailbox(rng, 30)
    print("letters", len(texts), "of them spam", int(labels.sum()))
    print("arrivals", " ".join(str(arrivals.randrange(60)) for _ in range(8)))
    hasher = Hasher(columns=14)
    train = xgb.DMatrix(hasher.matrix(texts), label=labels)
    print("words", len(hasher.seen), "longest", max(sorted(hasher.seen), key=len))  # innocent
    settings = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.3, "nthread": 1, "seed": 5}
    model = xgb.train(settings, train, num_boost_round=12)  # innocent
    scores = model.predict(xgb.DMatrix(hasher.matrix(check)))
    wrong = int(((scores > 0.5) != (truth > 0.5)).sum())
    print("wrong", wrong, "of", len(check))
    for k in range(4):
        print(f"letter {k}: {scores[k]:.5f}", check[k].split()[0])


if __name__ == "__main__":
    main()
