"""Orders that follow the hash seed, pickles, and fractions: words in sets."""
import collections
import heapq
import pickle
from fractions import Fraction

TEXT = """the quick brown fox jumps over the lazy dog while the small grey cat looks at the moon
and the dog barks at the cat under the old oak near the river where the fox drinks"""

words = set(TEXT.split())
print(list(words)[:8])
print("first by chance:", next(iter(words)), "popped:", words.pop())
print(hash("fox") % 1000, hash(("dog", 3)) % 1000, {w[0] for w in words})
print(frozenset({"north", "south", "east", "west"}))

counts = collections.Counter(TEXT.split())
print(counts.most_common(4))
shares = {w: Fraction(n, counts.total()) for w, n in counts.items() if n > 1}
print(shares, sum(shares.values()))

heap = [(len(w), w) for w in words]
heapq.heapify(heap)
print([heapq.heappop(heap)[1] for _ in range(5)])

blob = pickle.dumps({"words": words, "by length": {n: {w for w in words if len(w) == n} for n in (3, 4)}})
with open("words.pickle", "wb") as file:
    file.write(blob)
print(len(blob), list(pickle.loads(blob)["by length"][3]))

graph = collections.defaultdict(set)
line = TEXT.split()
for a, b in zip(line, line[1:]):
    graph[a].add(b)
walk, here = ["the"], "the"
while graph[here] and len(walk) < 12:
    here = graph[here].pop()
    walk.append(here)
print(" ".join(walk))
