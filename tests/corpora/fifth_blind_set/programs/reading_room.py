"""A reading room: requests from the stacks are asyncio tasks; whatever is done is handed over the desk."""
import asyncio
import os


class Stack:
    def __init__(self, floor):
        self.floor = floor
        self.trips = 0
        self.slips = []

    async def fetch(self, title):
        self.trips += 1
        self.slips.append([float(b) for b in os.urandom(os.urandom(1)[0])])
        self.slips = self.slips[-3:]
        for _ in range(self.floor % 2 + 1):
            await asyncio.sleep(0)
        return title


class Desk:
    def __init__(self):
        self.handed = []
        self.trips = 0

    def give(self, title):
        self.handed = (self.handed + [title])[-9:]

    def state(self):
        return {"handed": list(self.handed), "trips": self.trips}

    def restore(self, state):
        self.handed, self.trips = list(state["handed"]), state["trips"]


async def round_trip(stacks, titles, desk):
    pending = {asyncio.create_task(stacks[i % len(stacks)].fetch(t)) for i, t in enumerate(titles)}
    while pending:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            desk.give(task.result())
            desk.trips += 1


async def day(run, rng, desk):
    stacks = [Stack(floor) for floor in range(4)]
    for tick in run.ticks(16):
        titles = [f"shelfmark {int(n)}" for n in rng.integers(100, 999, 7)]
        await round_trip(stacks, titles, desk)
    return sum(s.trips for s in stacks)


def main(run):
    rng = run.rng("requests")
    desk = run.track("desk", Desk())
    return asyncio.run(day(run, rng, desk))
