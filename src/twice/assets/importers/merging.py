"""What a file says, put into a determinism log: filled in, the same, or in conflict.

A value that the log has is never replaced unless it was chosen. A field that says nothing ("unknown",
null) counts as missing. A value that agrees with one that a person declared makes its evidence stronger.

A draft has no revision yet, and stays a draft.

Invariant: a log that changes is a new revision that names the one before.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from twice.assets.errors import ImportRefused
from twice.assets.importers.imported import Imported, Source, Value, same
from twice.assets.log.drafts import without_wanted
from twice.assets.log.io import examine, log_digest
from twice.assets.log.kinds import Fault, says_nothing
from twice.assets.log.models import EvidenceLevel

_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field of which the log and the file say different things."""

    pointer: str
    log: Value
    file: Value


@dataclass(frozen=True, slots=True)
class Merged:
    """A log after a file was read into it.

    Args:
        document: the new revision, a draft with more in it, or the log as it was where nothing changed.
        filled: fields that the log did not have.
        confirmed: fields that were declared and that the file says as well.
        taken: fields whose value in the log was replaced, because the file's was chosen.
        same: fields that agree already.
        conflicts: fields in which log and file differ; the document keeps the log's value.
        unfit: fields whose value a log does not take, with the reason.
    """

    document: dict[str, Any]
    filled: tuple[str, ...]
    confirmed: tuple[str, ...]
    taken: tuple[str, ...]
    same: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    unfit: tuple[tuple[str, str], ...]

    @property
    def changed(self) -> bool:
        """Whether the document is a new revision."""
        return bool(self.filled or self.confirmed or self.taken)


def merged(document: Mapping[str, Any], imported: Imported, chosen: Mapping[str, Value]) -> Merged:
    """Put what a file says into a log.

    Args:
        document: the log, read and found to hold no wrong value.
        imported: what the file says, with choices among its candidates already made.
        chosen: the value to be kept for fields in conflict; the log's or the file's.

    Raises:
        ImportRefused: E-ASSET-IMPORT-001: the log is about the other kind of asset.
    """
    _same_kind(document, imported)
    after: dict[str, Any] = copy.deepcopy(dict(document))
    sorted_into: dict[str, list[str]] = {"filled": [], "confirmed": [], "taken": [], "same": []}
    conflicts: list[Conflict] = []
    unfit: list[tuple[str, str]] = []
    for pointer, value in imported.values.items():
        how = _judged(after, pointer, value, chosen)
        if how == "conflict":
            conflicts.append(Conflict(pointer, _at(after, pointer), value))
            continue
        if how in ("filled", "taken"):
            why = _refused(after, pointer, value)
            if why:
                unfit.append((pointer, why))
                continue
            _put(after, pointer, value)
        if how != "same":
            _witness(after, pointer, imported.evidence[pointer])
        sorted_into[how].append(pointer)
    result = Merged(
        after,
        tuple(sorted_into["filled"]),
        tuple(sorted_into["confirmed"]),
        tuple(sorted_into["taken"]),
        tuple(sorted_into["same"]),
        tuple(conflicts),
        tuple(unfit),
    )
    revision = document.get("revision")
    if result.changed and isinstance(revision, int):
        after["revision"] = revision + 1
        after["supersedes"] = log_digest(examine(document).log)
    return result


def _same_kind(document: Mapping[str, Any], imported: Imported) -> None:
    kind = document.get("kind")
    other = {"art": "/audio/", "audio": "/art/"}.get(str(kind), "")
    foreign = next((each for each in imported.values if other and each.startswith(other)), None)
    if foreign is not None:
        raise ImportRefused(
            f"The file says {foreign}, and the log is about {kind}.",
            "Expected a file and a log of the same kind of asset.",
            "Name the log of this asset: twice asset import FILE --into LOG",
            pointer=foreign,
        )


def _judged(
    document: Mapping[str, Any], pointer: str, value: Value, chosen: Mapping[str, Value]
) -> str:
    known = _at(document, pointer)
    if known is _MISSING or _says_nothing(known):
        return "filled"
    if same(known, value):
        level = document.get("evidence", {}).get(pointer, {}).get("level")
        return "confirmed" if level in (None, EvidenceLevel.DECLARED.value) else "same"
    if pointer in chosen:
        return "taken" if same(chosen[pointer], value) else "same"
    return "conflict"


def _says_nothing(value: object) -> bool:
    if isinstance(value, dict | list):
        return bool(value) and not without_wanted([value])
    return value is None or (isinstance(value, str) and says_nothing(value))


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _at(document: Mapping[str, Any], pointer: str) -> Any:
    """Give the value at a pointer; a reason why a block does not apply stands for all in it."""
    found: Any = document
    for step in _steps(pointer):
        if not isinstance(found, Mapping):
            return _MISSING
        if "not_applicable" in found:
            return found
        if step not in found:
            return _MISSING
        found = found[step]
    return found


def _put(document: dict[str, Any], pointer: str, value: Value) -> None:
    *around, last = _steps(pointer)
    block = document
    for step in around:
        inner = block.get(step)
        if not isinstance(inner, dict) or "not_applicable" in inner:
            inner = block[step] = {}
        block = inner
    block[last] = copy.deepcopy(value)


def _refused(document: Mapping[str, Any], pointer: str, value: Value) -> str:
    """Say why a log does not take a value; empty when it does."""
    trial: dict[str, Any] = {"kind": document.get("kind"), "promise": document.get("promise")}
    _put(trial, pointer, value)
    for problem in examine(trial).problems:
        inside = problem.pointer == pointer or problem.pointer.startswith(f"{pointer}/")
        if inside and problem.fault is not Fault.MISSING:
            return f"{problem.found} is not {problem.expected}"
    return ""


def _witness(document: dict[str, Any], pointer: str, source: Source) -> None:
    table = document.setdefault("evidence", {})
    table[pointer] = {"level": EvidenceLevel.IMPORTED.value, **source.document()}


def with_choices(imported: Imported, chosen: Mapping[str, Value]) -> Imported:
    """Settle ambiguities by what was chosen.

    Raises:
        ImportRefused: E-ASSET-IMPORT-001: what was chosen is none of the candidates, or nothing is open.
    """
    values, evidence = dict(imported.values), dict(imported.evidence)
    left = []
    for doubt in imported.ambiguities:
        if doubt.pointer not in chosen:
            left.append(doubt)
            continue
        value = chosen[doubt.pointer]
        match = [each for each in doubt.candidates if same(each, value)]
        if not match:
            raise _no_candidate(doubt.pointer, value, list(doubt.candidates))
        values[doubt.pointer] = match[0]
        evidence[doubt.pointer] = Source(
            f"chosen among {len(doubt.candidates)}: {doubt.why}", imported.file, imported.sha256
        )
    return Imported(
        file=imported.file,
        sha256=imported.sha256,
        generator=imported.generator,
        generator_version=imported.generator_version,
        values=values,
        evidence=evidence,
        ambiguities=tuple(left),
        not_understood=imported.not_understood,
        other=imported.other,
    )


def hold_choices(imported: Imported, merge: Merged | None, chosen: Mapping[str, Value]) -> None:
    """Refuse a choice that chose nothing.

    Raises:
        ImportRefused: E-ASSET-IMPORT-001: it is of a field that is not open, or of neither value.
    """
    for pointer, value in chosen.items():
        if pointer not in imported.values:
            raise _no_candidate(pointer, value, [])
        known = [imported.values[pointer]]
        if merge is not None:
            known += list(_kept(merge, pointer))
        if not any(same(each, value) for each in known):
            raise _no_candidate(pointer, value, known)


def _kept(merge: Merged, pointer: str) -> Iterator[Value]:
    found = _at(merge.document, pointer)
    if found is not _MISSING:
        yield found


def _no_candidate(pointer: str, value: Value, candidates: list[Value]) -> ImportRefused:
    offered = ", ".join(repr(each)[:60] for each in candidates[:8])
    return ImportRefused(
        f"{value!r} was chosen for {pointer}, and it is not one of the values there.",
        f"Expected one of {offered}." if offered else "Expected a field that the file says.",
        "See what is open: twice asset import FILE",
        pointer=pointer,
    )
