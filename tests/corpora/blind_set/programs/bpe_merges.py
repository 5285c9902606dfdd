"""Byte-pair encoding, trained a merge a tick, on a corpus that a small grammar makes."""

from collections import Counter

ONSETS = ("b", "br", "d", "f", "gr", "k", "l", "m", "pl", "s", "st", "t")
RIMES = ("a", "an", "ei", "el", "in", "o", "or", "u", "ul")


def corpus(rng, count):
    words = []
    for _ in range(count):
        parts = int(rng.integers(1, 4))
        words.append("".join(ONSETS[int(rng.integers(12))] + RIMES[int(rng.integers(9))] for _ in range(parts)))
    return words


class Trainer:
    """Words as tuples of symbols; each step joins a pair that stands in most words, in hundreds."""

    def __init__(self, words):
        self.symbols = {word: tuple(word) for word in words}
        self.lexicon = set(words)
        self.merges = []
        self.pairs_seen = 0

    def count(self):
        pairs = Counter()
        for word in self.lexicon:  # guilty
            symbols = self.symbols[word]
            for left, right in zip(symbols, symbols[1:]):
                pairs[left, right] += 1
        return pairs

    def step(self):
        pairs = self.count()
        self.pairs_seen = len(pairs)
        if not pairs:
            return None
        best = max(pairs, key=lambda pair: pairs[pair] // 100)
        self.merges.append(list(best))
        joined = "".join(best)
        for word, symbols in self.symbols.items():
            self.symbols[word] = merge(symbols, best, joined)
        return joined

    def state(self):
        return {"merges": [list(m) for m in self.merges], "pairs": self.pairs_seen}

    def restore(self, state):
        self.merges = [list(m) for m in state["merges"]]
        self.pairs_seen = state["pairs"]


def merge(symbols, pair, joined):
    out, i = [], 0
    while i < len(symbols):
        if symbols[i : i + 2] == pair:
            out.append(joined)
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return tuple(out)


def main(run):
    words = corpus(run.rng("corpus"), 5000)
    trainer = run.track("trainer", Trainer(words))
    stats = run.track("stats", {"tokens": 0, "longest": 0, "noise": 0.0})
    noise = run.rng("noise")
    first = sorted(set(words))[:50]  # innocent
    for _ in run.ticks(14):
        trainer.step()
        stats["tokens"] = sum(len(symbols) for symbols in trainer.symbols.values())  # innocent
        stats["longest"] = max(len(part) for word in first for part in trainer.symbols[word])
        stats["noise"] += float(noise.random())  # innocent
