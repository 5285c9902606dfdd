"""Sheets that another workflow wrote as prose, made into a workspace: a head of this schema over each, the prose unchanged.

A key is adopted where the prose states it without doubt; every other key is "?", with the reason where the prose
speaks of it. Only files of the workflow's names are read, and none of them is changed.

Invariant: every sheet is read back before the first is written, and a sheet that is there is never written over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from twice.errors import OutputExists
from twice.foundation.printable import pluralize
from twice.specification.adoption.answers import Reading, read_sheet_answers
from twice.specification.create import render_head
from twice.specification.errors import SheetRefused, SpecForeign, WorkspaceRefused
from twice.specification.front_matter import Value, combine, refuse_line
from twice.specification.location import COMPONENT, FOLDER, choose_base, list_sheet_files
from twice.specification.schema import SHEETS, UNKNOWN, count_unknown
from twice.specification.sheet import Sheet, decode, parse_sheet, read_sheet
from twice.specification.tiers import Situation, Tier, Trait
from twice.specification.workspace import Workspace, open_workspace

_SHARED: Final = ("component", "owner")


@dataclass(frozen=True, slots=True)
class AdoptedKey:
    """A key of a sheet with its value, and the place in the prose that says it, ``file:line``."""

    sheet: str
    key: str
    value: Value
    source: str


@dataclass(frozen=True, slots=True)
class OpenKey:
    """A key that is "?", or has a "?" in it: where the prose speaks of it and why that is not enough; "" where it does not."""

    sheet: str
    key: str
    source: str
    why: str


@dataclass(frozen=True, slots=True)
class Adoption:
    """A workspace with the sheets of a folder.

    Attributes:
        before: the workspace as it was.
        workspace: with the adopted sheets.
        numbers: of the adopted sheets.
        adopted: keys that the prose states.
        unknown: keys that it leaves open.
        other: names in the folder that were left alone.
    """

    before: Workspace
    workspace: Workspace
    numbers: tuple[str, ...]
    adopted: tuple[AdoptedKey, ...]
    unknown: tuple[OpenKey, ...]
    other: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """A file of the folder: its path as people write it, and its text."""

    path: str
    text: str

    @property
    def has_head(self) -> bool:
        return self.text.startswith("---\n")


def adopt_components(folder: Path, project: Path, component: str = "") -> list[Adoption]:
    """Read the sheets of a folder, or those of each folder in it, and return a workspace for each component.

    Args:
        folder: of prose sheets, or of folders of them, named as their components.
        project: the folder that the workspaces lie in.
        component: the only one that is meant; "" for all.

    Raises:
        As ``adopt_folder``.
    """
    names = [] if _list_sheets(folder) else _list_components(folder)
    if not names:
        base = choose_base(project, component)
        return [adopt_folder(folder, _open_before(folder, project, base), component)]
    if component and component not in names:
        raise WorkspaceRefused(
            f"{folder} has no folder with sheets of {component!r}.",
            f"Expected one of {', '.join(names)}.",
            "Name one of these, or leave --component out.",
        )
    for name in names:
        _refuse_link(folder / name, folder)
    return [
        adopt_folder(folder / name, _open_before(folder / name, project, f"{FOLDER}/{name}"), name)
        for name in names
        if component in {"", name}
    ]


def _open_before(folder: Path, project: Path, base: str) -> Workspace:
    """Read the workspace that sheets are adopted into, as it is now."""
    if folder.resolve() == (project / base).resolve():
        raise WorkspaceRefused(
            f"{folder} is the place of the adopted sheets, and the prose lies there.",
            "Expected prose sheets elsewhere: twice changes and moves none of them.",
            f"Move them yourself, for example: git mv {FOLDER} prose-sheets && twice spec adopt prose-sheets",
        )
    if list_sheet_files(project, base):
        return open_workspace(project, base)
    return Workspace(project, {}, base)


def _list_components(folder: Path) -> list[str]:
    found = [each for each in _list_folder(folder) if each.is_dir() and _list_sheets(each)]
    return [each.name for each in found if COMPONENT.fullmatch(each.name)]


def adopt_folder(folder: Path, before: Workspace, component: str = "") -> Adoption:
    """Read the sheets of a folder, and return a workspace that has them.

    Args:
        folder: of the prose sheets.
        before: the workspace as it is, empty or with sheets of the same folder.
        component: the system that is specified; "" for the one that the sheets name.

    Raises:
        WorkspaceRefused: E-SPEC-002: there is no such folder, or no sheet in it.
        SheetRefused: E-SPEC-001: a file is not UTF-8, lies outside of the folder, or has a head that cannot be read.
        SpecForeign: E-SPEC-006: the sheets are of another component.
        OutputExists: E-OUTPUT-001: a sheet is there already and says something else.
    """
    found = _list_sheets(folder)
    if not found:
        raise WorkspaceRefused(
            f"{folder} has no sheet in it.",
            "Expected files such as 01-determinism-class.md there, or in a folder for each component.",
            "Name the folder of the sheets: twice spec adopt FOLDER",
        )
    sources = {number: _read_source(folder, found[number]) for number in found}
    readings = {
        number: {}
        if each.has_head
        else {r.key: r for r in read_sheet_answers(each.text, SHEETS[number])}
        for number, each in sources.items()
    }
    _settle_tier(readings, sources)
    shared = _settle_shared(readings, sources, before, folder, component)
    sheets = _render(readings, sources, shared, before)
    _refuse_existing(before, sheets)
    after = replace(before, sheets=dict(sorted({**before.sheets, **sheets}.items())))
    adopted, unknown = _report(readings, sources, shared, after, sheets)
    names = {each.name for each in found.values()}
    other = tuple(each.name for each in _list_folder(folder) if each.name not in names)
    return Adoption(before, after, tuple(sheets), adopted, unknown, other)


def _list_folder(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise WorkspaceRefused(
            f"{folder} is not a folder that can be read: {error.strerror}.",
            "Expected the folder of the sheets.",
            "Name it: twice spec adopt FOLDER",
        ) from error


def _list_sheets(folder: Path) -> dict[str, Path]:
    """Return the files whose names are those of sheets, by number."""
    names = {schema.file_name: number for number, schema in SHEETS.items()}
    return {names[each.name]: each for each in _list_folder(folder) if each.name in names}


def _read_source(folder: Path, file: Path) -> _Source:
    _refuse_link(file, folder)
    path = file.as_posix()
    try:
        data = file.read_bytes() if file.is_file() else None
    except OSError:
        data = None
    if data is None:
        raise refuse_line(
            path,
            1,
            "it is not a file that can be read.",
            "Expected a text file.",
            "Put the sheet there, or remove it.",
        )
    return _Source(path, decode(data, path))


def _refuse_link(place: Path, folder: Path) -> None:
    if not place.resolve().is_relative_to(folder.resolve()):
        raise refuse_line(
            place.as_posix(),
            1,
            f"it is a link to {place.resolve()}, outside of the folder.",
            "Expected the sheets themselves.",
            f"Copy them into {folder}.",
        )


def _settle_tier(
    readings: Mapping[str, dict[str, Reading]], sources: Mapping[str, _Source]
) -> None:
    """Leave the tier open where sheets 00 and 01 say two."""
    said = [
        (number, readings[number]["tier"])
        for number in ("00", "01")
        if "tier" in readings.get(number, {}) and readings[number]["tier"].value != UNKNOWN
    ]
    if len({str(each.value) for _, each in said}) > 1:
        why = " and ".join(
            f"{sources[number].path}:{each.line} says {each.value}" for number, each in said
        )
        for number, each in said:
            readings[number]["tier"] = replace(each, value=UNKNOWN, why=why)


def _settle_shared(
    readings: Mapping[str, Mapping[str, Reading]],
    sources: Mapping[str, _Source],
    before: Workspace,
    folder: Path,
    component: str,
) -> dict[str, tuple[str, str]]:
    """Return component and owner, which one sheet says for all, each with its source; "?" where none does.

    Raises:
        SpecForeign: E-SPEC-006: the sheets, the workspace and the caller name two components.
    """
    shared = dict.fromkeys(_SHARED, (UNKNOWN, ""))
    for key in _SHARED:
        said = [
            (str(each[key].value), f"{sources[number].path}:{each[key].line}")
            for number, each in readings.items()
            if key in each and each[key].value != UNKNOWN
        ]
        if key == "component":
            named = folder.as_posix() if folder.name == component else "--component"
            said += [(component, named)] * bool(component)
            said += [(before.component(), before.folder.as_posix())] * bool(before.component())
            for name, source in said:
                if name != said[0][0]:
                    raise SpecForeign(
                        f"{source}: it specifies {name!r}, and {said[0][1]} {said[0][0]!r}.",
                        "Expected the sheets of one component.",
                        "Put each component's sheets into a folder of its name, and adopt the folder above.",
                    )
        if len({name for name, _ in said}) == 1:
            shared[key] = said[0]
    return shared


def _render(
    readings: Mapping[str, Mapping[str, Reading]],
    sources: Mapping[str, _Source],
    shared: Mapping[str, tuple[str, str]],
    before: Workspace,
) -> dict[str, Sheet]:
    """Return the sheets, each read back from its text."""
    value = {
        (number, key): each.value
        for number, keys in readings.items()
        for key, each in keys.items()
        if each.value != UNKNOWN
    }
    tier = str(value.get(("01", "tier"), value.get(("00", "tier"), Tier.XS)))
    rows = value.get(("00", "traits"), [])
    traits = {
        Trait(str(row["name"])): row["here"] is True
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict) and isinstance(row["here"], bool)
    }
    situation = Situation(Tier(tier), str(value.get(("01", "class"), "")), traits)
    sheets, refused = dict[str, Sheet](), list[SheetRefused]()
    for number, source in sources.items():
        schema, text = SHEETS[number], source.text
        path = f"{before.base}/{schema.file_name}"
        if source.has_head:
            refused += parse_sheet(text, schema, source.path)[1]
        else:
            keys = {key: each.value for key, each in readings[number].items()}
            known = {**keys, "owner": shared["owner"][0]}
            if known.get("version") == UNKNOWN:
                del known["version"]
            text = render_head(schema, shared["component"][0], situation, known) + text
        if not refused:
            sheets[number] = read_sheet(text, schema, path)
    if refused:
        raise combine(refused)
    return sheets


def _refuse_existing(before: Workspace, sheets: Mapping[str, Sheet]) -> None:
    differing = [
        number
        for number, sheet in sheets.items()
        if (there := before.get(number)) is not None and there.source != sheet.source
    ]
    if not differing:
        return
    named = ", ".join(before.sheets[number].path for number in differing)
    absent = [number for number in sheets if number not in before.sheets]
    half = f"; {', '.join(absent)} {'is' if len(absent) == 1 else 'are'} not" if absent else ""
    raise OutputExists(
        f"{pluralize(len(differing), 'sheet')} of the workspace would be replaced: {named}"
        f" {'is' if len(differing) == 1 else 'are'} there and not what would be adopted{half}.",
        "Expected no sheet of these numbers, or the very same bytes.",
        "Go on with the workspace: twice spec status; or move those sheets away and adopt again.",
        sheets=differing,
    )


def _report(
    readings: Mapping[str, Mapping[str, Reading]],
    sources: Mapping[str, _Source],
    shared: Mapping[str, tuple[str, str]],
    after: Workspace,
    sheets: Mapping[str, Sheet],
) -> tuple[tuple[AdoptedKey, ...], tuple[OpenKey, ...]]:
    """Return what was adopted and what is open, sheet by sheet, in the order of the heads."""
    adopted, unknown, situation = list[AdoptedKey](), list[OpenKey](), after.situation()
    for number, sheet in sheets.items():
        source, said = sources[number], readings[number]
        gaps = {gap.key for gap in sheet.gaps(situation)}
        for key, entry in sheet.head.entries.items():
            reading = said.get(key)
            place = f"{source.path}:{reading.line}" if reading else ""
            if key in shared and not source.has_head:
                place = shared[key][1]
            if place and entry.value != UNKNOWN:
                adopted.append(AdoptedKey(number, key, entry.value, place))
            if count_unknown(entry.value) and (reading or key in gaps):
                unknown.append(OpenKey(number, key, place, reading.why if reading else ""))
    return tuple(adopted), tuple(unknown)
