import asyncio
import sys


async def tick(out):
    for k in range(5):
        await asyncio.sleep(0.004)
        out.append(k)


async def main():
    out = []
    t = asyncio.create_task(tick(out))
    p = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import time; time.sleep(0.05); print('child')",
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await p.communicate()
    await t
    print(said, out, p.returncode)


asyncio.run(main())
