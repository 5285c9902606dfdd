"""mcp: five calls of a tool between its client and its server, in memory."""

import asyncio

from mcp import Client
from mcp.server import MCPServer


async def main():
    server = MCPServer("demo")

    @server.tool()
    async def add(a: int, b: int) -> int:
        await asyncio.sleep(1)
        return a + b

    async with Client(server) as c:
        tools = [t.name for t in (await c.list_tools()).tools]
        got = await asyncio.gather(*(c.call_tool("add", {"a": n, "b": 1}) for n in range(5)))
        return tools, [g.structured_content for g in got]
