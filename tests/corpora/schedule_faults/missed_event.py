"""A display shows the newest message. It sleeps until the mailbox says that something has changed."""

import asyncio


class Mailbox:
    def __init__(self):
        self.messages = []
        self.changed = asyncio.Event()

    def deliver(self, message):
        self.messages.append(message)
        self.changed.set()
        self.changed.clear()  # whoever waits has been woken

    async def next(self, seen, statistics):
        if len(self.messages) <= seen:
            await statistics.count("idle")
            await self.changed.wait()  # order: waits
        return self.messages[seen]


class Statistics:
    def __init__(self):
        self.counts = {}

    async def count(self, name):
        await asyncio.sleep(0)  # order: counted
        self.counts[name] = self.counts.get(name, 0) + 1


async def display(mailbox, statistics, shown):
    while len(shown) < 2:
        shown.append(await mailbox.next(len(shown), statistics))


async def postman(mailbox):
    for number in range(2):
        for _ in range(4):
            await asyncio.sleep(0)  # order: deliver
        mailbox.deliver(f"letter {number}")


async def main():
    mailbox, shown = Mailbox(), []
    await asyncio.gather(display(mailbox, Statistics(), shown), postman(mailbox))
    assert shown == ["letter 0", "letter 1"]
