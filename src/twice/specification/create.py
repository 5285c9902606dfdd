"""New sheets: a sheet's text before anybody wrote in it, and which sheets may be written now.

01 comes before everything; while it is contested nothing after it is written. 04 and later wait until 01, 02 and 03
say all that they have to.

Invariant: what is not known is "?", never a likely value, and a sheet that is there is never written over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from textwrap import wrap
from typing import Final

from twice.specification.front_matter import Row, Scalar, Value, format_entry
from twice.specification.schema import SHEETS, UNKNOWN, VERSION, Item, SheetSchema
from twice.specification.sheet import read_sheet
from twice.specification.tiers import Situation, StateKind, Tier, Trait, may_be_memo
from twice.specification.workspace import Workspace

FIRST_VERSION: Final = "0.1.0"
_FIRST: Final = ("00", "01", "02", "03")
# What only a first recording gives; the sheets after 03 are written before that.
_LATER: Final = frozenset({"vector", "vector_digest", "vectors", "owner"})
_WIDTH: Final = 110
_MEMO: Final = (
    "One page does for this sheet at tier XS. Say in a paragraph what is done, and what is not.\n"
)


def render_template(
    schema: SheetSchema,
    component: str,
    situation: Situation,
    known: Mapping[str, Value],
    *,
    memo: bool = False,
    every: bool = False,
) -> str:
    """Return the text of a new sheet: its head, and below it what the sheet is about.

    Args and the head are those of ``render_head``.
    """
    is_memo = memo and may_be_memo(schema.number, situation.tier)
    head = render_head(schema, component, situation, known, memo=is_memo, every=every)
    body = f"\n# {schema.title}\n\n{schema.about}\n" + f"\n{_MEMO}" * is_memo
    return f"{head}{body}\n## Notes\n\nWhat stands here decides nothing.\n"


def render_head(
    schema: SheetSchema,
    component: str,
    situation: Situation,
    known: Mapping[str, Value],
    *,
    memo: bool = False,
    every: bool = False,
) -> str:
    """Return the head of a new sheet: its keys with what they are for, what they accept, and what is known.

    Args:
        schema: which sheet.
        component: the system that is specified.
        situation: what decides which keys are needed.
        known: values that are known already, by key.
        memo: whether one page does, and is wanted.
        every: whether keys that are not needed there are named too, with when they are.
    """
    common: dict[str, Value] = {
        "schema": VERSION,
        "id": schema.number,
        "title": schema.title,
        "component": component,
        "version": known.get("version", FIRST_VERSION),
        "status": "memo" if memo else "draft",
        "owner": known.get("owner", UNKNOWN),
    }
    parts = ["---\n", *(format_entry(key, value) for key, value in common.items())]
    for item in () if memo else schema.items:
        needed = item.needed is not None and item.needed.holds(situation)
        if needed or item.key in known:
            value = known.get(item.key, UNKNOWN)
            if item.key == "state" and value == UNKNOWN:
                rows: list[Row] = [
                    {"kind": kind.value, "answer": UNKNOWN, "how": UNKNOWN} for kind in StateKind
                ]
                value = rows
            parts += [_explain(item), format_entry(item.key, value)]
        elif item.needed is None:
            parts.append(_explain(item, f"optional: {item.key}: "))
        elif every:
            parts.append(_explain(item, f"{item.needed.words}: {item.key}: "))
    return "".join([*parts, "---\n"])


def _explain(item: Item, lead: str = "") -> str:
    """Return comments that say what a key is for, what it accepts and an example."""
    lines = [f"{lead}{item.says}"]
    if not item.is_text:
        lines += wrap(
            f"takes {item.type.expected}", _WIDTH, subsequent_indent="  ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        example = format_entry(item.key, item.example).removesuffix("\n").split("\n")
        lines += ["for example:", *(f"  {line}" for line in example)]
    return "".join(f"# {line}\n" for line in lines)


def find_blocker(workspace: Workspace, number: str) -> str | None:
    """Return what a sheet waits for, in one sentence; None when it may be written."""
    if number > "01" and workspace.value("01", "contested") is True:
        return "01 is contested: settle when two runs count as the same first"
    situation = workspace.situation()
    for each in _FIRST[1:] if number > "03" else ():
        sheet = workspace.get(each)
        if sheet is None:
            return f"sheet {each} is not there"
        gaps = [gap.key for gap in sheet.gaps(situation) if gap.key not in _LATER]
        if gaps:
            return f"sheet {each} does not say {', '.join(gaps)} yet"
    return None


def add_sheet(
    workspace: Workspace, number: str, known: Mapping[str, Value], *, memo: bool = False
) -> Workspace:
    """Return a workspace with one more sheet, from its template."""
    assert number not in workspace.sheets, "a sheet that is there is never written over"
    schema, component = SHEETS[number], workspace.component() or UNKNOWN
    text = render_template(schema, component, workspace.situation(), known, memo=memo)
    added = read_sheet(text, schema, f"{workspace.base}/{schema.file_name}")
    return replace(workspace, sheets=dict(sorted({**workspace.sheets, number: added}.items())))


def create_workspace(
    workspace: Workspace,
    component: str,
    tier: Tier,
    traits: Mapping[Trait, bool],
    known: Mapping[str, Mapping[str, Value]],
) -> Workspace:
    """Return a workspace with the first sheets, 00 and 01 alone where 01 is contested.

    Args:
        workspace: an empty one, for its project.
        component: the system that is specified.
        tier: the tier that 00 and 01 declare.
        traits: what the system has, as far as it is known.
        known: values that are known already, by sheet and key.
    """
    situation = Situation(tier, str(known.get("01", {}).get("class", "")), dict(traits))
    rows: list[Row] = [
        {"name": trait.value, "here": traits.get(trait, UNKNOWN), "why": UNKNOWN} for trait in Trait
    ]
    given: dict[str, dict[str, Value]] = {number: dict(known.get(number, {})) for number in _FIRST}
    given["00"] |= {"tier": tier.value, "traits": rows}
    tolerated: list[Scalar] = ["text"]
    given["01"] |= {"tier": tier.value, "tolerates": tolerated}
    sheets = {}
    for number in _FIRST[:2] if given["01"].get("contested") is True else _FIRST:
        schema = SHEETS[number]
        text = render_template(schema, component, situation, given[number])
        sheets[number] = read_sheet(text, schema, f"{workspace.base}/{schema.file_name}")
    return replace(workspace, sheets=sheets)
