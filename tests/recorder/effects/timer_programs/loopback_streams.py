import asyncio


async def serve(r, w):
    while line := await r.readline():
        await asyncio.sleep(0.002)
        w.write(line.upper())
        await w.drain()
    w.close()


async def client(port, i):
    r, w = await asyncio.open_connection("127.0.0.1", port)
    got = []
    for k in range(3):
        w.write(f"{i}-{k}\n".encode())
        await w.drain()
        await asyncio.sleep(0.001 * i)
        got.append((await r.readline()).decode().strip())
    w.close()
    await w.wait_closed()
    return got


async def main():
    s = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = s.sockets[0].getsockname()[1]
    print(await asyncio.gather(*(client(port, i) for i in range(3))))
    s.close()
    await s.wait_closed()


asyncio.run(main())
