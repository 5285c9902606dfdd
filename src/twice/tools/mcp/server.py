"""The protocol's server over one hosted session.

A call is passed on as it came: the SDK's low-level server neither validates nor coerces arguments.
Calls wait for each other, because the state is one, whoever sends them. A call that its client gives
up goes on until the tool next tells its progress; then it is undone.

A client says what it requires of a call, and what the time is, in the metadata of the call:
``twice/require`` and ``twice/time``.

Invariant: every call of a tool is answered by an envelope.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server import Server, ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)

from twice.errors import TwiceError
from twice.foundation.version import VERSION
from twice.tools.errors import ToolSessionLost
from twice.tools.mcp.describing import PREFIX, answered, described
from twice.tools.worker.host import HostedSession


def server_of(session: HostedSession, name: str) -> Server[Any]:
    """Build the server of a session.

    Args:
        session: an open session, which the caller closes.
        name: the registry's name, as hosts show it.
    """
    listed = [described(each, session.contract) for each in session.tools]

    async def list_tools(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        del context, params
        return ListToolsResult(tools=listed)

    async def call_tool(
        context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        told: Mapping[str, Any] = dict(params.meta or {})
        given_up = threading.Event()

        def progress(fraction: float, text: str) -> bool:
            if not given_up.is_set():
                anyio.from_thread.run(context.session.report_progress, fraction, 1.0, text)
            return given_up.is_set()

        def called() -> dict[str, Any]:
            return _called(session, params.name, params.arguments, told, progress)

        try:
            return answered(await anyio.to_thread.run_sync(called, abandon_on_cancel=True))
        except anyio.get_cancelled_exc_class():
            given_up.set()
            raise

    return Server(
        f"twice: {name}",
        version=VERSION,
        instructions=_instructions(session),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _called(
    session: HostedSession,
    tool: str,
    arguments: Mapping[str, Any] | None,
    told: Mapping[str, Any],
    progress: Callable[[float, str], bool],
) -> dict[str, Any]:
    try:
        return session.call(
            tool,
            arguments,
            require=told.get(f"{PREFIX}require"),
            time=told.get(f"{PREFIX}time"),
            progress=progress,
        )
    except TwiceError as error:
        # The session is over, which is nothing that the tool did.
        lost = isinstance(error, ToolSessionLost)
        return {
            "ok": False,
            "error": {
                "code": "internal_error",
                "message": f"{error.happened} {error.remedy}",
                "details": {"session": "lost" if lost else "closed"},
            },
        }


def _instructions(session: HostedSession) -> str:
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
