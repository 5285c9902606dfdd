"""Money is moved between accounts. A transfer that has begun is finished before the worker stops."""

import asyncio


class Audit:
    def __init__(self):
        self.lines = []

    async def write(self, text):
        await asyncio.sleep(0)
        self.lines.append(text)


class Bank:
    def __init__(self, audit):
        self.audit = audit
        self.accounts = {"a": 50, "b": 50}

    async def transfer(self, source, target, amount):
        if self.accounts[source] < amount:
            raise ValueError("not enough money")
        self.accounts[source] -= amount
        try:
            await self.audit.write(f"{source} -> {target}: {amount}")
        except BaseException:
            self.accounts[source] += amount
            raise
        self.accounts[target] += amount

    def total(self):
        return sum(self.accounts.values())


class Worker:
    def __init__(self, bank):
        self.bank = bank
        self.orders = asyncio.Queue()
        self.task = None

    def start(self):
        self.task = asyncio.create_task(self.run())

    async def run(self):
        while True:
            source, target, amount = await self.orders.get()
            try:
                await self.bank.transfer(source, target, amount)
            finally:
                self.orders.task_done()

    async def stop(self):
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


async def operator(worker, signal):
    await signal.wait()
    for _ in range(3):
        await asyncio.sleep(0)
    await worker.stop()


async def main():
    bank = Bank(Audit())
    worker = Worker(bank)
    worker.start()
    signal = asyncio.Event()
    stopping = asyncio.create_task(operator(worker, signal))
    worker.orders.put_nowait(("a", "b", 20))
    worker.orders.put_nowait(("b", "a", 5))
    signal.set()
    await stopping
    assert bank.total() == 100, bank.accounts
    assert len(bank.audit.lines) <= 2
