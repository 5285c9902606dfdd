"""A conversation over pipes with a child of asyncio, a second one that fails, and one that is stopped."""
import asyncio
import sys

ADDER = """
import sys
total = 0
for line in sys.stdin:
    total += int(line)
    print("so far", total, flush=True)
print("end", file=sys.stderr)
sys.exit(total % 7)
"""
PIPE = asyncio.subprocess.PIPE


async def main():
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ADDER, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    number = 3
    for _ in range(5):
        child.stdin.write(b"%d\n" % number)
        await child.stdin.drain()
        line = (await child.stdout.readline()).decode().strip()
        number = int(line.split()[-1]) * 2 % 50
        print(line, "->", number)
    child.stdin.close()
    print(await child.stderr.read(), await child.wait())
    shell = await asyncio.create_subprocess_shell(
        "cat; echo lost >&2; exit 4", stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    print(await shell.communicate(b"a\nb\n"), shell.returncode)
    sleeper = await asyncio.create_subprocess_exec("sleep", "30")
    try:
        await asyncio.wait_for(sleeper.wait(), 0.1)
    except asyncio.TimeoutError:
        sleeper.terminate()
    print(await sleeper.wait())


asyncio.run(main())
