"""A repository opens its engine when it is first used, and closes it at the end."""

import asyncio


class Engine:
    opened = 0

    def __init__(self, url):
        self.url = url
        self.rows = {}
        self.closed = False

    @classmethod
    async def connect(cls, url):
        engine = cls(url)
        await asyncio.sleep(0.02)  # order: connected
        cls.opened += 1
        return engine

    async def execute(self, key, value):
        await asyncio.sleep(0)
        self.rows[key] = value

    async def close(self):
        self.closed = True
        Engine.opened -= 1


class Repository:
    def __init__(self, url):
        self.url = url
        self.engine = None

    async def get_engine(self):
        if self.engine is None:
            self.engine = await Engine.connect(self.url)
        return self.engine

    async def save(self, key, value):
        engine = await self.get_engine()
        await engine.execute(key, value)

    async def close(self):
        if self.engine is not None:
            await self.engine.close()


async def poll_orders(repository):
    await repository.save("order", 1)


async def poll_customers(repository):
    await asyncio.sleep(0.02)  # order: second
    await repository.save("customer", 2)


async def main():
    Engine.opened = 0
    repository = Repository("db://shop")
    await asyncio.gather(poll_orders(repository), poll_customers(repository))
    await repository.close()
    assert Engine.opened == 0, f"{Engine.opened} engines are still open"
