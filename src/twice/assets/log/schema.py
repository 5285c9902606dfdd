"""The JSON Schema (draft 2020-12) of a log that ships with the package, made from the models.

One file validates alone. Its definitions hold every block once for each promise, because the promise decides which
fields have to be there. ``python -m twice.assets.log.schema`` writes it anew.

Invariant: the schema takes a document exactly when ``io.examine`` finds no problem in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from twice.assets.log.block import EXCUSE, EXCUSE_MARK, Mode, Need
from twice.assets.log.kinds import KNOWN, KNOWN_MARK
from twice.assets.log.models import AssetKind, DeterminismLog, Grade
from twice.writing import write

PATH: Final = Path(__file__).parents[1] / "schemas" / "determinism_log.schema.json"
IDENTIFIER: Final = "urn:twice:schema:determinism-log:1"


def make_schema() -> dict[str, Any]:
    """Make the schema. The two render blocks are its definitions ``ArtRender`` and ``AudioRender``."""
    definitions: dict[str, Any] = {mode.value: _make_blocks(mode) for mode in Mode}
    is_promised = {
        "type": "object",
        "required": ["promise"],
        "properties": {
            "promise": {"properties": {"mode": {"const": Mode.DETERMINISTIC}}, "required": ["mode"]}
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": IDENTIFIER,
        "title": "Determinism log of an asset",
        "if": is_promised,
        "then": {"$ref": f"#/$defs/{Mode.DETERMINISTIC}/DeterminismLog"},
        "else": {"$ref": f"#/$defs/{Mode.NON_DETERMINISTIC}/DeterminismLog"},
        "$defs": {
            "known": {"type": "string", "pattern": KNOWN},
            "excused": {"type": "object", "required": [EXCUSE]},
            "reason": {
                "properties": {EXCUSE: {"$ref": "#/$defs/known"}},
                "additionalProperties": False,
            },
            **definitions,
        },
    }


def write_schema(path: Path = PATH) -> None:
    """Write the schema as its file holds it."""
    write(path, (json.dumps(make_schema(), indent=1, ensure_ascii=True) + "\n").encode())


def _make_blocks(mode: Mode) -> dict[str, Any]:
    """Make the schema of each block under one promise, by the name of its class."""
    schema = DeterminismLog.model_json_schema(ref_template=f"#/$defs/{mode}/{{model}}")
    blocks: dict[str, Any] = schema.pop("$defs")
    blocks["DeterminismLog"] = schema
    _refine(blocks, mode)
    schema["required"] = [each for each in schema["required"] if each not in set(AssetKind)]
    schema["allOf"] = [
        _when("revision", {"minimum": 2}, {"required": ["supersedes"]}),
        *(_when("kind", {"const": kind}, _bar_others(kind, mode)) for kind in AssetKind),
    ]
    tolerant = _when("grade", {"const": Grade.TOLERANCE}, {"required": ["profile"]})
    blocks["Promise"]["allOf"] = [tolerant]
    return blocks


def _when(name: str, condition: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    return {"if": {"required": [name], "properties": {name: condition}}, "then": then}


def _bar_others(kind: AssetKind, mode: Mode) -> dict[str, Any]:
    """Require the render block of a kind under a promise, and refuse that of another kind."""
    needed = {"required": [kind.value]} if mode is Mode.DETERMINISTIC else {}
    return needed | {"properties": {each.value: False for each in AssetKind if each is not kind}}


def _refine(part: Any, mode: Mode) -> None:
    """Turn what pydantic writes into the schema of documents under one promise, in place."""
    if isinstance(part, list):
        for each in part:
            _refine(each, mode)
    if not isinstance(part, dict):
        return
    for name in ("title", "default"):  # The names of classes and None: neither is of a document.
        if not isinstance(part.get(name), dict):
            part.pop(name, None)
    nullable = part.get("anyOf", [])
    if {"type": "null"} in nullable:  # A field that nobody spoke of is absent, never null.
        (taken,) = (each for each in part.pop("anyOf") if each != {"type": "null"})
        part |= taken
    if part.pop(KNOWN_MARK, False):
        part["$ref"] = "#/$defs/known"
    if part.pop(EXCUSE_MARK, False):
        about = {name: part.pop(name) for name in ("description", "need") if name in part}
        excused = {"if": {"$ref": "#/$defs/excused"}, "then": {"$ref": "#/$defs/reason"}}
        taken = dict(part)
        part.clear()
        part |= {**about, **excused, "else": taken}
    if isinstance(part.get("properties"), dict):
        needs = {
            name: Need(each.pop("need"))
            for name, each in part["properties"].items()
            if "need" in each
        }
        if needs:
            part["required"] = [name for name, need in needs.items() if need.holds(mode)]
    for each in list(part.values()):
        _refine(each, mode)


if __name__ == "__main__":
    write_schema()
