"""A newsroom with asynchronous feeds: wires deliver, editors pick, pages are printed."""

import asyncio

FEEDS = ["reuter", "afp", "dpa", "ansa", "tass"]


class Wire:
    """A news agency that always has something to say."""

    def __init__(self, name, rng):
        self.name = name
        self.rng = rng

    async def poll(self, inbox):
        length = int(self.rng.integers(40, 120))
        await asyncio.sleep(0)
        inbox.append((self.name, length))


class Page:
    def __init__(self, lines):
        self.free = lines
        self.stories = []

    def fits(self, length):
        return length <= self.free

    def set(self, story):
        self.free -= story[1]
        self.stories.append(story)


class Newsroom:
    def __init__(self, run):
        self.wires = [Wire(name, run.rng(f"wire/{name}")) for name in FEEDS]
        self.inbox = []
        self.printed = 0
        self.front = {}
        self.spiked = 0

    async def round(self):
        async with asyncio.TaskGroup() as group:
            for wire in self.wires:
                group.create_task(wire.poll(self.inbox))

    def collect(self):
        asyncio.run(self.round())

    def close_edition(self):
        """Fill the front page in the order in which stories came in."""
        page = Page(400)
        for story in self.inbox:
            if page.fits(story[1]):
                page.set(story)
            else:
                self.spiked += 1
        self.inbox.clear()
        self.printed += 1
        for name, length in page.stories:
            self.front[name] = self.front.get(name, 0) + length

    def state(self):
        return {"printed": self.printed, "front": dict(self.front), "spiked": self.spiked}

    def restore(self, state):
        self.printed, self.front, self.spiked = state["printed"], dict(state["front"]), state["spiked"]


def main(run):
    room = run.track("room", Newsroom(run))
    coffee = run.track("coffee", {"cups": 0})
    machine = run.rng("coffee")
    for hour in run.ticks(24):
        coffee["cups"] += int(machine.poisson(3))
        room.collect()
        if hour % 6 == 5:
            room.close_edition()
