"""A sheet's text before anybody wrote in it: its keys with what they are for, what they take, and what is known.

Invariant: what is not known is "?", never a likely value.
"""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import Final

from twice.specifying.artifact import SCHEMA
from twice.specifying.frontmatter import Row, Value, written
from twice.specifying.kinds import UNKNOWN, Text
from twice.specifying.schema import Item, Sheet
from twice.specifying.sheets.snapshots import StateKind
from twice.specifying.tiers import Situation, may_be_memo

FIRST_VERSION: Final = "0.1.0"
_WIDTH: Final = 110
_MEMO: Final = (
    "One page does for this sheet at tier XS. Say in a paragraph what is done, and what is not.\n"
)


def template(
    sheet: Sheet,
    component: str,
    situation: Situation,
    known: Mapping[str, Value],
    *,
    memo: bool = False,
    every: bool = False,
) -> str:
    """Write a sheet.

    Args:
        sheet: which.
        component: the system that is specified.
        situation: what decides which keys are needed.
        known: values that are known already, by key.
        memo: whether one page does, and is wanted.
        every: whether keys that are not needed there are named too, with when they are.
    """
    memo = memo and may_be_memo(sheet.number, situation.tier)
    common: dict[str, Value] = {
        "schema": SCHEMA,
        "id": sheet.number,
        "title": sheet.title,
        "component": component,
        "version": FIRST_VERSION,
        "status": "memo" if memo else "draft",
        "owner": known.get("owner", UNKNOWN),
    }
    parts = ["---\n", *(written(key, value) for key, value in common.items())]
    for item in () if memo else sheet.items:
        needed = item.needed is not None and item.needed.holds(situation)
        if needed or item.key in known:
            parts += [*_told(item), written(item.key, known.get(item.key, _open(item)))]
        elif item.needed is None:
            parts += _told(item, f"optional: {item.key}: ")
        elif every:
            parts += _told(item, f"{item.needed.words}: {item.key}: ")
    parts += [f"---\n\n# {sheet.title}\n\n{sheet.about}\n"]
    parts += ["\n", _MEMO] if memo else []
    return "".join([*parts, "\n## Notes\n\nWhat stands here decides nothing.\n"])


def _told(item: Item, lead: str = "") -> list[str]:
    """Write, as comments, what a key is for, what it takes and an example."""
    lines = [f"{lead}{item.says}"]
    if not isinstance(item.kind, Text):
        lines += wrap(
            f"takes {item.kind.expected}", _WIDTH, subsequent_indent="  ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        lines += ["for example:", *(f"  {line}" for line in _example(item))]
    return [f"# {line}\n" for line in lines]


def _example(item: Item) -> list[str]:
    return written(item.key, item.example).removesuffix("\n").split("\n")


def _open(item: Item) -> Value:
    """Give what stands for a value that nobody has said."""
    if item.key == "state":
        rows: list[Row] = [
            {"kind": kind.value, "answer": UNKNOWN, "how": UNKNOWN} for kind in StateKind
        ]
        return rows
    return UNKNOWN
