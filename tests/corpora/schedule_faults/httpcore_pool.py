"""A request is cancelled while the pool closes a connection that has expired (encode/httpcore#830)."""

import asyncio

import httpcore


async def serve(reader, writer):
    while await reader.readline():
        while await reader.readline() != b"\r\n":
            pass
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        await writer.drain()
    writer.close()


class Prices:
    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}/price"
        self.pool = httpcore.AsyncConnectionPool(max_connections=1, keepalive_expiry=5)

    async def get(self):
        response = await self.pool.request("GET", self.url)
        return response.content

    async def close(self):
        await self.pool.aclose()


async def hasty_customer(prices):
    request = asyncio.create_task(prices.get())
    for _ in range(40):
        await asyncio.sleep(0)  # order: leaves
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 7011)
    prices = Prices(7011)
    await prices.get()
    await asyncio.sleep(60)
    await hasty_customer(prices)
    assert await prices.get() == b"ok"
    await prices.close()
    server.close()
