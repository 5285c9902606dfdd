"""Child processes under asyncio, lines as they come, and a blocking call on a thread."""
import asyncio
import sys

LINES = "for n in range(5): print('line', n * n, flush=True)"
ECHO = "import sys\nfor line in sys.stdin: print(line.strip()[::-1])\nsys.exit(5)"


async def lines():
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", LINES, stdout=asyncio.subprocess.PIPE)
    got = []
    async for line in child.stdout:
        got.append(line.decode().strip())
    return got, await child.wait()


async def echo(text):
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", ECHO, stdin=pipe, stdout=pipe)
    out, _ = await child.communicate(text.encode())
    return out.decode().split(), child.returncode


def digits(n):
    return len(str(3**n))


async def main():
    print(await lines())
    print(await echo("abc\ndef\n"))
    print(await asyncio.to_thread(digits, 5000))
    shell = await asyncio.create_subprocess_shell("printf '%s-' a b c", stdout=asyncio.subprocess.PIPE)
    print((await shell.communicate())[0], shell.returncode)
    results = await asyncio.gather(lines(), echo("level\nflow\n"))
    for result in results:
        print(result)


asyncio.run(main())
