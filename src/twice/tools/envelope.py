"""The one shape of every outcome: a result with what decided it, or an error with a code.

Codes are closed; a host may switch on them. No stack trace and no path of this machine goes into an
envelope: the whole of an error goes to the observer.

Invariant: ``failure`` and ``success`` are the only makers of envelopes.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

from twice.tools.canonical_json import fingerprint
from twice.tools.declaration import Tool
from twice.tools.errors import CallRefused
from twice.tools.seeds import Seeded, seed_to_json

Envelope: TypeAlias = dict[str, Any]

CODES: Final = {
    "invalid_arguments": "the arguments are not what the tool's schema says",
    "not_found": "there is no such tool, or no such thing in the state",
    "conflict": "the state stands in the way: a name is taken, a precondition does not hold",
    "capability_missing": "the contract or the backend does not offer what the tool needs",
    "contract_violation": "the call lies outside the session contract",
    "nondeterministic_refused": "more was required than can be guaranteed",
    "seed_required": "the tool is seeded, and neither the call nor the session has a seed",
    "timeout": "the tool took longer than it may",
    "execution_failed": "the tool failed, or gave back what it did not declare",
    "internal_error": "the runtime or the backend failed",
}
_TEXT_MAX: Final = 2000
_FOLDERS = re.compile(r"(?<![\w./])(?:[A-Za-z]:)?[/\\](?![/\\])(?:[^\s'\"/\\]+[/\\])+")
"""The folders of a path from the root, in a sentence."""


def success(
    result: Any, tool: Tool, seeded: Seeded | None, *, exact: bool, state: str | None
) -> Envelope:
    """Build the envelope of a result that is plain JSON.

    A fingerprint claims equality: there is none within a tolerance, of the tool or of a part (then it is not exact).
    A tool that may write has the fingerprint of the state that it left.
    """
    return {
        "ok": True,
        "result": result,
        "determinism": {
            "class": tool.determinism.value,
            "seed": None if seeded is None else seed_to_json(seeded.seed),
            "seed_source": None if seeded is None else seeded.source,
            "call_key": None if seeded is None else seeded.call_key,
            "tolerance": None if tool.tolerance is None else tool.tolerance.to_json(),
        },
        "fingerprint": fingerprint(result) if exact and tool.tolerance is None else None,
        **({} if state is None else {"state_fingerprint": state}),
    }


def failure(refusal: CallRefused) -> Envelope:
    """Build the envelope of a call without a result."""
    code = refusal.code if refusal.code in CODES else "execution_failed"
    sentences = (refusal.happened, refusal.expected, refusal.remedy)
    message = " ".join(each for each in sentences if each)
    return {
        "ok": False,
        "error": {
            "code": code,
            "message": _clean(message[:_TEXT_MAX]),
            "details": {str(key): _detail(each) for key, each in refusal.fields.items()},
        },
    }


def hide_folders(text: str) -> str:
    """Cut the paths of this machine in a text to their last name, and the text to a length."""
    return _FOLDERS.sub("", text)[:300]


def _detail(value: object, depth: int = 0) -> Any:
    """Convert any detail to plain JSON; describe a value that has no such form."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < 2**53 else f"{int(value):#x}"[:_TEXT_MAX]
    if isinstance(value, float):
        return float(value) if value - value == 0 else repr(value)
    if depth < 8 and isinstance(value, list | tuple):
        return [_detail(each, depth + 1) for each in value[:100]]
    if depth < 8 and isinstance(value, dict):
        items = list(value.items())[:100]
        return {_clean(str(key)): _detail(each, depth + 1) for key, each in items}
    text = value if isinstance(value, str) else f"<{type(value).__name__}>"
    return _clean(text[:_TEXT_MAX])


def _clean(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
