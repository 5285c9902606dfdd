"""Three children of asyncio run a tool of the project, fed through their pipes; the tool is edited later."""
import asyncio
import sys

PIPE = asyncio.subprocess.PIPE


async def run(text):
    child = await asyncio.create_subprocess_exec(
        sys.executable, "tool.py", stdin=PIPE, stdout=PIPE
    )
    out, _ = await child.communicate(text.encode())
    return child.returncode, out.decode().strip()


async def main():
    for code, text in await asyncio.gather(*map(run, ("oak", "elm", "yew"))):
        print(code, text)


asyncio.run(main())
