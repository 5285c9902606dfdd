"""How a tool and an envelope look in the protocol.

The schemas are the tool's own, to the letter. Class, version, needs and fingerprints stand in the
metadata, because the protocol's four hints say nothing of them; the hints are set to what the tool
declares, and a host may not rely on them.

Invariant: the text of an answer and its structured content are the same document.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

PREFIX: Final = "twice/"
"""Before each of our keys in the protocol's metadata."""

_ERROR: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["code", "message", "details"],
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "details": {"type": "object"},
    },
}


def described(tool: Mapping[str, Any], contract: Mapping[str, Any]) -> Tool:
    """Describe a tool as a host lists it.

    Args:
        tool: its descriptor, with its fingerprint, from a hosted session.
        contract: the session's contract, as a document.
    """
    needs = tool["needs"]
    return Tool(
        name=tool["name"],
        description=tool["description"],
        input_schema=tool["input"],
        output_schema=_answer_schema(tool["output"]),
        annotations=ToolAnnotations(
            read_only_hint=tool["reads_only"],
            destructive_hint=tool["destructive"],
            idempotent_hint=tool["idempotent"],
            open_world_hint=bool(needs.get("network")),
        ),
        _meta={
            f"{PREFIX}determinism": tool["determinism"],
            f"{PREFIX}version": tool["version"],
            f"{PREFIX}needs": needs,
            f"{PREFIX}tolerance": tool["tolerance"],
            f"{PREFIX}macro": tool["macro"],
            f"{PREFIX}fingerprint": tool["fingerprint"],
            f"{PREFIX}registry": contract["registry"],
            f"{PREFIX}contract": contract["id"],
        },
    )


def answered(envelope: Mapping[str, Any]) -> CallToolResult:
    """Build the answer to a call from an envelope; the model sees an error."""
    document = dict(envelope)
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=document,
        is_error=not document["ok"],
    )


def _answer_schema(result: Mapping[str, Any]) -> dict[str, Any]:
    """Build the schema of envelopes around a result; leave definitions at the top."""
    result = dict(result)
    definitions = {key: result.pop(key) for key in ("$defs",) if key in result}
    result.pop("$schema", None)
    return {
        "type": "object",
        "required": ["ok"],
        "properties": {
            "ok": {"type": "boolean"},
            "result": result,
            "determinism": {"type": "object"},
            "fingerprint": {"type": ["string", "null"]},
            "error": _ERROR,
        },
        "oneOf": [{"required": ["result", "determinism"]}, {"required": ["error"]}],
        **definitions,
    }
