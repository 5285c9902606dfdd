"""Proposals put into sheets, where nothing or "?" stands.

Invariant: a sheet in which something is said keeps every byte of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from twice.specifying.filling.proposal import Proposal, kind_of, merged
from twice.specifying.schema import unknowns
from twice.specifying.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Filled:
    """What became of a workspace.

    Args:
        workspace: with what was read put in.
        put_in: the proposals that were taken, in order.
        unknown: what is still not known: sheet, key, what it is for and takes.
    """

    workspace: Workspace
    put_in: tuple[Proposal, ...]
    unknown: tuple[tuple[str, str, str], ...]
    against: tuple[str, ...] = ()


def filled(workspace: Workspace, proposals: Iterable[Proposal]) -> Filled:
    """Put proposals in; the first one for a key is taken."""
    artifacts = dict(workspace.artifacts)
    put_in: list[Proposal] = []
    for each in proposals:
        sheet = artifacts.get(each.sheet)
        if sheet is None or sheet.is_memo:
            continue
        entry = sheet.head.entries.get(each.key)
        value = merged(kind_of(each.sheet, each.key), entry.value if entry else None, each.value)
        if value is None or (entry is None and unknowns(value)):
            continue
        artifacts[each.sheet] = sheet.with_value(each.key, value)
        put_in.append(replace(each, value=value))
    after = replace(workspace, artifacts=artifacts)
    return Filled(after, tuple(put_in), unknown(after))


def unknown(workspace: Workspace) -> tuple[tuple[str, str, str], ...]:
    """Give what the sheets that are there do not say yet."""
    situation = workspace.situation()
    return tuple(
        (sheet.number, gap.key, gap.asks)
        for sheet in workspace.artifacts.values()
        for gap in sheet.gaps(situation)
    )
