"""How what was laid down stands today: as it was laid down, changed since, or made of facts that moved.

For whoever judges a project by its lock: the gate, and the plan's reader.

Invariant: reads the lock, the sheets and the files; decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from twice.specifying.scaffolding.facts import digest_of_fact
from twice.specifying.scaffolding.lock import Laid, read_base, read_lock
from twice.specifying.scaffolding.regions import Mode, digest_of, find, reindented
from twice.specifying.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Standing:
    """How one region stands.

    Args:
        path: the file.
        name: the region in it.
        mode: who may write in it.
        state: ``as-laid``, ``edited``, ``gone``, or ``conflicting`` while a merge is not settled.
        moved: facts that it was made of and that are others now, ``02.names``.
    """

    path: str
    name: str
    mode: Mode
    state: str
    moved: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether the code is what the sheets and its owner say."""
        allowed = {"as-laid"} if self.mode is Mode.OWNED else {"as-laid", "edited"}
        if self.mode is Mode.ONCE:
            return True
        return self.state in allowed and not self.moved


def standings(workspace: Workspace) -> tuple[Standing, ...]:
    """Say how every region of a project's lock stands; () where nothing was laid down.

    Raises:
        SheetRefused: E-SPEC-001: the lock or a text beside it cannot be read. SheetVersion: E-SPEC-003.
    """
    lock = read_lock(workspace.project)
    return tuple(
        Standing(
            each.path, each.name, each.mode, _state(workspace, each), tuple(_moved(workspace, each))
        )
        for each in lock.regions.values()
    )


def _moved(workspace: Workspace, each: Laid) -> list[str]:
    found = []
    for fact, digest in each.facts.items():
        sheet, _, key = fact.partition(".")
        if digest_of_fact(workspace.get(sheet), key) != digest:
            found.append(fact)
    return found


def _state(workspace: Workspace, each: Laid) -> str:
    path = workspace.project / each.path
    if each.pending:
        return "conflicting"
    if not path.is_file():
        return "gone"
    text: str | None = path.read_bytes().decode("utf-8", "replace")
    digest = each.digest
    if each.mode is Mode.SHARED:
        found = find(text or "", each.name)
        if found is None:
            return "gone"
        text = found.text
        digest = digest_of(
            reindented(read_base(workspace.project, each.path, each.digest), found.text)
        )
    return "as-laid" if digest_of(text or "") == digest else "edited"
