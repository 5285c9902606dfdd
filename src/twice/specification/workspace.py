"""The folder ``determinism-and-replay``: all sheets of one specification, read together, and the tier that they force.

Invariant: a sheet is named by its number alone; two files with one number are an error, never a choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from twice.foundation.determinism_class import DeterminismClass
from twice.specification.change_table import EDGES
from twice.specification.errors import SheetRefused, SheetVersion, SpecForeign, WorkspaceRefused
from twice.specification.front_matter import Value, combine, refuse_line
from twice.specification.location import FOLDER, find_base, list_sheet_files
from twice.specification.schema import SHEETS
from twice.specification.sheet import Sheet, decode, parse_sheet
from twice.specification.tiers import Situation, Tier, Trait, find_promotions, find_required
from twice.writing import write


@dataclass(frozen=True, slots=True)
class Workspace:
    """One specification.

    Args:
        project: the folder that the workspace lies in, from where paths in sheets are meant.
        sheets: by number, in order.
        base: the folder of the sheets, from the project on.
    """

    project: Path
    sheets: Mapping[str, Sheet]
    base: str = FOLDER

    @property
    def folder(self) -> Path:
        """The folder of the sheets."""
        return self.project / self.base

    def get(self, number: str) -> Sheet | None:
        """Return a sheet, when it is there."""
        return self.sheets.get(number)

    def require(self, number: str, why: str) -> Sheet:
        """Return a sheet that something cannot do without.

        Raises:
            WorkspaceRefused: E-SPEC-002, when it is not there.
        """
        found = self.sheets.get(number)
        if found is None:
            raise WorkspaceRefused(
                f"{self.base} has no sheet {number} ({SHEETS[number].title}).",
                f"Expected it, because {why}.",
                f"Lay it down: twice spec add {number}",
                sheet=number,
            )
        return found

    def value(self, number: str, key: str) -> Value | None:
        """Return the value of a key; None if the sheet or the key is absent, or "?"."""
        sheet = self.get(number)
        return sheet.get(key) if sheet else None

    def text(self, number: str, key: str) -> str:
        """Return the text of a key; "" if there is none."""
        sheet = self.get(number)
        return sheet.text(key) if sheet else ""

    def strings(self, number: str, key: str) -> list[str]:
        """Return the texts of a list that are known."""
        sheet = self.get(number)
        return sheet.strings(key) if sheet else []

    def rows(self, number: str, key: str) -> list[dict[str, object]]:
        """Return the maps of a list; columns with "?" are left out."""
        sheet = self.get(number)
        return sheet.rows(key) if sheet else []

    def column(self, number: str, key: str, name: str) -> list[str]:
        """Return one column of a list of maps, where it is known."""
        return [str(row[name]) for row in self.rows(number, key) if name in row]

    def place(self, number: str, key: str) -> str:
        """Return ``file:line`` of a key."""
        sheet = self.get(number)
        return f"{sheet.path}:{sheet.line_of(key)}" if sheet else f"sheet {number}"

    def component(self) -> str:
        """Return the name of the system that is specified; "" when nobody said."""
        return next((each.text("component") for each in self.sheets.values()), "")

    def situation(self) -> Situation:
        """Return what the requirements depend on, as far as it is said: the least tier where none is."""
        tier = self.text("01", "tier") or self.text("00", "tier") or Tier.XS
        traits = {
            Trait(str(row["name"])): row["here"] is True
            for row in self.rows("00", "traits")
            if "name" in row and isinstance(row.get("here"), bool)
        }
        return Situation(Tier(tier), self.text("01", "class"), traits)

    def missing(self, tier: Tier | None = None) -> tuple[str, ...]:
        """Return the sheets that a tier needs and that are not there; the declared tier by default."""
        now = self.situation()
        there = Situation(tier or now.tier, now.determinism_class, now.traits)
        return tuple(number for number in find_required(there) if number not in self.sheets)


def open_workspace(project: Path, base: str = FOLDER) -> Workspace:
    """Read every sheet of a workspace.

    Args:
        project: the folder that the workspace lies in.
        base: the folder of the sheets, from there on.

    Raises:
        WorkspaceRefused: E-SPEC-002: there is none, it has no sheet, two sheets have one number, a number is
            not known, sheets rest on each other in a circle.
        SheetRefused: E-SPEC-001, with file and line of everything in the sheets that cannot be read.
        SpecForeign: E-SPEC-006: sheets of two components in one workspace.
    """
    folder = project / base
    if not folder.is_dir():
        raise WorkspaceRefused(
            f"{project} has no folder {base}.",
            "Expected a specification there.",
            "Begin one: twice spec init",
        )
    sheets: dict[str, Sheet] = {}
    refused: list[SheetRefused] = []
    for name in list_sheet_files(project, base):
        number = name[:2]
        if number not in SHEETS:
            raise WorkspaceRefused(
                f"{base}/{name}: there is no sheet {number}.",
                f"Expected one of {', '.join(SHEETS)}.",
                "Rename the file; a file without a number in front is left alone.",
                path=name,
            )
        if number in sheets:
            raise WorkspaceRefused(
                f"Sheet {number} is there twice: {sheets[number].path} and {base}/{name}.",
                "Expected one file for each number.",
                "Remove one, or take the number from its name.",
                path=name,
            )
        path = f"{base}/{name}"
        try:
            text = decode(_read_bytes(folder / name, path), path)
            sheets[number], faults = parse_sheet(text, SHEETS[number], path)
            refused += faults or _refuse_unknown_rules(sheets[number])
        except SheetVersion:
            raise
        except SheetRefused as error:
            refused.append(error)
    if refused:
        raise combine(refused)
    if not sheets:
        raise WorkspaceRefused(
            f"{base} has no sheet in it.",
            "Expected files such as 00-scope-and-goals.md there.",
            "Take them from version control, or begin anew: twice spec init",
        )
    workspace = Workspace(project, sheets, base)
    _refuse_mixture(workspace)
    _refuse_circle(workspace)
    return workspace


def open_component(project: Path, component: str = "") -> Workspace:
    """Read the sheets of one component.

    Args:
        project: the folder that the workspace lies in.
        component: whose sheets are meant; "" for those of the one that the project has.

    Raises:
        As ``open_workspace``; WorkspaceRefused, too, where several components have sheets and none of them is meant.
    """
    workspace = open_workspace(project, find_base(project, component))
    if component and workspace.component() != component:
        raise SpecForeign(
            f"{component!r} was asked for, and {workspace.base} specifies {workspace.component()!r}.",
            "Expected the name of the component that is specified there.",
            "Name that one, or leave --component out.",
            path=workspace.base,
        )
    return workspace


def _read_bytes(place: Path, path: str) -> bytes:
    try:
        if place.is_file():  # Opening a pipe would wait for somebody to write into it.
            return place.read_bytes()
        why = "there is no file"
    except OSError as error:
        why = str(error.strerror)
    raise refuse_line(
        path,
        1,
        f"it cannot be read: {why}.",
        "Expected a text file that may be read.",
        "Put the sheet there, or take the number from the name: what has none is left alone.",
    )


def _refuse_mixture(workspace: Workspace) -> None:
    named = [each for each in workspace.sheets.values() if each.text("component")]
    for each in named:
        said, line = each.text("component"), each.line_of("component")
        if said != named[0].text("component"):
            raise SpecForeign(
                f"{each.path}:{line}: it specifies {said!r}, and {named[0].path} {named[0].text('component')!r}.",
                "Expected one component in one workspace.",
                "Mend the name, or give the other component a folder of its own.",
                path=each.path,
                line=line,
            )


def _refuse_circle(workspace: Workspace) -> None:
    below: dict[str, list[str]] = {number: [] for number in SHEETS}
    for above, under in EDGES:
        below[above].append(under)
    for each in workspace.sheets.values():
        below[each.number] += each.strings("depends_on")
    for each in workspace.sheets.values():
        line = each.line_of("depends_on")
        for under in each.strings("depends_on"):
            if under not in SHEETS:
                raise WorkspaceRefused(
                    f"{each.path}:{line}: depends_on names {under!r}.",
                    f"Expected numbers of sheets: {', '.join(SHEETS)}.",
                    "Mend the number.",
                    path=each.path,
                    line=line,
                )
            way = _find_way(below, under, each.number)
            if way:
                raise WorkspaceRefused(
                    f"{each.path}:{line}: sheets rest on each other in a circle: "
                    f"{' -> '.join([each.number, *way])}.",
                    "Expected sheets to rest on sheets that do not rest on them.",
                    f"Take {under} out of depends_on.",
                    path=each.path,
                    line=line,
                )


def _find_way(below: Mapping[str, list[str]], start: str, goal: str) -> list[str]:
    """Return the shortest way down from one sheet to another; [] when there is none."""
    ways = {start: [start]}
    for each in (waiting := [start]):  # it grows while it is read
        for under in below.get(each, []):
            if under not in ways:
                ways[under] = [*ways[each], under]
                waiting.append(under)
    return ways.get(goal, [])


def _refuse_unknown_rules(sheet: Sheet) -> Iterator[SheetRefused]:
    """Yield a refusal for each relaxation of a rule that neither twice nor the sheet itself has."""
    relaxed = sheet.rows("relaxations") if sheet.number == "13" else []
    if not relaxed:
        return
    from twice.specification.cost.rules import NOT_SWITCHED, RULES  # few workspaces need them

    names = [each.name for each in (*RULES, *NOT_SWITCHED)]
    names += [str(row["rule"]) for row in sheet.rows("rules") if "rule" in row]
    names += [each.partition(":")[0].strip() for each in sheet.strings("unmeasured")]
    for row, lines in zip(relaxed, sheet.head.entries["relaxations"].rows, strict=True):
        if row.get("rule", names[0]) not in names:
            yield refuse_line(
                sheet.path,
                lines["rule"],
                f"relaxations relax {row['rule']!r}, and there is no such rule.",
                f"Expected one of: {', '.join(dict.fromkeys(names))}.",
                "Correct the name. For what each rule does: twice cost --list",
                key="relaxations",
            )


def save(before: Workspace, after: Workspace) -> tuple[str, ...]:
    """Write the sheets that differ, each whole or not at all; their paths.

    Raises:
        OutputUnwritable: E-OUTPUT-002: a file cannot be written; those before it in order are.
    """
    changed = []
    for number, sheet in after.sheets.items():
        old = before.get(number)
        if old is None or old.source != sheet.source:
            write(after.project / sheet.path, sheet.source.encode())
            changed.append(sheet.path)
    return tuple(changed)


@dataclass(frozen=True, slots=True)
class TierRequirement:
    """What a sheet says that belongs to another tier. A forced tier is never waived.

    Args:
        tier: the least tier that holds it, or for a cap the highest.
        sheet: which sheet says so.
        key: in which key.
        why: one sentence.
        caps: whether it is a cap.
    """

    tier: Tier
    sheet: str
    key: str
    why: str
    caps: bool = False


def find_tier_requirements(workspace: Workspace) -> Iterator[TierRequirement]:
    """Yield everything that forces or caps the tier, in the order of the sheets."""
    for each in find_promotions(workspace.situation(), workspace.sheets):
        yield TierRequirement(each.tier, "00", "traits", each.why)
    reach = (workspace.text("01", "scope"), workspace.text("01", "axis"))
    if reach[0] == "cross-host" or reach[1] == "reproducibility":
        yield TierRequirement(Tier.L, "01", "scope", "the promise reaches other machines")
    if workspace.value("01", "closed_world") is False:
        why = "an effect cannot be substituted"
        yield TierRequirement(Tier.S, "01", "closed_world", why, caps=True)
    for number, key, why in (
        ("04", "ownership", "several processes keep state"),
        ("05", "cross_process", "compare-points of several processes are joined"),
    ):
        if workspace.value(number, key) is not None and not workspace.sheets[number].is_memo:
            yield TierRequirement(Tier.M, number, key, why)
    if "processes" in workspace.strings("07", "model"):
        yield TierRequirement(Tier.M, "07", "model", "several processes work together")
    for row in workspace.rows("10", "inventory"):
        if row.get("substitutable") is False:
            why = f"{row.get('what')} cannot be substituted"
            yield TierRequirement(Tier.S, "10", "inventory", why, caps=True)
    if workspace.value("12", "stateful") is True:
        why = "sessions are tried in any order"
        yield TierRequirement(Tier.XL, "12", "stateful", why)


def find_notes(workspace: Workspace) -> Iterator[str]:
    """Yield what is worth a word and fails nothing: a class that the answers do not need, and keys that are asked for."""
    promised, enough = workspace.text("01", "class"), workspace.text("01", "weakest")
    if promised and enough and promised != enough:
        order = [*DeterminismClass]  # the strongest first
        is_stronger = order.index(DeterminismClass(promised)) < order.index(
            DeterminismClass(enough)
        )
        than = (
            f"stronger than {enough}, which is enough"
            if is_stronger
            else f"weaker than {enough}, which is needed"
        )
        yield f"01 class: {promised} is {than} by the answers of spec init"
    for sheet in workspace.sheets.values():
        for gap in sheet.wishes(workspace.situation()):
            yield f"{sheet.number} {gap.key} is {gap.why}: {gap.says}"


def find_forced_tier(workspace: Workspace) -> Tier:
    """Return the least tier that holds what the sheets say; the declared one where nothing forces more."""
    forced = [each.tier for each in find_tier_requirements(workspace) if not each.caps]
    return max([workspace.situation().tier, *forced])


def find_cap(workspace: Workspace) -> TierRequirement | None:
    """Return what caps the tier; None where nothing does."""
    return next((each for each in find_tier_requirements(workspace) if each.caps), None)
