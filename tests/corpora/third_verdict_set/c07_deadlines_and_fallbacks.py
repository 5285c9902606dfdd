"""Slow answers meet deadlines: wait_for, timeout, shield and a queue; each has another way to go on."""
import asyncio


async def serve(reader, writer):
    while line := await reader.readline():
        if line.startswith(b"slow"):
            await asyncio.sleep(0.6)
        writer.write(b"answer to " + line)
        await writer.drain()
    writer.close()


async def ask(port, text):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(text.encode() + b"\n")
        return (await reader.readline()).decode().strip()
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    for text in ("quick one", "slow one"):
        try:
            print(await asyncio.wait_for(ask(port, text), 0.2))
        except asyncio.TimeoutError:
            print("too late for", text)
    kept = asyncio.ensure_future(ask(port, "slow two"))
    try:
        async with asyncio.timeout(0.2):
            await asyncio.shield(kept)
    except TimeoutError:
        print("meanwhile")
    print(await kept)
    empty = asyncio.Queue()
    try:
        await asyncio.wait_for(empty.get(), 0.1)
    except asyncio.TimeoutError:
        print("nothing in the queue")
    done, open_ = await asyncio.wait(
        [asyncio.ensure_future(ask(port, t)) for t in ("slow three", "quick two")], timeout=0.3
    )
    print([task.result() for task in done], len(open_))
    for task in open_:
        task.cancel()
    await asyncio.sleep(0.6)
    server.close()


asyncio.run(main())
