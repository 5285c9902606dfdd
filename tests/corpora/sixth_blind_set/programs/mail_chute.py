"""Mail chute: postcodes are resolved through a small cache; a miss costs a trip to the register and some luck."""
from collections import deque
from functools import lru_cache, partial

REGISTER = {
    "AB": ("Aber", 4), "BT": ("Belt", 6), "CF": ("Card", 3), "DN": ("Donc", 5), "EX": ("Exet", 7),
    "GL": ("Glou", 2), "HU": ("Hull", 8), "IP": ("Ipsw", 3), "KY": ("Kirk", 9), "LN": ("Linc", 1),
}


class Register:
    """Slow paper register: each visit costs steps, and the clerk may be out."""

    def __init__(self, rnd):
        self.rnd = rnd
        self.steps = 0
        self.visits = 0

    def look_up(self, code):
        town, shelf = REGISTER[code]
        self.visits += 1
        self.steps += shelf
        if self.visits > len(REGISTER) and self.rnd.random() < 0.35:
            self.steps += self.rnd.randint(2, 6)
        return town


class Chute:
    def __init__(self, register, slots=6):
        self.resolve = lru_cache(maxsize=slots)(partial(Register.look_up, register))
        self.bags = {town: 0 for town, _ in REGISTER.values()}

    def warm_up(self, codes):
        for code in codes:
            self.resolve(code)

    def drop(self, code):
        self.bags[self.resolve(code)] += 1


def busy_codes(text):
    return {word[:2].upper() for word in text.split()}


def letters(rnd, tick):
    if tick < 9:
        return ["LN"] * rnd.randint(1, 3)
    return rnd.choices(sorted(REGISTER), k=3)


def main(run):
    register = Register(run.streams.python("clerk"))
    chute = Chute(register)
    chute.warm_up(busy_codes("ab10 bt4 cf24 dn1 ex2 gl50 hu5 ip3 ky11"))
    chute.drop("LN")
    office = run.track("office", {"steps": 0, "visits": 0, "queue": 0})
    bags = run.track("bags", chute.bags)
    rnd = run.streams.python("letters")
    queue = deque()
    for tick in run.ticks(22):
        queue.extend(letters(rnd, tick))
        for _ in range(2):
            if queue:
                chute.drop(queue.popleft())
        office.update(steps=register.steps, visits=register.visits, queue=len(queue))
    return {"visits": register.visits, "bags": bags}
