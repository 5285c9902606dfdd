"""An indexer works off changes of documents. The importer waits until all of them are indexed."""

import asyncio


class Store:
    def __init__(self):
        self.documents = {}

    async def save(self, name, text):
        await asyncio.sleep(0)
        self.documents[name] = text

    async def load(self, name):
        await asyncio.sleep(0)
        return self.documents.get(name)

    async def delete(self, name):
        await asyncio.sleep(0)
        self.documents.pop(name, None)


class Indexer:
    def __init__(self, store):
        self.store = store
        self.queue = asyncio.Queue()
        self.words = {}
        self.skipped = []

    async def run(self):
        while True:
            name = await self.queue.get()
            text = await self.store.load(name)  # order: load
            if text is None:
                self.skipped.append(name)
                continue
            for word in text.split():
                self.words.setdefault(word, set()).add(name)
            self.queue.task_done()


async def importer(store, indexer):
    for name, text in (("a", "red house"), ("b", "red car"), ("c", "old car")):
        await store.save(name, text)
        indexer.queue.put_nowait(name)
    await indexer.queue.join()


async def cleaner(store):
    for _ in range(9):
        await asyncio.sleep(0)
    await store.delete("c")  # order: delete


async def main():
    store = Store()
    indexer = Indexer(store)
    running = asyncio.create_task(indexer.run())
    await asyncio.gather(importer(store, indexer), cleaner(store))
    running.cancel()
    assert indexer.words["red"] == {"a", "b"}
