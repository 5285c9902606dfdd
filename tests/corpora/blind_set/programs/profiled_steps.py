"""A sandpile: grains fall, topple, and fall off; steps may be timed for the one who is curious."""

import os
import random
import time


class Profile:
    """Seconds by step, if the variable is set; where they go is up to a debugger."""

    def __init__(self):
        self.wanted = os.environ.get("SANDPILE_PROFILE", "") == "1"  # innocent
        self.spent = {}

    def __call__(self, name, function, *args):
        if not self.wanted:
            return function(*args)
        begin = time.perf_counter()  # innocent
        result = function(*args)
        self.spent[name] = self.spent.get(name, 0.0) + time.perf_counter() - begin  # innocent
        return result


class Pile:
    def __init__(self, side):
        self.side = side
        self.grains = [0] * (side * side)
        self.lost = 0

    def drop(self, at):
        self.grains[at] += 1
        return [at] if self.grains[at] > 3 else []

    def neighbours(self, at):
        row, column = divmod(at, self.side)
        for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if 0 <= r < self.side and 0 <= c < self.side:
                yield r * self.side + c
            else:
                self.lost += 1

    def topple(self, todo):
        count = 0
        while todo:
            at = todo.pop()
            if self.grains[at] < 4:
                continue
            self.grains[at] -= 4
            count += 1
            for other in self.neighbours(at):
                self.grains[other] += 1
                if self.grains[other] > 3:
                    todo.append(other)
        return count


def main():
    rng, wind = random.Random(44), random.Random(45)
    pile, profile = Pile(side=12), Profile()
    sizes = []
    for step in range(900):
        at = rng.randrange(len(pile.grains))
        todo = profile("drop", pile.drop, at)
        sizes.append(profile("topple", pile.topple, todo))
        if step % 150 == 149:
            print(f"step {step + 1}: grains {sum(pile.grains)}, lost {pile.lost}, wind {wind.random():.3f}")
    kinds = {size for size in sizes if size}
    print("avalanches", sum(size > 0 for size in sizes), "largest", max(sizes))
    print("sizes", sorted(kinds)[:10])  # innocent
    if len(profile.spent) > 2:
        raise RuntimeError("more steps than are known")


if __name__ == "__main__":
    main()
