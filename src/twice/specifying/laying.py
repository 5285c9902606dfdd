"""Laying down sheets: which may be written now, and which have to wait.

01 comes before everything; while it is contested nothing after it is written. 04 and later wait until 01, 02 and 03
say all that they have to.

Invariant: a sheet that is there is never written over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from twice.specifying.artifact import read_artifact
from twice.specifying.frontmatter import Row, Value, values
from twice.specifying.kinds import UNKNOWN
from twice.specifying.sheets import SHEETS
from twice.specifying.templates import template
from twice.specifying.tiers import Situation, Tier, Trait, may_be_memo
from twice.specifying.workspace import FOLDER, Workspace

FIRST: Final = ("00", "01", "02", "03")
_SPIKE: Final = ("01", "02", "03")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A sheet that cannot be laid down yet.

    Args:
        number: the sheet.
        why: what it waits for, in one sentence.
    """

    number: str
    why: str


def waits(workspace: Workspace, number: str) -> Waiting | None:
    """Say what a sheet waits for; None when it may be written."""
    promise = workspace.get("01")
    if number > "01" and promise is not None and promise.get("contested") is True:
        return Waiting(number, "01 is contested: settle when two runs count as the same first")
    if number <= "03":
        return None
    situation = workspace.situation()
    for each in _SPIKE:
        sheet = workspace.get(each)
        if sheet is None:
            return Waiting(number, f"sheet {each} is not there")
        gaps = [gap.key for gap in sheet.gaps(situation) if gap.key not in _LATER]
        if gaps:
            return Waiting(number, f"sheet {each} does not say {', '.join(gaps)} yet")
    return None


# What only a first recording gives; the sheets after 03 are written before that.
_LATER: Final = frozenset({"vector", "vector_digest", "vectors", "owner"})


def laid(
    workspace: Workspace,
    number: str,
    known: Mapping[str, Value],
    *,
    memo: bool = False,
) -> Workspace:
    """Give a workspace with a sheet more, from its template."""
    assert number not in workspace.artifacts, "a sheet that is there is never written over"
    sheet = SHEETS[number]
    situation = workspace.situation()
    text = template(sheet, workspace.component() or UNKNOWN, situation, known, memo=memo)
    added = read_artifact(text, sheet, f"{FOLDER}/{sheet.file_name}")
    return replace(
        workspace, artifacts=dict(sorted({**workspace.artifacts, number: added}.items()))
    )


def wants_memo(workspace: Workspace, number: str) -> bool:
    """Whether one page is laid down for a sheet."""
    return may_be_memo(number, workspace.situation().tier)


def begun(
    workspace: Workspace,
    component: str,
    tier: Tier,
    traits: Mapping[Trait, bool],
    known: Mapping[str, Mapping[str, Value]],
) -> Workspace:
    """Give a workspace with the first sheets, 01 alone where it is contested."""
    situation = Situation(tier, str(known.get("01", {}).get("class", "")), dict(traits))
    rows: list[Row] = [
        {
            "name": trait.value,
            "here": traits.get(trait, UNKNOWN),
            "why": UNKNOWN,
        }
        for trait in Trait
    ]
    given: dict[str, dict[str, Value]] = {number: dict(known.get(number, {})) for number in FIRST}
    given["00"] |= {"tier": tier.value, "traits": rows}
    given["01"] |= {"tier": tier.value, "tolerates": values(["text"])}
    artifacts = {}
    contested = given["01"].get("contested") is True
    for number in FIRST[:2] if contested else FIRST:
        sheet = SHEETS[number]
        text = template(sheet, component, situation, given[number])
        artifacts[number] = read_artifact(text, sheet, f"{FOLDER}/{sheet.file_name}")
    return replace(workspace, artifacts=artifacts)
