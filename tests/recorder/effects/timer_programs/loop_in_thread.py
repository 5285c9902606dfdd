import asyncio
import threading


def run(out):
    async def w(i):
        await asyncio.sleep(0.003 * ((i * 3) % 5))
        out.append(i)

    async def main():
        await asyncio.gather(*(w(i) for i in range(8)))

    asyncio.run(main())


outs = [[], []]
ts = [threading.Thread(target=run, args=(o,)) for o in outs]
[t.start() for t in ts]
[t.join() for t in ts]
print(outs)
