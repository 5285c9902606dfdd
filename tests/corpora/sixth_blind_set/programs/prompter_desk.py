"""The prompter's desk: cues wait as callbacks on pages of the script until the play gets there."""
import os
import random
from collections import defaultdict, deque
from functools import partial

CAST = {
    "Orsino": "duke", "Viola": "lead", "Olivia": "lead", "Feste": "chorus", "Maria": "chorus",
    "Fabian": "chorus", "Curio": "chorus", "Valentine": "chorus", "Antonio": "sailor",
    "Sebastian": "lead", "Toby": "chorus",
}
PAGES = 30
FINALE = 21


class Desk:
    """Everything the prompter can see: the light levels and what has been called."""

    def __init__(self):
        self.cues = defaultdict(deque)
        self.called = []
        self.level = 40
        self.page = 0

    def at(self, page, callback):
        self.cues[page].append(callback)

    def turn(self, page):
        self.page = page
        waiting = self.cues.pop(page, deque())
        while waiting:
            later = waiting.popleft()(self)
            if later is not None:
                self.at(page + later[0], later[1])

    def state(self):
        return {"called": self.called[-8:], "level": self.level, "page": self.page}

    def restore(self, state):
        self.called, self.level, self.page = list(state["called"]), state["level"], state["page"]


def call(who, desk, bow=False):
    desk.called.append(f"{who}!" if bow else who)
    desk.level = (desk.level * 3 + len(who)) % 101 if bow else desk.level
    return None


def fade(to, desk):
    step = 5 if to > desk.level else -5
    if abs(to - desk.level) < 5:
        desk.level = to
        return None
    desk.level += step
    return 1, partial(fade, to)


def company(kind):
    return frozenset(name for name, role in CAST.items() if role == kind)


def curtain_call(kinds):
    """Nobody bows first every night."""
    bows = []
    for kind in kinds:
        bows += [partial(call, who, bow=True) for who in sorted(company(kind))]
    tonight = random.Random(os.getpid())
    tonight.shuffle(bows)
    return bows


def mark_script(desk, chance):
    leads = sorted(company("lead"))
    for page in range(1, FINALE - 1):
        desk.at(page, partial(call, leads[chance.randrange(len(leads))]))
        if page % 6 == 0:
            desk.at(page, partial(fade, 10 * chance.randrange(2, 9)))
    bows = curtain_call(["chorus"])
    for bow in bows:
        desk.at(FINALE, bow)
    desk.at(FINALE - 1, partial(fade, 80))


def main(run):
    desk = Desk()
    run.track("desk", desk)
    mark_script(desk, run.streams.python("script"))
    for page in run.ticks(PAGES):
        desk.turn(page)
    return {"last": desk.called[-1], "level": desk.level}
