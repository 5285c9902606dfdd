"""Twelve pages are asked of a server in the same loop, three at a time; some answer at the second try."""
import asyncio

import httpx

tries = {}


async def serve(reader, writer):
    path = (await reader.readuntil(b"\r\n\r\n")).decode().split()[1]
    tries[path] = tries.get(path, 0) + 1
    failed = int(path[1:]) % 3 == 0 and tries[path] == 1
    body = f"page {path[1:]} at try {tries[path]}".encode()
    status = "503 Service Unavailable" if failed else "200 OK"
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()
    writer.close()


async def fetch(client, limit, url):
    async with limit:
        for pause in (0.02, 0.04, 0.08):
            answer = await client.get(url)
            if answer.status_code == 200:
                return answer.text
            await asyncio.sleep(pause)
    return "gave up"


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, httpx.AsyncClient(timeout=5) as client:
        limit = asyncio.Semaphore(3)
        urls = [f"http://127.0.0.1:{port}/{n}" for n in range(12)]
        texts = await asyncio.gather(*(fetch(client, limit, url) for url in urls))
    print(*texts, sep="\n")
    print(sum(tries.values()), "requests")


asyncio.run(main())
