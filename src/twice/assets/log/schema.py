"""The JSON Schema (draft 2020-12) of a log that ships with the package, made from the table of its fields.

One file validates alone. Its definitions hold every block once for each promise, because the promise decides which
fields have to be there. ``python -m twice.assets.log.schema`` writes it anew.

Invariant: the schema takes a document exactly when ``io.examine`` finds no problem in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from twice.assets.log.block import EXCUSE, LogBlock, Mode
from twice.assets.log.fields import FIELDS, list_children
from twice.assets.log.kinds import KNOWN
from twice.assets.log.models import AssetKind, DeterminismLog, Grade, Promise
from twice.writing import write

PATH: Final = Path(__file__).parents[1] / "schemas" / "determinism_log.schema.json"
IDENTIFIER: Final = "urn:twice:schema:determinism-log:1"
_KNOWN: Final = {"$ref": "#/$defs/known"}


def make_schema() -> dict[str, Any]:
    """Make the schema. The two render blocks are its definitions ``ArtRender`` and ``AudioRender``."""
    promise = _when("mode", {"const": Mode.DETERMINISTIC}, {})["if"]
    reason = {"properties": {EXCUSE: _KNOWN}, "additionalProperties": False}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": IDENTIFIER,
        "title": "Determinism log of an asset",
        "if": {"type": "object"} | _when("promise", promise, {})["if"],
        "then": {"$ref": f"#/$defs/{Mode.DETERMINISTIC}/DeterminismLog"},
        "else": {"$ref": f"#/$defs/{Mode.NON_DETERMINISTIC}/DeterminismLog"},
        "$defs": {
            "known": {"type": "string", "pattern": KNOWN},
            "excused": {"type": "object", "required": [EXCUSE]},
            "reason": reason,
            **{mode.value: _make_blocks(mode) for mode in Mode},
        },
    }


def write_schema(path: Path = PATH) -> None:
    """Write the schema as its file holds it."""
    write(path, (json.dumps(make_schema(), indent=1, ensure_ascii=True) + "\n").encode())


def _make_blocks(mode: Mode) -> dict[str, Any]:
    """Make the schema of each block under one promise, by the name of its class."""
    found = {"DeterminismLog": _make_block(DeterminismLog, "", mode)}
    for at, field in FIELDS.items():
        if isinstance(field.shape, type):
            found[field.shape.__name__] = _make_block(field.shape, at, mode)
    log = found["DeterminismLog"]
    log["required"] = [each for each in log["required"] if each not in set(AssetKind)]
    log["allOf"] = [_when("revision", {"minimum": 2}, {"required": ["supersedes"]})]
    for kind in AssetKind:
        needed = {"required": [kind.value]} if mode is Mode.DETERMINISTIC else {}
        barred = {"properties": {each.value: False for each in AssetKind if each is not kind}}
        log["allOf"].append(_when("kind", {"const": kind}, needed | barred))
    tolerant = _when("grade", {"const": Grade.TOLERANCE}, {"required": ["profile"]})
    found[Promise.__name__]["allOf"] = [tolerant]
    return found


def _when(name: str, condition: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    return {"if": {"required": [name], "properties": {name: condition}}, "then": then}


def _make_block(block: type[LogBlock], at: str, mode: Mode) -> dict[str, Any]:
    children = list_children(at)
    return {
        "type": "object",
        "description": block.__doc__,
        "additionalProperties": False,
        "required": [name for name, field in children.items() if mode in field.modes],
        "properties": {
            name: {"description": field.words} | _make_field(f"{at}/{name}", mode)
            for name, field in children.items()
        },
    }


def _make_field(at: str, mode: Mode) -> dict[str, Any]:
    field = FIELDS[at]
    schema = dict(field.schema)
    if isinstance(field.shape, type):
        schema = {"$ref": f"#/$defs/{mode}/{field.shape.__name__}"}
    elif field.shape == "list":
        schema |= {"type": "array", "items": _make_field(f"{at}/*", mode)}
    elif field.shape == "table":
        schema |= {"type": "object", "additionalProperties": _make_field(f"{at}/*", mode)}
    if field.is_excusable:
        return {
            "if": {"$ref": "#/$defs/excused"},
            "then": {"$ref": "#/$defs/reason"},
            "else": schema,
        }
    return schema


if __name__ == "__main__":
    write_schema()
