"""A bounded buffer on one condition, with a check in a loop and a wakeup for everybody."""

import asyncio


class Buffer:
    def __init__(self, size):
        self.size = size
        self.items = []
        self.changed = asyncio.Condition()
        self.closed = False

    async def put(self, item):
        async with self.changed:
            while len(self.items) >= self.size:
                await self.changed.wait()
            self.items.append(item)
            self.changed.notify_all()

    async def get(self):
        async with self.changed:
            while not self.items and not self.closed:
                await self.changed.wait()
            if not self.items:
                return None
            item = self.items.pop(0)
            self.changed.notify_all()
            return item

    async def close(self):
        async with self.changed:
            self.closed = True
            self.changed.notify_all()


async def produce(buffer, name, count):
    for number in range(count):
        await buffer.put((name, number))


async def consume(buffer, taken):
    while (item := await buffer.get()) is not None:
        await asyncio.sleep(0)
        taken.append(item)


async def main():
    buffer, taken = Buffer(1), []
    consumers = [asyncio.create_task(consume(buffer, taken)) for _ in range(2)]
    await asyncio.gather(produce(buffer, "a", 3), produce(buffer, "b", 2))
    await buffer.close()
    await asyncio.gather(*consumers)
    assert sorted(taken) == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1)]
