"""Laying down a component's code: what is asked for, what may be laid down, the plan, and the deed.

Invariant: what is applied is the plan that was shown, whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from twice.errors import SpecForeign, UsageError
from twice.foundation.channels import Channel
from twice.specifying.scaffolding.applying import apply, recover
from twice.specifying.scaffolding.layers import regions
from twice.specifying.scaffolding.lock import BASES, NAME, ScaffoldLock, base_path, read_lock
from twice.specifying.scaffolding.places import package_of, places_of
from twice.specifying.scaffolding.planning import Plan, archive_folder, plan
from twice.specifying.scaffolding.readiness import ASKED_FOR, SHEETS_OF, readiness
from twice.specifying.scaffolding.regions import Layer
from twice.specifying.workspace import FOLDER, Workspace, open_workspace


@dataclass(frozen=True, slots=True)
class Objection:
    """What a review of the code has against laying something down.

    Args:
        channel: the channel that it is about.
        critical: whether it stands in the way of everything, and not of its channel's layer alone.
        place: ``file:line``.
        says: one sentence.
    """

    channel: Channel
    critical: bool
    place: str
    says: str


class GapAnalysis(Protocol):
    """Who reads the code before anything is laid down."""

    def __call__(self, project: Path, sources: Sequence[str]) -> Iterable[Objection]:
        """Give findings of high weight and above in a project's sources."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for.

    Args:
        component: the system that the specification is of.
        layers: which layers; () for all that the specification has.
        replaces: whether files in the way are archived and replaced.
        marks: whether conflicts are written into the files.
        package: the folder of the wiring; "" for the one that it has, or a fitting one.
        commands: the folder of command files; "" for none, or the one that it has.
    """

    component: str
    layers: tuple[Layer, ...] = ()
    replaces: bool = False
    marks: bool = False
    package: str = ""
    commands: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What would be done, and what not.

    Args:
        plan: region by region.
        left_out: layers that this system does not need, with the reason.
        objections: what stands in the way of which layer; under the base, of everything.
    """

    plan: Plan
    left_out: Mapping[Layer, str]
    objections: Mapping[Layer, tuple[Objection, ...]]

    @property
    def may_be_applied(self) -> bool:
        """Whether nothing has to be settled first."""
        return not self.plan.in_the_way and Layer.BASE not in self.objections


_LAYER_OF: Final[Mapping[str, Layer]] = {
    "02": Layer.SEEDS,
    "03": Layer.SEEDS,
    "04": Layer.SNAPSHOT,
    "05": Layer.COMPARE,
    "06": Layer.REPLAY,
    "07": Layer.PROPERTIES,
    "08": Layer.POLICIES,
    "09": Layer.POLICIES,
    "10": Layer.EFFECTS,
    "11": Layer.SNAPSHOT,
}
"""The layer that each channel's sheet is laid down as."""


def prepared(project: Path, order: Order, review: GapAnalysis | None = None) -> Prepared:
    """Say what an order would change. What a killed process left half done is put back first.

    Args:
        project: the folder that holds the workspace.
        order: what is asked for.
        review: who reads the code first; None for nobody.

    Raises:
        SpecForeign: E-SPEC-006: the workspace or the lock is of another component.
        SpecIncomplete: E-SPEC-005: a layer's sheets do not say what it is made of.
        ScaffoldUnfinished: E-SCAFFOLD-001. SheetRefused: E-SPEC-001. WorkspaceRefused: E-SPEC-002.
    """
    workspace = open_workspace(project)
    recover(project)
    lock = read_lock(project)
    _refuse_foreign(workspace, lock, order)
    asked = _asked(order, lock)
    objections = _objections(workspace, review)
    stand = readiness(workspace, [each for each in asked if each not in objections])
    stand.refuse_lacking()
    scope = workspace.need("00", "it says where the code is")
    package = order.package or lock.package or package_of(project, tuple(scope.listed("sources")))
    places = places_of(project, package, order.commands or lock.commands)
    lock = replace(
        lock, component=order.component, package=places.package, commands=places.commands
    )
    ready = stand.ready if len(stand.ready) > 1 else ()  # The base alone wires nothing.
    drawn = plan(
        project,
        regions(workspace, places, ready),
        lock,
        layers=(*ready, *stand.left_out),
        replaces=order.replaces,
        marks=order.marks,
    )
    return Prepared(drawn, stand.left_out, objections)


def carry_out(project: Path, what: Prepared) -> bool:
    """Do what was prepared, all of it or nothing.

    Returns:
        Whether any byte changed.

    Raises:
        OutputUnwritable: E-OUTPUT-002. ScaffoldUnfinished: E-SCAFFOLD-001.
    """
    assert what.may_be_applied, "what has to be settled is settled before anything is applied"
    drawn = what.plan
    files: dict[str, bytes | None] = dict(drawn.files)
    if drawn.archived:
        folder = archive_folder(project)
        files |= {f"{folder}/{path}": data for path, data in drawn.archived.items()}
    files |= {base_path(digest): text.encode() for digest, text in drawn.bases.items()}
    files |= {path: None for path in _bases_there(project) if path not in files}
    return _applied(project, files, drawn.seen, drawn.lock)


def eject(project: Path, path: str) -> tuple[str, ...]:
    """Make what was laid down in a file its reader's own: it is never looked at again.

    Returns:
        The names of the regions that were ejected.

    Raises:
        UsageError: E-USE-001: nothing was laid down there.
    """
    recover(project)
    lock = read_lock(project)
    keys = [key for key in lock.regions if key[0] == path]
    if not keys:
        known = ", ".join(dict.fromkeys(each for each, _ in lock.regions)) or "nothing"
        raise UsageError(
            f"Nothing was laid down in {path!r}.",
            f"Expected one of: {known}.",
            "Name it as the plan does: twice scaffold COMPONENT --plan",
        )
    left = {key: each for key, each in lock.regions.items() if key not in keys}
    after = replace(lock, regions=left, ejected=tuple(sorted({*lock.ejected, *keys})))
    kept = {base_path(each) for one in left.values() for each in (one.digest, one.pending) if each}
    gone: dict[str, bytes | None] = {
        each: None for each in _bases_there(project) if each not in kept
    }
    _applied(project, gone, {}, after)
    return tuple(name for _, name in keys)


def _applied(
    project: Path,
    files: dict[str, bytes | None],
    seen: Mapping[str, bytes | None],
    lock: ScaffoldLock,
) -> bool:
    """Write the files that differ from what is there, and the lock."""
    files[f"{FOLDER}/{NAME}"] = lock.text().encode()
    there = {path: seen[path] if path in seen else _read(project / path) for path in files}
    moved = {path: data for path, data in files.items() if data != there[path]}
    if moved:
        apply(project, moved, there)
    return bool(moved)


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _bases_there(project: Path) -> list[str]:
    folder = project / FOLDER / BASES
    names = sorted(each.name for each in folder.glob("*.txt")) if folder.is_dir() else []
    return [f"{FOLDER}/{BASES}/{each}" for each in names]


def _asked(order: Order, lock: ScaffoldLock) -> list[Layer]:
    wanted: list[Layer] = [each for each in ASKED_FOR if each is not Layer.COMMANDS]
    if order.layers:
        wanted = [each for each in wanted if each in order.layers]
    with_commands = order.commands or (lock.commands and not order.layers)
    return [*wanted, Layer.COMMANDS] if with_commands else wanted


def _refuse_foreign(workspace: Workspace, lock: ScaffoldLock, order: Order) -> None:
    own = workspace.component()
    for whose, said in (("the specification is", own), ("files were laid down", lock.component)):
        if said and said != order.component:
            raise SpecForeign(
                f"{order.component!r} was asked for, and {whose} of {said!r}.",
                f"Expected the component of {FOLDER}/00-scope-and-goals.md.",
                f"Name that one: twice scaffold {said}",
                component=said,
            )


def _objections(
    workspace: Workspace, review: GapAnalysis | None
) -> dict[Layer, tuple[Objection, ...]]:
    scope = workspace.get("00")
    if review is None or scope is None:
        return {}
    found: dict[Layer, list[Objection]] = {}
    for each in review(workspace.project, scope.listed("sources")):
        layer = Layer.BASE if each.critical else _LAYER_OF[each.channel.artifact]
        found.setdefault(layer, []).append(each)
    assert set(found) <= set(SHEETS_OF), "every objection has a layer"
    return {layer: tuple(each) for layer, each in found.items()}
