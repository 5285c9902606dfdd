import asyncio
import threading

loop = asyncio.new_event_loop()
t = threading.Thread(target=loop.run_forever)
t.start()


async def w(i):
    await asyncio.sleep(0.004 * (3 - i))
    return i


fs = [asyncio.run_coroutine_threadsafe(w(i), loop) for i in range(3)]
print([f.result(5) for f in fs])
loop.call_soon_threadsafe(loop.stop)
t.join()
loop.close()
