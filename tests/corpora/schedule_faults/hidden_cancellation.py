"""A consumer waits for messages with a deadline. Its service stops it by a cancellation (python/cpython#86296)."""

import asyncio


class Consumer:
    def __init__(self):
        self.queue = asyncio.Queue()
        self.handled = []
        self.idle = 0
        self.task = None

    def start(self):
        self.task = asyncio.create_task(self.run())

    async def run(self):
        while True:
            try:
                message = await asyncio.wait_for(self.queue.get(), timeout=5)  # order: message
            except asyncio.TimeoutError:
                self.idle += 1
                continue
            self.handled.append(message)

    async def stop(self, patience):
        self.task.cancel()
        _, pending = await asyncio.wait([self.task], timeout=patience)
        if pending:
            raise RuntimeError("the consumer did not stop")


async def publisher(consumer):
    for number in range(2):
        await asyncio.sleep(0.1)
        consumer.queue.put_nowait(number)


async def service(consumer):
    consumer.start()
    await asyncio.sleep(0.2)  # order: stops
    await consumer.stop(patience=12)


async def main():
    consumer = Consumer()
    await asyncio.gather(service(consumer), publisher(consumer))
    assert consumer.handled in ([0], [0, 1]), consumer.handled
