"""What the code itself says that sheets leave open: which kinds of things a system has.

The checker reads; what it sees for certain is proposed. That something is not there is never concluded from
not seeing it.

Invariant: nothing is executed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from twice.cli.checked_project import CheckOptions, open_sources
from twice.cli.code_facts import read_presence
from twice.specification.fill import Proposal
from twice.specification.front_matter import Scalar
from twice.specification.tiers import Trait
from twice.specification.workspace import Workspace


def from_code(workspace: Workspace) -> Iterator[Proposal]:
    """Give what can be read from the sources that 00 names."""
    sources: list[Scalar] = [*workspace.strings("00", "sources")]
    for sheet in ("02", "10") if sources else ():
        yield Proposal(sheet, "audit", sources, "00.sources")


def traits_in_code(workspace: Workspace) -> dict[Trait, str]:
    """Give the traits of which the sources that 00 names show something, with a place of each."""
    sources = workspace.strings("00", "sources")
    if not sources or not all((workspace.project / each).exists() for each in sources):
        return {}
    with contextlib.chdir(workspace.project):
        return read_presence(workspace.project.resolve(), sources)


def findings_by_sheet(workspace: Workspace) -> dict[str, list[str]]:
    """Give, for each sheet, the rules that find something in the sources that it settles."""
    paths = tuple(workspace.project / each for each in workspace.strings("00", "sources"))
    if not paths or not all(path.exists() for path in paths):
        return {}
    tree = open_sources(CheckOptions(paths, cache=False))
    found: dict[str, set[str]] = {}
    for each in tree.project.report(tree.files).findings:
        found.setdefault(each.artifact, set()).add(each.found.rule)
    return {number: sorted(rules) for number, rules in sorted(found.items())}
