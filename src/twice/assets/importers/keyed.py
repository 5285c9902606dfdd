"""Dialects that are a JSON object with fixed keys: a table of keys, the rest kept by name.

Secrets do not come along: a member whose name is a secret's, or whose text looks like a known form of
credential, is kept as ``REDACTED``.

Invariant: a key of the table whose value has the wrong type is reported, never converted by force.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from twice.assets.importers import fields, scalars
from twice.assets.importers.imported import Reading, Value
from twice.assets.importers.jsontext import JsonRefused, parsed
from twice.recorder.redaction.fields import judge

REDACTED: Final = "<secret left out>"
_CREDENTIAL = re.compile(
    r"(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{12,}"
    r"|AIza[A-Za-z0-9_-]{20,}|xox[abp]-[A-Za-z0-9-]{10,}|r8_[A-Za-z0-9]{20,}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
)
_NOT_SECRET = re.compile(
    r"token_?(?:count|length|normalization)|keyframe|key_?frame|keep|^key$", re.IGNORECASE
)
_DEPTH_MAX = 8

Typed: TypeAlias = Callable[[object], "Value | None"]
Table: TypeAlias = Mapping[str, tuple[str, Typed]]


def read_seed(value: object, reading: Reading, *, where: str = "seed") -> None:
    """Take a seed as the one used, or note that it says nothing."""
    if value is None:
        return
    found = scalars.seed(value)
    if found is None:
        why = f"{where}: {str(value)[:80]!r} says nothing of the seed that was used"
        reading.doubt(fields.SEED_EFFECTIVE, [], why)
    else:
        reading.say(fields.SEED_EFFECTIVE, found)


def read_object(text: str, reading: Reading) -> dict[str, Any] | None:
    """Read a JSON object; note why not, and give nothing, where it is none."""
    try:
        found = parsed(text)
    except JsonRefused as error:
        reading.puzzle("JSON", str(error))
        return None
    if not isinstance(found, dict):
        reading.puzzle("JSON", f"it holds {kind_of(found)}, not an object")
        return None
    return found


def read_keys(
    found: Mapping[str, Any], table: Table, reading: Reading, *, known: tuple[str, ...] = ()
) -> None:
    """Read an object by a table; keys that are neither in it nor in ``known`` are kept as other."""
    for key, value in found.items():
        if key in table:
            pointer, typed = table[key]
            taken = typed(value)
            if taken is not None:
                reading.say(pointer, taken)
            elif value not in (None, ""):
                reading.puzzle(key, f"{said(value)} is no value for {pointer}")
        elif key not in known:
            reading.keep(key, without_secrets(value, key))


def said(value: object) -> str:
    """Show the beginning of a value, for a reason that people read."""
    return repr(value if isinstance(value, str | int | float) else kind_of(value))[:80]


def kind_of(value: object) -> str:
    """Name a JSON value's kind."""
    kinds = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        type(None): "null",
    }
    return kinds.get(type(value), "a number")


def without_secrets(value: object, name: str = "", depth: int = 0) -> Value | None:
    """Give a JSON value in which secrets are left out, by name and by form; cut off below some depth."""
    if isinstance(value, str):
        return REDACTED if is_secret(name, value) else value
    if isinstance(value, bool | int | float):
        return value
    if depth == _DEPTH_MAX:
        return f"<{kind_of(value)}>"
    if isinstance(value, dict):
        inside = {
            str(key): without_secrets(each, str(key), depth + 1) for key, each in value.items()
        }
        return {key: each for key, each in inside.items() if each is not None}
    if isinstance(value, list):
        members = [without_secrets(each, name, depth + 1) for each in value]
        return [each for each in members if each is not None]
    return None


def is_secret(name: str, value: str) -> bool:
    """Whether a text is a secret by the name it has or by how it looks."""
    if not value.strip():
        return False
    named = judge(name.encode("utf-8", "replace")[:200]) != "no" and not _NOT_SECRET.search(name)
    return named or _CREDENTIAL.search(value) is not None
