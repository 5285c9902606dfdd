"""An indexer works off changes of documents, and says of each that it is done, whatever happened."""

import asyncio


class Store:
    def __init__(self):
        self.documents = {}

    async def save(self, name, text):
        await asyncio.sleep(0)
        self.documents[name] = text

    async def load(self, name):
        await asyncio.sleep(0)
        return self.documents[name]

    async def delete(self, name):
        await asyncio.sleep(0)
        self.documents.pop(name, None)


class Indexer:
    def __init__(self, store):
        self.store = store
        self.queue = asyncio.Queue(maxsize=1)
        self.words = {}
        self.skipped = []

    async def run(self):
        while True:
            name = await self.queue.get()
            try:
                text = await self.store.load(name)
            except KeyError:
                self.skipped.append(name)
            else:
                for word in text.split():
                    self.words.setdefault(word, set()).add(name)
            finally:
                self.queue.task_done()


async def importer(store, indexer):
    for name, text in (("a", "red house"), ("b", "red car"), ("c", "old car")):
        await store.save(name, text)
        await indexer.queue.put(name)
    await indexer.queue.join()


async def cleaner(store):
    for _ in range(9):
        await asyncio.sleep(0)
    await store.delete("c")


async def main():
    store = Store()
    indexer = Indexer(store)
    running = [asyncio.create_task(indexer.run()) for _ in range(2)]
    await asyncio.gather(importer(store, indexer), cleaner(store))
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    assert indexer.words["red"] == {"a", "b"}
