"""A draft of a log: every field with what it takes, for somebody to fill in.

Invariant: nothing in a draft passes for a value.
"""

from __future__ import annotations

from typing import Any, Final

from twice.assets.log.declaring import Declared, Inside, Many, Need, One
from twice.assets.log.log import FORMAT, AssetKind, DeterminismLog
from twice.assets.log.promise import Mode
from twice.assets.log.reading import Needs, declared_fields, expected_of

_WANTED: Final = "wanted"
_FILLED_IN: Final = ("log_id", "created", "nonce", "revision", "supersedes", "asset", "verdicts")
"""What sealing and re-rendering write."""


def draft(kind: AssetKind, mode: Mode) -> dict[str, Any]:
    """Make a draft: a value that is wanted stands as ``{"wanted": what it takes}``.

    Args:
        kind: of the asset.
        mode: the promise that is to be made.
    """
    needs = Needs.of(mode, kind)
    document: dict[str, Any] = {"format": FORMAT}
    for name, declared in declared_fields(DeterminismLog).items():
        if name in _FILLED_IN or name in set(AssetKind) - {kind}:
            continue
        if declared.need in needs.holding and name not in document:
            document[name] = _wanted(declared, needs)
    promise = {name: said for name, said in document["promise"].items() if name != "mode"}
    who = {"level": "declared", "who": {_WANTED: "a name"}, "when": {_WANTED: "an instant"}}
    return document | {
        "kind": kind.value,
        "promise": {"mode": mode.value, **promise},
        "evidence": {"": who},
    }


def without_wanted(draft: Any) -> Any:
    """Leave out of a draft what nobody filled in, and what holds nothing else."""
    if isinstance(draft, dict):
        kept = {name: without_wanted(part) for name, part in draft.items() if not _open(part)}
        return {name: part for name, part in kept.items() if part != {} or draft[name] == {}}
    if isinstance(draft, list):
        kept_items = [without_wanted(part) for part in draft if not _open(part)]
        return [part for part in kept_items if part not in ({}, [])]
    return draft


def _open(part: Any) -> bool:
    """Whether everything in a part still stands as it was printed."""
    if isinstance(part, dict):
        return set(part) == {_WANTED} or (bool(part) and all(map(_open, part.values())))
    return isinstance(part, list) and bool(part) and all(map(_open, part))


def _wanted(declared: Declared, needs: Needs) -> Any:
    match declared.shape:
        case Inside(block):
            return _block(block, needs)
        case Many(Inside(block), _):
            return [_block(block, needs)]
        case Many(One(kind), _):
            return [{_WANTED: f"{declared.words}: {kind.words}"}]
        case _:
            return {_WANTED: f"{declared.words}: {expected_of(declared)}"}


def _block(block: Any, needs: Needs) -> dict[str, Any]:
    every = Need.ALWAYS in needs.holding
    assert every, "some fields are needed always"
    return {
        name: _wanted(declared, needs)
        for name, declared in declared_fields(block).items()
        if declared.need in needs.holding
    }
