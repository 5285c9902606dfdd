"""What reading cannot tell: each gap with where it is, and the command that would tell.

Invariant: every gap names a place or a count, and what to do about it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from twice.checker.auditing.origins import Owner
from twice.checker.auditing.projects import Noted, Project
from twice.checker.auditing.seeds import Draw, What
from twice.checker.catalogue import Catalogue
from twice.checker.findings import Finding, Reach
from twice.checker.housekeeping import UNREADABLE
from twice.checker.workspace import FOLDER, Workspace
from twice.foundation.printable import pluralize

_NAMED_MAX: Final = 12
_PROGRAM: Final = "PROGRAM --seed 1"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that the review does not know.

    Args:
        what: in one sentence.
        places: where, the first few, as ``path:line what``.
        tells: the command that would tell, or what to do.
    """

    what: str
    places: tuple[str, ...]
    tells: str


def unknowns(
    project: Project,
    draws: tuple[Draw, ...],
    catalogue: Catalogue,
    workspace: Workspace | None,
    own: Sequence[Finding],
    *,
    declared: bool,
) -> tuple[Unknown, ...]:
    """Give what the review does not know, the most far-reaching first.

    Args:
        project: what the audits saw.
        draws: the seed audit.
        catalogue: the API names that were in force.
        workspace: the specification, when there is one.
        own: what the checker says of its own work.
        declared: whether the promise was declared by anybody.
    """
    return tuple(_unknowns(project, draws, catalogue, workspace, own, declared=declared))


def _unknowns(
    project: Project,
    draws: tuple[Draw, ...],
    catalogue: Catalogue,
    workspace: Workspace | None,
    own: Sequence[Finding],
    *,
    declared: bool,
) -> Iterator[Unknown]:
    if project.unread:
        yield Unknown(
            f"{pluralize(len(project.unread), 'file')} could not be read. This review contains "
            "nothing about them.",
            _places(project.unread),
            "run twice with the Python that they are written for",
        )
    remarks = [
        Noted(each.path, each.found.place.line, each.found.message)
        for each in own
        if each.found.rule != UNREADABLE
    ]
    if remarks:
        yield Unknown(
            f"{pluralize(len(remarks), 'comment')} for the checker cannot be used.",
            _places(remarks),
            "twice check PATH",
        )
    if not declared:
        yield Unknown(
            "No determinism class is declared. The review assumes bit-exact on one host.",
            (),
            "declare it: --class logical, or a line class: in 01-determinism-class.md",
        )
    if workspace is None:
        yield Unknown(
            f"There is no specification ({FOLDER}/), so the review knows only the code, not the intention.",
            (),
            f"write {FOLDER}/01-determinism-class.md and 02-seed-governance-spec.md first",
        )
    handed = [
        Noted(each.path, each.line, each.call)
        for each in project.asks
        if each.reach is Reach.UNSEEN and each.zone == "core" and not each.governed
    ]
    if handed:
        yield Unknown(
            f"{pluralize(len(handed), 'answer')} of the world, handed to code that was not followed.",
            _places(handed),
            f"twice vary {_PROGRAM}",
        )
    yield from _streams(draws)
    yield from _code(project, catalogue)
    yield Unknown(
        "Reading proves nothing about a run. The review did not look at a record.",
        (),
        f"twice record {_PROGRAM} -o a.twice && twice verify a.twice",
    )


def _streams(draws: tuple[Draw, ...]) -> Iterator[Unknown]:
    unseen = [
        Noted(each.path, each.line, each.call)
        for each in draws
        if each.what is What.DRAWS
        and each.zone == "core"
        and each.origin.owner in {Owner.PASSED, Owner.PARAMETER}
        and not each.origin.note.startswith("made in")
    ]
    if unseen:
        yield Unknown(
            f"{pluralize(len(unseen), 'draw')} from generators that come from other code.",
            _places(unseen),
            f"twice record {_PROGRAM} -o a.twice && twice show a.twice",
        )


def _code(project: Project, catalogue: Catalogue) -> Iterator[Unknown]:
    dynamic = [each for file in project.files if file.zone == "core" for each in file.dynamic]
    if dynamic:
        yield Unknown(
            f"Code is made or imported by a computed name in {pluralize(len(dynamic), 'place')}.",
            _places(dynamic),
            f"twice record {_PROGRAM} -o a.twice && twice show a.twice",
        )
    native = [each for file in project.files if file.zone == "core" for each in file.native]
    if native:
        yield Unknown(
            f"Native code, which may draw, thread or keep state, is called in "
            f"{pluralize(len(native), 'file')}.",
            _places(native),
            f"twice vary {_PROGRAM} --factor threads",
        )
    strangers = uncatalogued(project, catalogue)
    if strangers:
        shown = ", ".join(strangers[:_NAMED_MAX])
        more = len(strangers) - _NAMED_MAX
        yield Unknown(
            f"{pluralize(len(strangers), 'library', 'libraries')} that the catalogue does not know: "
            f"{shown}{f' and {more} more' if more > 0 else ''}.",
            (),
            "add their functions that draw, start threads or ask the world to a catalogue",
        )


def uncatalogued(project: Project, catalogue: Catalogue) -> list[str]:
    """Give the libraries that the core imports and of which no group of the catalogue has a name."""
    known = {
        name.partition(".")[0] for names in catalogue.groups.values() for name in names
    } | sys.stdlib_module_names
    own = {part.removesuffix(".py") for file in project.files for part in file.path.split("/")} | {
        "twice"
    }
    imported = {
        each
        for file in project.files
        if file.zone == "core"
        for each in file.packages
        if each and not each.startswith("_")
    }
    return sorted(imported - known - own)


def _places(found: list[Noted] | tuple[Noted, ...]) -> tuple[str, ...]:
    return tuple(f"{each.path}:{each.line} {each.what}" for each in found[:3])
