"""The SDK alone: a tool that adds, on the same low-level server, without contract or record."""

from __future__ import annotations

import json
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

_TOTAL = {"n": 0}
_TOOL = Tool(
    name="add",
    description="Add to the number.",
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "required": ["n"],
        "properties": {"n": {"type": "integer"}},
    },
    output_schema={"type": "object"},
)


async def list_tools(context: Any, params: Any) -> ListToolsResult:
    del context, params
    return ListToolsResult(tools=[_TOOL])


async def call_tool(context: Any, params: Any) -> CallToolResult:
    del context
    _TOTAL["n"] += params.arguments["n"]
    found = {"ok": True, "result": _TOTAL["n"]}
    text = TextContent(type="text", text=json.dumps(found))
    return CallToolResult(content=[text], structured_content=found, is_error=False)


async def main() -> None:
    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
