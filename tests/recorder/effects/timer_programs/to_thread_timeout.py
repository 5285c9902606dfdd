import asyncio
import time


async def main():
    try:
        print(await asyncio.wait_for(asyncio.to_thread(time.sleep, 0.2), 0.03))
    except TimeoutError:
        print("late")
    print(await asyncio.wait_for(asyncio.to_thread(lambda: 7), 5))


asyncio.run(main())
