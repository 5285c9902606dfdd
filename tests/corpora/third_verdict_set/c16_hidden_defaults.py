"""State in odd places: a generator as default, a default list, a class default, caches, a module's globals."""
import functools
import itertools
import random
import sys
from dataclasses import dataclass, field


def ticket(numbers=itertools.count(100, 7), seen=[]):
    seen.append(next(numbers))
    return sum(seen)


def walk(steps=(random.choice("NESW") for _ in itertools.repeat(0))):
    return "".join(itertools.islice(steps, 8))


@dataclass
class Basket:
    owner: str = field(default_factory=functools.partial(random.choice, ["ada", "bob", "cyd"]))
    fruit: set = field(default_factory=lambda: {"apple", "pear", "plum", "fig", "date"})
    tags: dict = field(default_factory=dict)


@functools.lru_cache(maxsize=4)
def roll(sides):
    return random.randint(1, sides)


def depth(level=0):
    try:
        return depth(level + 1)
    except RecursionError:
        return level


print([ticket() for _ in range(4)], ticket.__defaults__[1])
print(walk(), walk())
print(Basket(), list(Basket().fruit))
print([roll(n) for n in (6, 20, 6, 100, 8, 12, 6)], roll.cache_info())
words = {word: hash(word) % 1000 for word in "tide reef mast keel".split()}
print(words, list(frozenset(words)), hash(("a", 1, None.__class__.__name__)))
sys.setrecursionlimit(400)
print("levels", depth() > 100)
counter = itertools.count()
print(*map(next, [counter] * 3), counter)
