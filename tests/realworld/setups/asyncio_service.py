"""A key-value service and its clients in one process; jobs go to workers by a queue, as asyncio's pages have it."""

import asyncio
import json
import random
import time

STORE = {}


async def worker(name, queue, done):
    while True:
        key, amount = await queue.get()
        await asyncio.sleep(random.uniform(0.001, 0.01))
        STORE[key] = STORE.get(key, 0) + amount
        done.append((name, key))
        queue.task_done()


async def handle(reader, writer, queue):
    while line := await reader.readline():
        request = json.loads(line)
        if request["op"] == "add":
            queue.put_nowait((request["key"], request["amount"]))
            reply = {"queued": queue.qsize()}
        else:
            reply = {"value": STORE.get(request["key"], 0)}
        writer.write(json.dumps(reply).encode() + b"\n")
        await writer.drain()
    writer.close()


async def client(port, name):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(5):
        request = {"op": "add", "key": random.choice("abc"), "amount": random.randint(1, 9)}
        writer.write(json.dumps(request).encode() + b"\n")
        await writer.drain()
        reply = json.loads(await reader.readline())
        print(f"{name}: {request['key']} += {request['amount']}, {reply['queued']} queued")
    writer.close()
    await writer.wait_closed()


async def main():
    queue, done = asyncio.Queue(), []
    workers = [asyncio.create_task(worker(f"worker-{i}", queue, done)) for i in range(3)]
    server = await asyncio.start_server(lambda r, w: handle(r, w, queue), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    started_at = time.monotonic()
    await asyncio.gather(*(client(port, f"client-{i}") for i in range(3)))
    await queue.join()
    print(f"3 workers took {time.monotonic() - started_at:.2f} seconds for {len(done)} jobs")
    for task in workers:
        task.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    server.close()
    await server.wait_closed()
    print(sorted(STORE.items()))


asyncio.run(main())
