"""A draft of a log: every field with what it takes, for somebody to fill in.

Invariant: nothing in a draft passes for a value.
"""

from __future__ import annotations

from typing import Any, Final

from twice.assets.log.block import Mode
from twice.assets.log.fields import FIELDS, list_children
from twice.assets.log.models import FORMAT, AssetKind

_WANTED: Final = "wanted"
_FILLED_IN: Final = ("log_id", "created", "nonce", "revision", "supersedes", "asset", "verdicts")
"""What sealing and re-rendering write."""


def draft(kind: AssetKind, mode: Mode) -> dict[str, Any]:
    """Make a draft: a value that is wanted stands as ``{"wanted": what it takes}``.

    Args:
        kind: of the asset.
        mode: the promise that is to be made.
    """
    document = _describe_block("", mode)
    for name in (*_FILLED_IN, *(each for each in AssetKind if each is not kind)):
        document.pop(name, None)
    who = {"level": "declared", "who": {_WANTED: "a name"}, "when": {_WANTED: "an instant"}}
    return document | {
        "format": FORMAT,
        "kind": kind.value,
        "promise": {**document["promise"], "mode": mode.value},
        "evidence": {"": who},
    }


def without_wanted(draft: Any) -> Any:
    """Leave out of a draft what nobody filled in, and what holds nothing else."""
    if isinstance(draft, dict):
        kept = {name: without_wanted(part) for name, part in draft.items() if not _is_open(part)}
        return {name: part for name, part in kept.items() if part != {} or draft[name] == {}}
    if isinstance(draft, list):
        kept_items = [without_wanted(part) for part in draft if not _is_open(part)]
        return [part for part in kept_items if part not in ({}, [])]
    return draft


def _is_open(part: Any) -> bool:
    """Whether everything in a part still stands as it was printed."""
    if isinstance(part, dict):
        return set(part) == {_WANTED} or (bool(part) and all(map(_is_open, part.values())))
    return isinstance(part, list) and bool(part) and all(map(_is_open, part))


def _describe_block(at: str, mode: Mode) -> dict[str, Any]:
    fields = list_children(at).items()
    return {name: _describe(f"{at}/{name}", mode) for name, each in fields if mode in each.modes}


def _describe(at: str, mode: Mode) -> Any:
    field = FIELDS[at]
    if isinstance(field.shape, type):
        return _describe_block(at, mode)
    if field.shape == "list":
        return [_describe(f"{at}/*", mode)]
    return {_WANTED: f"{field.words}: {field.wanted}"}
