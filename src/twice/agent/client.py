"""What the server asks of a client: which folders it grants, and whether its user agrees to an execution.

Before 2026-07-28 the server sends a request of its own. Since then it answers "input required", and the client calls
again with what was asked for.

Invariant: a client that cannot be asked has agreed to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp.server import ServerRequestContext
from mcp_types import (
    ClientCapabilities,
    ElicitationCapability,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    RootsCapability,
)

_ROOTS: Final = "roots"
_CONSENT: Final = "consent"
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"run": {"type": "boolean", "title": "Run it", "default": False}},
    "required": ["run"],
}


class InputRequired(Exception):
    """A call has to come again with what its client is asked for."""

    def __init__(self, result: InputRequiredResult) -> None:
        super().__init__("input required")
        self.result = result


class AskedClient:
    """The client of one call.

    Args:
        context: of the call.
        responses: what it was asked for when the call came before.
    """

    def __init__(
        self, context: ServerRequestContext[Any], responses: Mapping[str, Any] | None
    ) -> None:
        self._session = context.session
        self._responses = responses or {}

    async def list_roots(self) -> list[str]:
        """List the folders that it grants, as addresses; none where it does not say.

        Raises:
            InputRequired: the call has to come again.
        """
        if not self._session.check_client_capability(ClientCapabilities(roots=RootsCapability())):
            return []
        if self._session.can_send_request:
            given = await self._session.send_request(ListRootsRequest(), ListRootsResult)
        else:
            given = self._find(_ROOTS, ListRootsResult, {_ROOTS: ListRootsRequest()})
        return [str(each.uri) for each in given.roots]

    async def agrees(self, question: str) -> bool:
        """Ask its user a question; False where nobody can be asked.

        Raises:
            InputRequired: the call has to come again.
        """
        asking = ClientCapabilities(elicitation=ElicitationCapability())
        if not self._session.check_client_capability(asking):
            return False
        if self._session.can_send_request:
            given = await self._session.elicit_form(question, _SCHEMA)
        else:
            params = ElicitRequestFormParams(message=question, requested_schema=_SCHEMA)
            asked: dict[str, Any] = {_CONSENT: ElicitRequest(params=params)}
            if _ROOTS in self._responses:  # each round answers for itself
                asked[_ROOTS] = ListRootsRequest()
            given = self._find(_CONSENT, ElicitResult, asked)
        return given.action == "accept" and bool((given.content or {}).get("run"))

    def _find(self, name: str, kind: Any, asked: dict[str, Any]) -> Any:
        found = self._responses.get(name)
        if not isinstance(found, kind):
            raise InputRequired(InputRequiredResult(input_requests=asked))
        return found
