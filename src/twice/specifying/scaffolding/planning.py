"""The plan: what would become of each region, and which bytes would be written.

Nothing is written here. Files are read; what a person changed is merged, kept, or reported.

Invariant: a plan with nothing in its way changes only bytes that were laid down, or that nobody wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from twice.specifying.scaffolding.lock import Laid, ScaffoldLock, laid, read_base
from twice.specifying.scaffolding.merging import has_markers, merge
from twice.specifying.scaffolding.regions import (
    Layer,
    Mode,
    Region,
    digest_of,
    find,
    is_marked,
    placed,
    reindented,
)
from twice.specifying.workspace import FOLDER

ARCHIVE: Final = "archive"


class Action(StrEnum):
    """What becomes of a region."""

    CREATE = "create"
    UPDATE = "update"
    MERGE = "merge"
    REPLACE = "replace"
    REMOVE = "remove"
    SAME = "same"
    KEEP = "keep"
    EJECTED = "ejected"
    EDITED = "edited"
    CONFLICT = "conflict"


STOPS: Final = frozenset({Action.EDITED, Action.CONFLICT})
_CHANGES: Final = frozenset(
    {Action.CREATE, Action.UPDATE, Action.MERGE, Action.REPLACE, Action.REMOVE}
)


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one region.

    Args:
        path: the file.
        name: the region in it.
        layer: what it belongs to.
        mode: who may write in it.
        action: what becomes of it.
        why: the reason, where it is not plain.
    """

    path: str
    name: str
    layer: Layer
    mode: Mode
    action: Action
    why: str = ""

    @property
    def stops(self) -> bool:
        """Whether nothing is laid down while it stands so."""
        return self.action in STOPS

    @property
    def writes(self) -> bool:
        """Whether its file changes."""
        return self.action in _CHANGES


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done.

    Args:
        changes: region by region, in order.
        files: what each changed file would hold; None for one that is removed.
        seen: what those files hold now; None for no file.
        archived: files that are replaced, as they are now.
        lock: the lock afterwards.
        bases: texts that the lock afterwards names, by digest.
    """

    changes: tuple[Change, ...]
    files: Mapping[str, bytes | None]
    seen: Mapping[str, bytes | None]
    archived: Mapping[str, bytes]
    lock: ScaffoldLock
    bases: Mapping[str, str]

    @property
    def in_the_way(self) -> tuple[Change, ...]:
        """What has to be settled first."""
        return tuple(each for each in self.changes if each.stops)


@dataclass(slots=True)
class _Drawing:
    """A plan in the making: files as they would be, and what was decided."""

    project: Path
    lock: ScaffoldLock
    replaces: bool
    marks: bool
    files: dict[str, bytes | None] = field(default_factory=dict)
    there: dict[str, bytes | None] = field(default_factory=dict)
    archived: dict[str, bytes] = field(default_factory=dict)
    laid: dict[tuple[str, str], Laid] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    def now(self, path: str) -> bytes | None:
        """Give what a file would hold so far; None for no file."""
        if path in self.files:
            return self.files[path]
        if path not in self.there:
            file = self.project / path
            self.there[path] = file.read_bytes() if file.is_file() else None
        return self.there[path]

    def say(self, each: Region | Laid, action: Action, why: str = "") -> None:
        """Decide what becomes of a region."""
        self.changes.append(Change(each.path, each.name, each.layer, each.mode, action, why))

    def put(self, region: Region, text: str, action: Action, why: str = "") -> None:
        """Write a file's text, and hold its region to be laid down."""
        self.files[region.path] = text.encode()
        self.hold(region, action, why)

    def merged(self, region: Region, text: str, conflicts: int, action: Action) -> None:
        """Write a file with what was merged; with conflicts in it, its region is not laid down yet."""
        before = self.laid.get(region.key)
        self.put(region, text, action, f"{conflicts} conflicts between markers" * bool(conflicts))
        if conflicts:
            self.laid[region.key] = replace(before or laid(region), pending=region.digest)

    def hold(self, region: Region, action: Action, why: str = "") -> None:
        """Hold a region to be laid down."""
        self.laid[region.key] = laid(region)
        self.say(region, action, why)

    def archive(self, path: str) -> None:
        """Keep a file that is replaced."""
        before = self.there.get(path)
        if before is not None:
            self.archived[path] = before


def plan(
    project: Path,
    wanted: Sequence[Region],
    lock: ScaffoldLock,
    *,
    layers: Collection[Layer],
    replaces: bool = False,
    marks: bool = False,
) -> Plan:
    """Say what would become of every region.

    Args:
        project: the folder of the project.
        wanted: regions as they are laid down now.
        lock: what was laid down before.
        layers: what ``wanted`` is all of; regions of other layers are left alone.
        replaces: whether files that stand where a region goes, or that were changed, are archived and replaced.
        marks: whether conflicts are written into the files, between markers.

    Raises:
        SheetRefused: E-SPEC-001: a text that was laid down is not there any more.
    """
    drawing = _Drawing(project, lock, replaces, marks, laid=dict(lock.regions))
    for region in wanted:
        _draw(drawing, region)
    names = {each.key for each in wanted}
    for old in lock.regions.values():
        if old.layer in layers and old.key not in names:
            _take_away(drawing, old)
    files = {
        path: text for path, text in sorted(drawing.files.items()) if text != drawing.there[path]
    }
    regions = dict(sorted(drawing.laid.items()))
    after = ScaffoldLock(lock.component, lock.package, lock.commands, regions, lock.ejected)
    texts = {each.digest: each.text for each in wanted}
    bases = {
        digest: texts[digest] if digest in texts else read_base(project, each.path, digest)
        for each in regions.values()
        for digest in (each.digest, each.pending)
        if digest
    }
    changes = tuple(sorted(drawing.changes, key=lambda each: (each.path, each.name)))
    seen = {path: drawing.there[path] for path in files}
    return Plan(changes, files, seen, drawing.archived, after, bases)


def _draw(drawing: _Drawing, region: Region) -> None:
    if region.key in drawing.lock.ejected:
        drawing.say(region, Action.EJECTED)
        return
    why = _unfit(drawing.project, region.path)
    if why:
        drawing.say(region, Action.CONFLICT, why)
        return
    data = drawing.now(region.path)
    try:
        text = None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        drawing.say(region, Action.CONFLICT, "the file is not text in UTF-8")
        return
    before = drawing.laid.get(region.key)
    if before is not None and before.pending:
        if has_markers(text or ""):
            drawing.say(region, Action.CONFLICT, "markers of a merge stand in it")
            return
        drawing.laid[region.key] = replace(before, digest=before.pending, pending="")
    how: dict[Mode, Callable[[_Drawing, Region, str | None], None]] = {
        Mode.OWNED: _owned, Mode.SHARED: _shared, Mode.ONCE: _once,
    }  # fmt: skip
    how[region.mode](drawing, region, text)


def _unfit(project: Path, path: str) -> str:
    """Say why nothing can be written at a path; "" when it can."""
    place = project / path
    for each in [place, *place.parents][: len(Path(path).parts)]:
        name = each.relative_to(project).as_posix()
        if each.is_symlink():
            return f"{name} is a link"
        if each != place and each.exists() and not each.is_dir():
            return f"{name} is no folder"
    return "a folder stands there" if place.is_dir() else ""


def _once(drawing: _Drawing, region: Region, text: str | None) -> None:
    if region.key in drawing.laid:
        drawing.say(region, Action.KEEP, "laid down once")
    elif text is None:
        drawing.put(region, region.text, Action.CREATE)
    else:
        drawing.say(region, Action.KEEP, _lacks(region, text))


def _lacks(region: Region, text: str) -> str:
    """Say of a file that somebody wrote what the others need in it: the last line that would be laid down."""
    last = region.text.rstrip().rpartition("\n")[2]
    needed = region.path.endswith(".py") and last not in text
    return f"it was there already, without: {last}" if needed else "it was there already"


def _owned(drawing: _Drawing, region: Region, text: str | None) -> None:
    before = drawing.laid.get(region.key)
    if text is None:
        drawing.put(region, region.text, Action.CREATE)
        return
    found = digest_of(text)
    if found == region.digest:
        drawing.hold(region, Action.SAME)
    elif before is not None and found == before.digest:
        drawing.put(region, region.text, Action.UPDATE, _moved(before, region))
    elif drawing.replaces:
        drawing.archive(region.path)
        drawing.put(region, region.text, Action.REPLACE)
    elif before is None:
        _added_by_both(drawing, region, text)
    else:
        _changed_by_somebody(drawing, region, text, before)


def _added_by_both(drawing: _Drawing, region: Region, text: str) -> None:
    if not drawing.marks:
        drawing.say(region, Action.CONFLICT, "a file that was not laid down stands there")
        return
    both = merge("", text, region.text)
    drawing.merged(region, both.text, both.conflicts, Action.MERGE)


def _changed_by_somebody(drawing: _Drawing, region: Region, text: str, before: Laid) -> None:
    """Report a whole file that somebody changed: it is never written over."""
    if region.digest == before.digest:
        if drawing.marks:
            drawing.say(region, Action.KEEP, "it was changed")
        else:
            drawing.say(region, Action.EDITED, "it was changed; the sheets were not")
        return
    if drawing.marks:
        base = read_base(drawing.project, before.path, before.digest)
        both = merge(base, text.replace("\r\n", "\n"), region.text)
        drawing.merged(region, both.text, both.conflicts, Action.MERGE)
    else:
        drawing.say(region, Action.CONFLICT, f"it was changed, and so was {_moved(before, region)}")


def _shared(drawing: _Drawing, region: Region, text: str | None) -> None:
    before = drawing.laid.get(region.key)
    found = find(text or "", region.name)
    if found is None:
        _lay_into(drawing, region, text, before)
        return
    own = found.text
    new = reindented(region.text, own)
    if digest_of(own) == digest_of(new):
        drawing.hold(region, Action.SAME)
    elif drawing.replaces:
        drawing.archive(region.path)
        drawing.put(region, found.holding(new), Action.REPLACE)
    elif before is None:
        drawing.say(region, Action.CONFLICT, "the region is there, and the lock does not know it")
    else:
        base = reindented(read_base(drawing.project, before.path, before.digest), own)
        both = merge(base, own, new)
        if both.conflicts and not drawing.marks:
            moved = _moved(before, region)
            drawing.say(region, Action.CONFLICT, f"the same lines were changed as by {moved}")
        elif both.text == own:
            drawing.hold(region, Action.KEEP, "it was changed")
        else:
            action = Action.UPDATE if own == base else Action.MERGE
            drawing.merged(region, found.holding(both.text), both.conflicts, action)


def _lay_into(drawing: _Drawing, region: Region, text: str | None, before: Laid | None) -> None:
    """Lay a shared region into a file that does not have it."""
    if text is None:
        new = placed(region.start, region)
        assert new is not None, "what a file starts with has the line that a region belongs below"
        drawing.put(region, new, Action.CREATE)
        return
    if is_marked(text, region.name):
        drawing.say(region, Action.CONFLICT, "its two markers do not stand in order, once each")
        return
    if before is not None and not drawing.replaces:
        drawing.say(region, Action.CONFLICT, "its markers are gone")
        return
    new = placed(text, region)
    if new is None:
        drawing.say(region, Action.CONFLICT, f"the file has no line {region.under!r}, once")
    else:
        drawing.put(region, new, Action.CREATE)


def _take_away(drawing: _Drawing, old: Laid) -> None:
    """Take a region away that the sheets do not ask for any more."""
    gone = "the sheets do not ask for it any more"
    data = drawing.now(old.path)
    text = None if data is None else data.decode("utf-8", "replace")
    whole = find(text or "", old.name) if old.mode is Mode.SHARED else None
    held = text if old.mode is Mode.OWNED else None if whole is None else whole.text
    if held is None:
        del drawing.laid[old.key]
        drawing.say(old, Action.KEEP, f"{gone}; it is yours")
        return
    base = reindented(read_base(drawing.project, old.path, old.digest), held)
    is_ours = digest_of(held) == digest_of(base)
    if is_ours or drawing.replaces:
        if not is_ours:
            drawing.archive(old.path)
        left = "" if whole is None else whole.without()
        drawing.files[old.path] = left.encode() if left.strip() else None
        del drawing.laid[old.key]
        drawing.say(old, Action.REMOVE, gone)
    else:
        drawing.say(old, Action.CONFLICT, f"it was changed, and {gone}")


def _moved(before: Laid, region: Region) -> str:
    """Name the facts by which a region differs from what was laid down."""
    facts = sorted({*before.facts, *region.facts})
    moved = [each for each in facts if before.facts.get(each) != region.facts.get(each)]
    return ", ".join(moved) or f"its template ({region.template})"


def archive_folder(project: Path) -> str:
    """Give the folder for what is replaced next, relative to the project: numbers go up."""
    folder = project / FOLDER / ARCHIVE
    there = [each.name for each in folder.iterdir()] if folder.is_dir() else []
    last = max((int(each) for each in there if each.isdecimal()), default=0)
    return f"{FOLDER}/{ARCHIVE}/{last + 1:04}"
