"""The protocol's server over one hosted session.

A call is passed on as it came: the SDK's low-level server neither validates nor coerces arguments.
Calls wait for each other, because the state is one, whoever sends them; a call that its client gives
up while it waits is never begun. One that is at work goes on until the tool next tells its progress;
then it is undone.

A client says what it requires of a call, and what the time is, in the metadata of the call:
``twice/require`` and ``twice/time``. The schemas are the tool's own, to the letter. Class, version,
needs and fingerprints stand in the metadata, because the protocol's four hints say nothing of them;
the hints are set to what the tool declares, and a host may not rely on them.

Invariant: every call of a tool is answered by an envelope, whose text and structured content are the
same document.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server import Server, ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from twice.errors import TwiceError
from twice.foundation.version import VERSION
from twice.tools.errors import ToolSessionLost
from twice.tools.worker.host import HostedSession, Progress

PREFIX: Final = "twice/"
"""Before each of our keys in the protocol's metadata."""
_PROGRESS_S: Final = 5.0
"""A client that does not take a report within this is told of no further progress of its call."""


def build_server(session: HostedSession, name: str) -> Server[Any]:
    """Build the server of an open session, which the caller closes; hosts show the name."""
    listed = [describe_tool(each, session.contract) for each in session.tools]
    one_at_a_time = anyio.Lock()

    async def list_tools(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        del context, params
        return ListToolsResult(tools=listed)

    async def call_tool(
        context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        given_up, unheard = threading.Event(), threading.Event()

        async def report(fraction: float, text: str) -> None:
            with anyio.move_on_after(_PROGRESS_S) as scope:
                await context.session.report_progress(fraction, 1.0, text)
            if scope.cancelled_caught:
                unheard.set()

        def progress(fraction: float, text: str) -> bool:
            if not given_up.is_set() and not unheard.is_set():
                anyio.from_thread.run(report, fraction, text)
            return given_up.is_set()

        call = partial(_call, session, params, progress)
        try:
            async with one_at_a_time:
                envelope = await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
        except anyio.get_cancelled_exc_class():
            given_up.set()
            raise
        text = json.dumps(envelope, sort_keys=True, ensure_ascii=False, allow_nan=False)
        return CallToolResult(
            content=[TextContent(type="text", text=text)],
            structured_content=envelope,
            is_error=not envelope["ok"],
        )

    return Server(
        f"twice: {name}",
        version=VERSION,
        instructions=_write_instructions(session),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def describe_tool(tool: Mapping[str, Any], contract: Mapping[str, Any]) -> Tool:
    """Describe a tool as a host lists it, from its descriptor in a hosted session and from the contract's document."""
    result = {key: each for key, each in tool["output"].items() if key != "$schema"}
    definitions = {key: result.pop(key) for key in ("$defs",) if key in result}
    envelope = {
        "type": "object",
        "required": ["ok"],
        "properties": {
            "ok": {"type": "boolean"},
            "result": result,
            "determinism": {"type": "object"},
            "fingerprint": {"type": ["string", "null"]},
            "state_fingerprint": {"type": "string"},
            "error": _ERROR,
        },
        "oneOf": [{"required": ["result", "determinism"]}, {"required": ["error"]}],
        **definitions,  # A reference inside of the result begins at the top.
    }
    keys = ("determinism", "version", "needs", "tolerance", "macro", "fingerprint")
    return Tool(
        name=tool["name"],
        description=tool["description"],
        input_schema=tool["input"],
        output_schema=envelope,
        annotations=ToolAnnotations(
            read_only_hint=tool["reads_only"],
            destructive_hint=tool["destructive"],
            idempotent_hint=tool["idempotent"],
            open_world_hint=bool(tool["needs"].get("network")),
        ),
        _meta={
            **{f"{PREFIX}{key}": tool[key] for key in keys},
            f"{PREFIX}registry": contract["registry"],
            f"{PREFIX}contract": contract["id"],
        },
    )


_ERROR: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["code", "message", "details"],
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "details": {"type": "object"},
    },
}


def _call(
    session: HostedSession, params: CallToolRequestParams, progress: Progress
) -> dict[str, Any]:
    told: Mapping[str, Any] = dict(params.meta or {})
    try:
        return session.call(
            params.name,
            params.arguments,
            require=told.get(f"{PREFIX}require"),
            time=told.get(f"{PREFIX}time"),
            progress=progress,
        )
    except TwiceError as error:
        # The session is over, which is nothing that the tool did. The remedy names files of this machine.
        lost = isinstance(error, ToolSessionLost)
        return {
            "ok": False,
            "error": {
                "code": "internal_error",
                "message": f"{error.happened} Whoever runs the server has to begin another session.",
                "details": {"session": "lost" if lost else "closed"},
            },
        }


def _write_instructions(session: HostedSession) -> str:
    seed = session.contract["session_seed"]
    return (
        "Every answer is an envelope: ok with result, or error with code, message and details. "
        "Each tool says in its metadata whether it is deterministic, seeded or nondeterministic. "
        + (
            "Seeded tools need the argument seed: this session has none. "
            if seed is None
            else f"Seeded tools draw from the session's seed {seed} unless they are given one; "
            "equal calls draw alike, another call_key draws anew. "
        )
        + "One call is carried out at a time."
    )
