"""Fill open keys of sheets with what a record, this environment and the code show.

Invariant: nothing is executed, a record from a stranger can be read, and a value that somebody wrote keeps every byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from twice.errors import TwiceError
from twice.foundation.determinism_class import DeterminismClass, Predicate
from twice.foundation.digests import digest_value
from twice.foundation.seeds import Seed, is_shared
from twice.recorder.config import format_settings
from twice.recorder.environment.libraries import measure_versions
from twice.recorder.runrecord import RunRecord
from twice.specification.cost.result import EVIDENCE as COSTS
from twice.specification.cost.result import NUMBER
from twice.specification.front_matter import Cell, Row, Scalar, Value
from twice.specification.library_defaults import find_defaults
from twice.specification.record_traits import (
    digest_vector,
    find_shown_traits,
    find_told_traits,
    first_draws,
)
from twice.specification.schema import SHEETS, UNKNOWN, count_unknown
from twice.specification.tiers import StateKind, Trait
from twice.specification.workspace import Workspace

_NUMERIC: Final = frozenset({"jax", "numpy", "scipy", "torch"})
_ENCODING: Final = ("blake3", "numpy", "twice")
_KNOWN: Final = ('{"a":[1,1.0,-0.0],"b":null}', '["\\u00e9",true,"e\\u0301"]', "[]")
_GENERATORS: Final = frozenset({"numpy", "python", "torch", "jax"})
# What a record calls a kind of effect, and what sheet 10 calls its source.
_SOURCES: Final = {
    **{each: each for each in ("clock", "entropy", "environment", "network", "process", "stdin", "call")},
    "files": "filesystem",
}  # fmt: skip
_Read = Iterator[tuple[str, str, Any]]


@dataclass(frozen=True, slots=True)
class SourcesShown:
    """What the sources of 00 show: traits, each with its place, and the packages that they import."""

    traits: Mapping[Trait, str]
    packages: Collection[str]


ReadsSources = Callable[[Workspace], SourcesShown]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A value that could stand in a sheet, cells that could not be read being "?", and where it was read, in words."""

    sheet: str
    key: str
    value: Value
    source: str


@dataclass(frozen=True, slots=True)
class FillResult:
    """A workspace after filling: proposals that were taken, keys not known yet, and what speaks against 00."""

    workspace: Workspace
    put_in: tuple[Proposal, ...]
    unknown: tuple[tuple[str, str, str], ...]
    against: tuple[str, ...] = ()


def fill_sheets(workspace: Workspace, proposals: Iterable[Proposal]) -> FillResult:
    """Put proposals in where nothing or "?" stands; the first one for a key is taken."""
    sheets = dict(workspace.sheets)
    put_in: list[Proposal] = []
    for each in proposals:
        sheet = sheets.get(each.sheet)
        if sheet is None or sheet.is_memo:
            continue
        entry, item = sheet.head.entries.get(each.key), SHEETS[each.sheet].item(each.key)
        assert item is not None, "a proposal is for an item that the sheet has"
        now, value, name = entry.value if entry else UNKNOWN, each.value, item.type.unique
        if entry is None and item.asked is None and count_unknown(value):
            continue
        if now != UNKNOWN:
            # Rows of one name are one row; nothing else that somebody wrote is touched.
            if not name or not isinstance(now, list) or not isinstance(value, list):
                continue
            read = {str(row.get(name)): row for row in value if isinstance(row, dict)}
            rows: list[Row] = []
            for row in now:
                assert isinstance(row, dict), "the type is a list of maps"
                other = read.get(str(row.get(name)), {})
                cells = {
                    k: other.get(k, cell) if cell == UNKNOWN else cell for k, cell in row.items()
                }
                rows.append(cells)
            if rows == now:
                continue
            value = rows
        sheets[each.sheet] = sheet.with_value(each.key, value)
        put_in.append(replace(each, value=value))
    after = replace(workspace, sheets=sheets)
    return FillResult(after, tuple(put_in), list_unknown(after))


def list_unknown(workspace: Workspace) -> tuple[tuple[str, str, str], ...]:
    """Return what the sheets that are there do not say yet: sheet, key, what it is for and accepts."""
    situation = workspace.situation()
    return tuple(
        (sheet.number, gap.key, gap.asks)
        for sheet in workspace.sheets.values()
        for gap in sheet.gaps(situation)
    )


def fill_workspace(
    workspace: Workspace, record: Path | None = None, *, read_sources: ReadsSources | None = None
) -> FillResult:
    """Put in everything that can be read: from a record, this environment, the code and what was measured.

    Args:
        workspace: the sheets.
        record: the record to read; None for the one that 01 names, where it is there.
        read_sources: reads the sources of 00; None to look for no traits, for which all snapshots are read.

    Raises:
        RecordCorrupt and others: E-RECORD, when the record cannot be read.
    """
    denied: list[str] = []
    proposals = _propose_all(workspace, record or _find_vector(workspace), denied, read_sources)
    first = fill_sheets(workspace, proposals)
    # Draws and pins follow from what the record filled in.
    second = fill_sheets(first.workspace, propose_from_environment(first.workspace))
    put_in = (*first.put_in, *second.put_in)
    return FillResult(second.workspace, put_in, second.unknown, tuple(denied))


def _propose_all(
    workspace: Workspace, place: Path | None, denied: list[str], read_sources: ReadsSources | None
) -> Iterator[Proposal]:
    """Propose what can be read, and note what is seen though 00 says that it is not there."""
    if read_sources is not None:
        found = read_sources(workspace)
        yield from propose_traits(workspace, found.traits, "read from the code")
        denied += list_denied(workspace, found.traits)
        yield from propose_libraries(found.packages)
    if place is not None:
        named = _name_inside(workspace, place)
        with RunRecord.open(place) as record:
            yield from propose_from_record(record, named)
            shown = dict(find_shown_traits(record)) if read_sources is not None else {}
        yield from propose_traits(workspace, shown, f"read from {named}")
        denied += (f"{each}, in {named}" for each in list_denied(workspace, shown))
    sources: list[Scalar] = [*workspace.strings("00", "sources")]
    for sheet in ("02", "10") if sources else ():
        yield Proposal(sheet, "audit", sources, "00.sources")
    yield from propose_costs(workspace)


def list_against(workspace: Workspace) -> list[str]:
    """Return what the end of the record that 01 names shows though 00 denies it; [] where none can be read."""
    place = _find_vector(workspace)
    if place is None:
        return []
    try:
        with RunRecord.open(place) as record:
            shown = dict(find_told_traits(record.ending or {}))
    except TwiceError:  # Check 10 of the gate says what is wrong with it.
        return []
    named = _name_inside(workspace, place)
    return [f"{each}, in {named}" for each in list_denied(workspace, shown)]


def _find_vector(workspace: Workspace) -> Path | None:
    said = workspace.text("01", "vector")
    return workspace.project / said if said and (workspace.project / said).is_file() else None


def _name_inside(workspace: Workspace, place: Path) -> str:
    """Give a path as sheets name it: from the project on, where it lies in there."""
    try:
        return place.resolve().relative_to(workspace.project.resolve()).as_posix()
    except ValueError:
        return place.as_posix()


def to_rows(read: Iterable[Mapping[str, Cell]]) -> Value:
    """Return a list of maps as a value; "?" for an empty one, because nothing was read."""
    found: list[Row] = [dict(each) for each in read]
    return found or UNKNOWN


def propose_traits(
    workspace: Workspace, seen: Mapping[Trait, str], source: str
) -> Iterator[Proposal]:
    """Propose traits of 00 that something was seen of, with where and what; one that 00 denies stays denied.

    That nothing was seen leaves a trait open. ``source`` says where all of it was read.
    """
    denied = workspace.situation().traits
    told = {trait: each for trait, each in seen.items() if denied.get(trait) is not False}
    value: list[Row] = [
        {
            "name": trait.value,
            "here": True if trait in told else UNKNOWN,
            "why": told.get(trait, UNKNOWN),
        }
        for trait in Trait
    ]
    if told:
        yield Proposal("00", "traits", value, f"{source}: {', '.join(sorted(told))}")


def list_denied(workspace: Workspace, seen: Mapping[Trait, str]) -> list[str]:
    """Return what was seen though 00 says that it is not there."""
    traits = workspace.situation().traits
    return [
        f"00 says that there is no {trait}: {seen[trait]}"
        for trait in Trait
        if trait in seen and traits.get(trait) is False
    ]


def propose_libraries(packages: Collection[str]) -> Iterator[Proposal]:
    """Propose for sheet 13 a row for each imported library whose default is not deterministic; people decide."""
    value: list[Row] = [{**each, "decided": UNKNOWN} for each in find_defaults(packages)]
    if value:
        yield Proposal(NUMBER, "libraries", value, "imported by the code")


def propose_costs(workspace: Workspace) -> Iterator[Proposal]:
    """Propose for sheet 13 the kept file, and a row for each rule that it measures; a file of another form says nothing."""
    try:
        document = json.loads((workspace.folder / COSTS).read_bytes())
        rules = [str(each["rule"]) for each in document["rules"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return
    costs, item = f"{workspace.base}/{COSTS}", SHEETS[NUMBER].item("rules")
    assert item is not None, "sheet 13 lists the rules"
    people = [each.name for each in item.type.columns if each.name != "rule"]
    value: list[Row] = [{"rule": name, **dict.fromkeys(people, UNKNOWN)} for name in rules]
    yield Proposal(NUMBER, "measured", costs, "written by twice cost")
    if value:
        yield Proposal(NUMBER, "rules", value, f"measured in {costs}")


def propose_from_environment(workspace: Workspace) -> Iterator[Proposal]:
    """Propose what the interpreter and its libraries show; of libraries only numpy is imported, for its BLAS."""
    source = "read from this environment"
    if workspace.get("08") is not None:
        here = measure_versions()
        names = sorted({*_NUMERIC, *here.arithmetic} & here.versions.keys())
        yield Proposal(
            "08", "pins", _to_pins({each: here.versions[each] for each in names}), source
        )
    encoding = {each: find_version(each) for each in _ENCODING}
    yield Proposal("11", "pins", _to_pins(encoding), source)
    yield Proposal("11", "vectors", compute_known_answers(), "computed by twice")
    slots = workspace.rows("03", "slots")
    if encoding["numpy"] and {str(row.get("kind")) for row in slots} == {"numpy"}:
        library = f"numpy {encoding['numpy']}, generators as twice makes them"
        yield Proposal("03", "library", library, source)
    master, vectors = workspace.value("00", "seed"), list[Row]()
    for row in slots:
        name = str(row.get("stream", ""))
        if name and isinstance(master, int):
            draws = first_draws(str(row.get("kind", "")), Seed(master), name)
            if draws:
                vectors.append({"master": master, "stream": name, "draws": [*draws]})
    if vectors:
        yield Proposal("03", "vectors", vectors, "computed by twice from 00.seed and 03.slots")


def compute_known_answers() -> Value:
    """Return digests of a few JSON documents in the canonical form, as rows of sheet 11."""
    return to_rows(
        {"value": each, "digest": str(digest_value(json.loads(each)))} for each in _KNOWN
    )


def _to_pins(found: Mapping[str, str]) -> Value:
    return to_rows({"library": name, "version": each} for name, each in found.items() if each)


def find_version(name: str) -> str:
    """Return the version of an installed package; "" where it is not there."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def propose_from_record(record: RunRecord, path: str) -> Iterator[Proposal]:
    """Propose what an open record shows, which sheets name by ``path``."""
    proposed = [*_read_setup(record), *_read_run(record)]
    proposed += [("01", "vector", path), ("01", "vector_digest", digest_vector(record))]
    for sheet, key, value in sorted(proposed, key=lambda each: each[0]):
        if value != UNKNOWN:
            yield Proposal(sheet, key, value, f"read from {path}")


def _read_setup(record: RunRecord) -> _Read:
    """Yield what a record was told before it began."""
    policies, behaviours = record.identity["setup"]["policies"], record.identity["behaviours"]
    predicate = Predicate.from_json(record.identity["setup"]["predicate"])
    form = f"canonical form {behaviours['canonical_form']}"
    yield "00", "program", str(record.setup.program)
    yield "00", "seed", record.seed.value
    yield "00", "config", list(format_settings(record.config))
    yield "01", "class", predicate.determinism_class.value
    yield "01", "scope", predicate.scope.value
    yield "01", "axis", predicate.axis.value
    yield "01", "predicate", predicate.sentence()
    own = predicate.subsystems.items()
    yield "01", "subsystems", to_rows({"name": name, "class": each.value} for name, each in own)
    if predicate.determinism_class is DeterminismClass.LOGICAL:
        yield "01", "measure", predicate.decisions.measure
        if predicate.decisions.amount:
            yield "01", "epsilon", repr(predicate.decisions.amount)
    if (sample := predicate.sample) is not None:
        numbers = {key: repr(getattr(sample, key)) for key in ("epsilon", "power", "alpha")}
        said = {"summary": sample.name, "test": sample.test.value, "seeds": sample.n, **numbers}
        yield from (("01", key, value) for key, value in said.items())
    yield "02", "derivation", f"twice seed derivation, rule {behaviours['seed_derivation']}"
    yield "02", "record_fields", ["seed", "seed_rule", "streams", "config", "config_hash", "code"]
    yield "03", "serialisation", f"the state of each generator, in every snapshot, {form}"
    yield "04", "strategy", policies["strategy"]
    keeps = policies["snapshots"] != "none" and policies["strategy"] != "event-sourced"
    # Check 5 could not judge a cadence that kept no snapshot after the first tick.
    if not keeps or any(each.tick > 0 for each in record.reader.snapshots):
        yield "04", "cadence", policies["snapshots"]
    yield "04", "encoding", f"twice {form}"
    yield "05", "granularity", policies["compare"]
    yield "05", "hash", policies["digest"]
    manifest = "the inventory at the end of each record, compared by every verification"
    yield "10", "manifest", manifest
    yield "11", "rule", f"twice {form}"
    yield "11", "hash", policies["digest"]
    yield "11", "hashing", "merkle"


def _read_run(record: RunRecord) -> _Read:
    """Yield what a run did, by the end of its record; a torn one has none."""
    ending: Mapping[str, Any] = record.ending or {}
    components: Mapping[str, str] = ending.get("components", {})
    # A stream that modules share counts when it was drawn from; one that the program named always does.
    drawn = {
        name: facts
        for name, facts in sorted(ending.get("streams", {}).items())
        if facts.get("draws") or not is_shared(name)
    }
    owners = {name: _find_owner(name, components) for name in drawn}
    kinds = {name: str(facts["kind"]).partition("-")[0] for name, facts in drawn.items()}
    seeds = {name: str(facts["seed"]) for name, facts in drawn.items() if "seed" in facts}
    master = record.seed.value
    yield "02", "names", to_rows({"stream": each, "component": owners[each]} for each in drawn)
    rows: list[Row] = [{"master": master, "name": name, "seed": seeds[name]} for name in seeds]
    yield "02", "vectors", to_rows(rows)
    rows = [
        {"stream": name, "owner": owners[name], "kind": kind if kind in _GENERATORS else "other"}
        for name, kind in kinds.items()
    ]
    yield "03", "slots", to_rows(rows)
    captured = []
    if components and all(each == "state/restore" for each in components.values()):
        how = f"state and restore of {', '.join(sorted(components))}"
        captured.append((StateKind.COMPONENTS, how))
    if drawn:
        captured.append((StateKind.STREAMS, "positions, in every snapshot"))
    if ending.get("effects", {}).get("strict"):
        captured.append((StateKind.EFFECT_CURSORS, "in every snapshot"))
    rows = [{"kind": kind.value, "answer": "captured", "how": how} for kind, how in captured]
    yield "04", "state", to_rows(rows)
    yield "04", "components", to_rows({"name": name} for name in sorted(components))
    asked = [
        str(row["source"]) for row in ending.get("inventory", []) if row.get("class") == "recorded"
    ]
    rows = [
        {"source": source, "what": each, "pattern": "record-and-replay", "substitutable": True}
        for each in asked
        if (source := _SOURCES.get(each.partition(".")[0]))
    ]
    yield "10", "inventory", to_rows(rows)


def _find_owner(name: str, components: Mapping[str, Any]) -> str:
    """Return the component whose name a stream's path begins with; "?" where none has it."""
    while name and name not in components:
        name = name.rpartition("/")[0]
    return name or UNKNOWN
