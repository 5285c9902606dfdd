"""Make calls with the client of another library, which stands in an environment of its own, and print the envelopes.

Usage: python foreign_clients.py LIBRARY WHERE CALLS, both JSON: the command of a server or its URL; tools with arguments.
"""

import asyncio
import json
import sys
from typing import Any


async def call_fastmcp(where: Any, calls: Any) -> Any:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    transport = where if isinstance(where, str) else StdioTransport(where[0], where[1:])
    async with Client(transport) as client:
        names = [each.name for each in await client.list_tools()]
        found = [await client.call_tool(*call, raise_on_error=False) for call in calls]
    return names, [each.structured_content for each in found]


async def call_langchain(where: Any, calls: Any) -> Any:
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools

    place = {"transport": "stdio", "command": where[0], "args": where[1:]}
    if isinstance(where, str):
        place = {"transport": "streamable_http", "url": where}
    async with MultiServerMCPClient({"server": place}).session("server") as session:
        tools = {each.name: each for each in await load_mcp_tools(session)}
        found = []
        for name, arguments in calls:
            call = {"type": "tool_call", "id": "1", "name": name, "args": arguments}
            answer = await tools[name].ainvoke(call)
            found.append(json.loads(answer.content[0]["text"]))
    return [*tools], found


async def call_mcp_use(where: Any, calls: Any) -> Any:
    from mcp_use import MCPClient

    place = {"url": where} if isinstance(where, str) else {"command": where[0], "args": where[1:]}
    client = MCPClient.from_dict({"mcpServers": {"server": place}})
    session = await client.create_session("server")
    names = [each.name for each in await session.list_tools()]
    found = [(await session.call_tool(*call)).structuredContent for call in calls]
    await client.close_all_sessions()
    return names, found


LIBRARIES = {
    "fastmcp": call_fastmcp,
    "langchain-mcp-adapters": call_langchain,
    "mcp-use": call_mcp_use,
}

if __name__ == "__main__":
    library, where, calls = sys.argv[1], *map(json.loads, sys.argv[2:])
    print(json.dumps(asyncio.run(LIBRARIES[library](where, calls))))
