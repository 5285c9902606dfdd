"""Restaurant pass: stations cook as asyncio tasks, dishes reach the pass in order of completion; the caller is in a context variable."""
import asyncio
import contextvars

STATIONS = frozenset({"grill", "larder", "pastry", "sauce", "fish", "garnish"})
caller = contextvars.ContextVar("caller", default="nobody")


class Pass:
    """Where dishes wait; room for a few, the rest goes under the lamp."""

    def __init__(self):
        self.shelf = []
        self.lamp = 0
        self.calls = {}
        self.served = 0

    def state(self):
        return {"shelf": list(self.shelf), "lamp": self.lamp, "calls": dict(sorted(self.calls.items())), "served": self.served}

    def restore(self, state):
        self.shelf, self.lamp = list(state["shelf"]), state["lamp"]
        self.calls, self.served = dict(state["calls"]), state["served"]

    def put(self, station, dishes):
        for _ in range(dishes):
            if len(self.shelf) < 5:
                self.shelf.append(station)
            else:
                self.lamp += 1
        who = caller.get()
        self.calls[who] = self.calls.get(who, 0) + dishes

    def serve(self, covers):
        taken = self.shelf[:covers]
        del self.shelf[:covers]
        self.served += len(taken)


async def cook(station, orders, passe):
    """Cook in as many rounds as the dish needs."""
    for _ in range(1 + len(station) // 5):
        await asyncio.sleep(0)
    passe.put(station, orders.get(station, 0))


async def mise(passe, tick):
    """Before the service: a single station at a time."""
    caller.set("chef")
    await cook(sorted(STATIONS)[tick % len(STATIONS)], {s: 1 for s in STATIONS}, passe)


async def service(orders, passe, who):
    caller.set(who)
    tasks = [
        asyncio.create_task(cook(station, orders, passe), name=station)
        for station in STATIONS
    ]
    await asyncio.gather(*tasks)


def tickets(rng):
    return {station: int(rng.integers(0, 3)) for station in sorted(STATIONS)}


def main(run):
    rng = run.rng("tickets")
    passe = run.track("pass", Pass())
    loop = asyncio.new_event_loop()
    try:
        for tick in run.ticks(20):
            orders = tickets(rng)
            if tick < 6:
                loop.run_until_complete(mise(passe, tick))
            else:
                loop.run_until_complete(service(orders, passe, "sous" if tick % 2 else "chef"))
            passe.serve(4)
    finally:
        loop.close()
    return passe.served
