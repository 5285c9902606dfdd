"""Pages are fetched over httpx, three at a time at most, and returned in their order."""

import asyncio

import httpx


async def serve(reader, writer):
    while line := await reader.readline():
        path = line.split()[1]
        while await reader.readline() != b"\r\n":
            pass
        await asyncio.sleep(0.1 * (len(path) % 3))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(path), path))
        await writer.drain()
    writer.close()


class Fetcher:
    def __init__(self, client, at_once):
        self.client = client
        self.slots = asyncio.Semaphore(at_once)
        self.running = 0

    async def get(self, path):
        async with self.slots:
            self.running += 1
            assert self.running <= 3
            try:
                answer = await self.client.get(path)
            finally:
                self.running -= 1
            return answer.raise_for_status().text


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 7013)
    async with httpx.AsyncClient(base_url="http://127.0.0.1:7013", trust_env=False) as client:
        fetcher = Fetcher(client, 3)
        paths = [f"/page/{'x' * number}" for number in range(5)]
        texts = await asyncio.gather(*(fetcher.get(path) for path in paths))
    server.close()
    assert texts == paths
