"""Money is moved between accounts with an audit in between. An operator may stop the work."""

import asyncio


class Audit:
    def __init__(self):
        self.lines = []

    async def write(self, text):
        await asyncio.sleep(0)  # order: audit
        self.lines.append(text)


class Bank:
    def __init__(self, audit):
        self.audit = audit
        self.accounts = {"a": 50, "b": 50}

    async def transfer(self, source, target, amount):
        if self.accounts[source] < amount:
            raise ValueError("not enough money")
        self.accounts[source] -= amount
        await self.audit.write(f"{source} -> {target}: {amount}")
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
            await self.bank.transfer(source, target, amount)
            self.orders.task_done()

    async def stop(self):
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


async def operator(worker, signal):
    await signal.wait()
    for _ in range(5):
        await asyncio.sleep(0)  # order: operator
    await worker.stop()


async def main():
    bank = Bank(Audit())
    worker = Worker(bank)
    worker.start()
    signal = asyncio.Event()
    stopping = asyncio.create_task(operator(worker, signal))
    worker.orders.put_nowait(("a", "b", 20))
    signal.set()
    await stopping
    assert bank.total() == 100, bank.accounts
