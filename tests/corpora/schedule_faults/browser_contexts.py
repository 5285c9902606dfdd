"""A crawler closes its browser contexts while pages are still released (unclecode/crawl4ai#1999)."""

import asyncio


class Context:
    def __init__(self, name):
        self.name = name
        self.closed = False

    async def close(self):
        await asyncio.sleep(0)  # order: closing
        self.closed = True


class BrowserManager:
    def __init__(self):
        self.contexts = {}

    async def get_page(self, config):
        if config not in self.contexts:
            await asyncio.sleep(0)  # order: opened
            self.contexts.setdefault(config, Context(config))
        return self.contexts[config]

    async def release(self, config):
        context = self.contexts.pop(config, None)
        if context is not None:
            await context.close()

    async def close(self):
        for context in self.contexts.values():
            await context.close()
        self.contexts.clear()


async def crawl(manager, config, steps):
    await manager.get_page(config)
    for _ in range(steps):
        await asyncio.sleep(0)  # order: crawl
    await manager.release(config)


async def shutdown(manager):
    for _ in range(8):
        await asyncio.sleep(0)  # order: shutdown
    await manager.close()


async def main():
    manager = BrowserManager()
    await manager.get_page("default")
    await asyncio.gather(
        crawl(manager, "mobile", 2), crawl(manager, "desktop", 3), shutdown(manager)
    )
    assert not manager.contexts
