"""A bakery shift: ovens pull trays from an asyncio queue, trays go in by the rank of their dough."""
import asyncio
from enum import IntEnum

DOUGHS = {"butter", "almond", "chocolate", "plain", "ham", "apricot"}

Dough = IntEnum(
    "Dough",
    [name.upper() for name in DOUGHS if len(name) > 3],
    start=1,
)

BAKE = {"BUTTER": 3, "ALMOND": 4, "CHOCOLATE": 4, "PLAIN": 2, "APRICOT": 5}


class Counter:
    def __init__(self):
        self.sold = {}
        self.baked = []
        self.burnt = 0

    def take(self, dough, good):
        if good:
            self.sold[dough.name] = self.sold.get(dough.name, 0) + 1
        else:
            self.burnt += 1
        self.baked.append(dough.name)

    def state(self):
        return {"sold": dict(self.sold), "burnt": self.burnt, "recent": self.baked[-4:]}

    def restore(self, state):
        self.sold = dict(state["sold"])
        self.burnt = state["burnt"]


async def oven(queue, counter, rng):
    while True:
        rank, dough = await queue.get()
        for _ in range(BAKE[dough.name]):
            await asyncio.sleep(0)
        counter.take(dough, rng.random() > 0.05 * BAKE[dough.name])
        queue.task_done()


async def shift(trays, counter, rng):
    queue = asyncio.PriorityQueue()
    ovens = [asyncio.create_task(oven(queue, counter, rng)) for _ in range(2)]
    for tray in trays:
        queue.put_nowait((tray.value, tray))
    await queue.join()
    for task in ovens:
        task.cancel()
    await asyncio.gather(*ovens, return_exceptions=True)


def orders(rng):
    names = sorted(BAKE)
    while True:
        yield [Dough[names[rng.randrange(len(names))]] for _ in range(rng.randint(3, 6))]


def main(run):
    counter = run.track("counter", Counter())
    book = orders(run.streams.python("orders"))
    heat = run.streams.python("heat")
    for _ in run.ticks(14):
        asyncio.run(shift(next(book), counter, heat))
    return counter.burnt
