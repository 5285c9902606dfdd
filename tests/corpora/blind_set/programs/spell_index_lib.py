"""An index by parts of three letters, and the corrections that it proposes."""

from collections import defaultdict


def parts(word):
    padded = f"^{word}$"
    return [padded[i : i + 3] for i in range(len(padded) - 2)]


def edits_of(word):
    """All words with one letter left out; a set, since doubles are one."""
    return {word[:i] + word[i + 1 :] for i in range(len(word))}


class Index:
    def __init__(self, words):
        self.known = frozenset(words)
        self.by_part = defaultdict(set)
        for word in words:
            for part in parts(word):
                self.by_part[part].add(word)

    def candidates(self, typed):
        votes = defaultdict(int)
        for part in parts(typed):
            for word in sorted(self.by_part.get(part, ())):  # innocent
                votes[word] += 1
        top = max(votes.values(), default=0)
        return {word for word in votes if votes[word] >= top - 1}

    def correct(self, typed):
        """The word itself, or one that shares most parts with it."""
        if typed in self.known:
            return typed
        found = self.candidates(typed)
        return next(iter(found), None)  # guilty
