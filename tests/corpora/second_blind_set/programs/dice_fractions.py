"""Exact odds of dice games: distributions are folded with fractions, whatever the order."""
from fractions import Fraction
from functools import reduce
from itertools import product

POOLS = {
    "sword": {"d6", "d8", "d10"},
    "bow": {"d4", "d12"},
    "fireball": {"d6", "d4", "d20", "d8"},
    "lockpick": {"d20"},
}
ARMOUR = {"cloth": 9, "leather": 12, "chain": 15, "plate": 19}


class Distribution:
    def __init__(self, chances):
        self.chances = chances

    @classmethod
    def die(cls, name):
        sides = int(name[1:])
        return cls({face: Fraction(1, sides) for face in range(1, sides + 1)})

    @classmethod
    def nothing(cls):
        return cls({0: Fraction(1)})

    def __add__(self, other):
        total = {}
        for (a, p), (b, q) in product(self.chances.items(), other.chances.items()):
            total[a + b] = total.get(a + b, Fraction(0)) + p * q
        return Distribution(total)

    def at_least(self, bound):
        return sum((chance for value, chance in self.chances.items() if value >= bound), Fraction(0))

    def mean(self):
        return sum((value * chance for value, chance in self.chances.items()), Fraction(0))


def pool(names):
    """All dice of a pool, thrown together."""
    return reduce(lambda total, name: total + Distribution.die(name), names, Distribution.nothing())


def blessed(distribution, extra):
    return distribution + Distribution({extra: Fraction(1, 2), 0: Fraction(1, 2)})


def table(weapons):
    yield "weapon    " + "".join(f"{name:>12s}" for name in ARMOUR)
    for weapon in sorted(weapons):
        odds = [weapons[weapon].at_least(bound) for bound in ARMOUR.values()]
        yield f"{weapon:10s}" + "".join(f"{str(chance):>12s}" for chance in odds)


def main():
    weapons = {weapon: pool(names) for weapon, names in POOLS.items()}
    for line in table(weapons):
        print(line)
    for line in table({name: blessed(weapon, 2) for name, weapon in weapons.items()}):
        print(line)
    print("means:", ", ".join(f"{name} {weapons[name].mean()}" for name in sorted(weapons)))


if __name__ == "__main__":
    main()
