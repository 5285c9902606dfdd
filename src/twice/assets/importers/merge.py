"""What a file says, put into a determinism log: filled in, confirmed, the same, or in conflict.

A value that the log has is never replaced unless it was chosen. A field that says nothing ("unknown", null) counts as
missing. A value that agrees with one that a person declared makes its evidence stronger. A draft has no revision yet,
and stays a draft.

Invariant: a log is written only when all is settled, or when a person said to leave the rest; one that changes is a new
revision that names the one before.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from twice.assets.errors import ImportRefused, PayloadRefused
from twice.assets.importers.detect import import_file
from twice.assets.importers.result import Imported, Provenance, Value, is_same
from twice.assets.log.drafts import without_wanted
from twice.assets.log.io import (
    examine,
    examine_bytes,
    log_digest,
    read_bytes,
    refusal,
    to_document,
    unescape,
)
from twice.assets.log.kinds import Fault, says_nothing
from twice.assets.log.models import EvidenceLevel
from twice.assets.media.measure import digest_file, measure_file
from twice.assets.media.payload import NO_PAYLOAD, digest_payload
from twice.assets.store.seal import write_log
from twice.errors import ExtraMissing

FORMAT: Final = "twice.asset-import/1"
_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class ImportConflict:
    """A field of which the log and the file say different things."""

    pointer: str
    log: Value
    file: Value


@dataclass(slots=True)
class LogMerge:
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
    filled: list[str] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    conflicts: list[ImportConflict] = field(default_factory=list)
    unfit: list[tuple[str, str]] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether the document is a new revision."""
        return bool(self.filled or self.confirmed or self.taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogImport:
    """What an import came to.

    Args:
        imported: what the file says.
        measured: figures of the delivered file; empty where it is no picture or sound, or cannot be decoded.
        merge: the log after it; None without one.
        result: conflict, ambiguous, nothing or settled.
        settled: whether all that may be written is settled.
    """

    imported: Imported
    measured: Mapping[str, Any]
    merge: LogMerge | None
    result: str
    settled: bool

    @property
    def written(self) -> bool:
        """Whether the log was written."""
        return self.merge is not None and self.merge.changed and self.settled

    @property
    def exit_code(self) -> int:
        """0 settled, 1 log and file differ, 2 a field is ambiguous or nothing was found."""
        return 0 if self.settled else 1 if self.result == "conflict" else 2

    def to_json(self) -> dict[str, Any]:
        """Give it as ``twice asset import --json`` prints it."""
        log = None
        if self.merge is not None:
            log = asdict(self.merge)
            log["revision"] = log.pop("document").get("revision")
            log["unfit"] = [{"pointer": at, "why": why} for at, why in self.merge.unfit]
            log["written"] = self.written
        return {
            "format": FORMAT,
            "result": self.result,
            **self.imported.to_json(),
            "measured": dict(self.measured),
            "log": log,
        }


def import_into_log(
    file: Path,
    chosen: Mapping[str, Value],
    on_progress: Callable[[str], None],
    *,
    into: Path | None = None,
    merge: bool = False,
    force: bool = False,
) -> LogImport:
    """Read a file, and fill a log from it where one is named.

    Args:
        file: a picture, a sound, a graph or a project.
        chosen: the value to take, by pointer, where there are several.
        on_progress: told what is being done.
        into: the log to fill; None to read the file only.
        merge: whether to write what is settled, and leave the rest of the log.
        force: whether to fill a log that is about another file as well.

    Raises:
        AssetMissing: E-ASSET-FILE-001: the file cannot be read.
        ImportRefused: E-ASSET-IMPORT-001: a choice chose nothing, or the log is about another file.
        LogUnreadable, LogRefused: E-ASSET-LOG-001, E-ASSET-LOG-002: the log cannot be filled.
    """
    on_progress(f"reading {file.name}")
    imported, merged = choose_candidates(import_file(file), chosen), None
    if into is not None:
        log = _read_log(into)
        if not force:
            _refuse_other(log, into, file)
        merged = merge_into(log, imported, chosen)
    refuse_empty_choices(imported, merged, chosen)
    on_progress(f"measuring {file.name}")
    result = "settled" if imported.values else "nothing"
    if merged is not None and (merged.conflicts or merged.unfit):
        result = "conflict"
    elif imported.ambiguities:
        result = "ambiguous"
    try:
        measured = dict(to_document(measure_file(file)).get("measured", {}))
    except (ExtraMissing, PayloadRefused):
        measured = {}
    settled = result == "settled" or (merge and result != "nothing")
    found = LogImport(
        imported=imported, measured=measured, merge=merged, result=result, settled=settled
    )
    if into is not None and merged is not None and found.written:
        if not force and "asset" not in merged.document:
            # A draft says which picture or sound filled it, so that it is sealed with that one alone.
            with suppress(PayloadRefused):
                own = digest_payload(file)
                if own.method != NO_PAYLOAD:
                    said = {"method": own.method, "digest": own.digest}
                    merged.document["asset"] = {"payload": said}
        write_log(into, merged.document)
    return found


def _read_log(path: Path) -> dict[str, Any]:
    """Read a log or a draft, which may be unfinished but says nothing wrong."""
    document, _ = examine_bytes(read_bytes(path), str(path))
    problems = examine(without_wanted(document)).problems
    wrong = [each for each in problems if each.fault not in (Fault.MISSING, Fault.UNKNOWN)]
    if wrong:
        raise refusal(str(path), wrong[0], len(wrong))
    assert isinstance(document, dict), "a log without a wrong value is an object"
    return document


def _refuse_other(log: Mapping[str, Any], path: Path, file: Path) -> None:
    """Refuse a picture or a sound that is not what the log is about; a project has no payload of its own."""
    asset = log.get("asset") or {}
    said = asset.get("payload") or {}
    if None in (said.get("digest"), said.get("method")):
        return
    if asset.get("file_sha256") == digest_file(file):
        return
    found = digest_payload(file)
    if found.method != NO_PAYLOAD and (found.method, found.digest) != (
        said["method"],
        said["digest"],
    ):
        raise ImportRefused(
            f"{file} is not the asset that {path} is about: its payload is {found.method} {found.digest}.",
            f"Expected the payload {said['method']} {said['digest']}.",
            "Name the log's own asset, or fill the log from this file all the same: --force",
        )


def merge_into(
    document: Mapping[str, Any], imported: Imported, chosen: Mapping[str, Value]
) -> LogMerge:
    """Put what a file says into a log.

    Args:
        document: the log, read and found to hold no wrong value.
        imported: what the file says, with choices among its candidates already made.
        chosen: the value to be kept for fields in conflict; the log's or the file's.

    Raises:
        ImportRefused: E-ASSET-IMPORT-001: the log is about the other kind of asset.
    """
    other = {"art": "/audio/", "audio": "/art/"}.get(str(document.get("kind")), "\0")
    foreign = next((each for each in imported.values if each.startswith(other)), None)
    if foreign is not None:
        raise ImportRefused(
            f"The file says {foreign}, and the log is about {document['kind']}.",
            "Expected a file and a log of the same kind of asset.",
            "Name the log of this asset: twice asset import FILE --into LOG",
            pointer=foreign,
        )
    after: dict[str, Any] = copy.deepcopy(dict(document))
    result = LogMerge(after)
    for pointer, value in imported.values.items():
        known = _find(after, pointer)
        # What nobody filled in of a draft counts as missing, like null and "unknown".
        is_wanted = isinstance(known, dict | list) and known and not without_wanted([known])
        is_open = known is _MISSING or is_wanted or says_nothing(known)
        if is_open or (not is_same(known, value) and is_same(chosen.get(pointer, known), value)):
            if why := _find_misfit(after, pointer, value):
                result.unfit.append((pointer, why))
                continue
            _put(after, pointer, value)
            (result.filled if is_open else result.taken).append(pointer)
        elif is_same(known, value):
            level = document.get("evidence", {}).get(pointer, {}).get("level")
            is_declared = level in (None, EvidenceLevel.DECLARED.value)
            (result.confirmed if is_declared else result.same).append(pointer)
            if not is_declared:
                continue
        elif pointer in chosen:
            result.same.append(pointer)
            continue
        else:
            result.conflicts.append(ImportConflict(pointer, known, value))
            continue
        evidence = {"level": EvidenceLevel.IMPORTED.value, **asdict(imported.evidence[pointer])}
        after.setdefault("evidence", {})[pointer] = evidence
    revision = document.get("revision")
    if result.changed and isinstance(revision, int):
        after["revision"] = revision + 1
        after["supersedes"] = log_digest(examine(document).log)
    return result


def _find(document: Mapping[str, Any], pointer: str) -> Any:
    """Give the value at a pointer; a reason why a block does not apply stands for all in it."""
    found: Any = document
    for step in unescape(pointer):
        if isinstance(found, Mapping) and "not_applicable" in found:
            return found
        if not isinstance(found, Mapping) or step not in found:
            return _MISSING
        found = found[step]
    return found


def _put(document: dict[str, Any], pointer: str, value: Value) -> None:
    *around, last = unescape(pointer)
    block = document
    for step in around:
        inner = block.get(step)
        if not isinstance(inner, dict) or "not_applicable" in inner:
            inner = block[step] = {}
        block = inner
    block[last] = copy.deepcopy(value)


def _find_misfit(document: Mapping[str, Any], pointer: str, value: Value) -> str:
    """Say why a log does not take a value; empty when it does."""
    trial: dict[str, Any] = {"kind": document.get("kind"), "promise": document.get("promise")}
    _put(trial, pointer, value)
    for problem in examine(trial).problems:
        inside = problem.pointer == pointer or problem.pointer.startswith(f"{pointer}/")
        if inside and problem.fault is not Fault.MISSING:
            return f"{problem.found} is not {problem.expected}"
    return ""


def choose_candidates(imported: Imported, chosen: Mapping[str, Value]) -> Imported:
    """Settle ambiguities by what was chosen.

    Raises:
        ImportRefused: E-ASSET-IMPORT-001: what was chosen is none of the candidates.
    """
    values, evidence = dict(imported.values), dict(imported.evidence)
    for doubt in imported.ambiguities:
        if doubt.pointer not in chosen:
            continue
        matching = [each for each in doubt.candidates if is_same(each, chosen[doubt.pointer])]
        if not matching:
            raise _refuse_choice(doubt.pointer, chosen, doubt.candidates)
        values[doubt.pointer] = matching[0]
        place = f"chosen among {len(doubt.candidates)}: {doubt.why}"
        evidence[doubt.pointer] = Provenance(place, imported.file, imported.sha256)
    left = tuple(each for each in imported.ambiguities if each.pointer not in chosen)
    return replace(imported, values=values, evidence=evidence, ambiguities=left)


def refuse_empty_choices(
    imported: Imported, merged: LogMerge | None, chosen: Mapping[str, Value]
) -> None:
    """Refuse a choice that chose nothing.

    Raises:
        ImportRefused: E-ASSET-IMPORT-001: it is of a field that the file does not say, or of neither value.
    """
    for pointer, value in chosen.items():
        known: list[Value] = [imported.values[pointer]] if pointer in imported.values else []
        in_log: Any = _find(merged.document, pointer) if merged is not None and known else _MISSING
        known += [in_log] if in_log is not _MISSING else []
        if not any(is_same(each, value) for each in known):
            raise _refuse_choice(pointer, chosen, known)


def _refuse_choice(
    pointer: str, chosen: Mapping[str, Value], candidates: tuple[Value, ...] | list[Value]
) -> ImportRefused:
    offered = ", ".join(repr(each)[:60] for each in candidates[:8])
    return ImportRefused(
        f"{chosen[pointer]!r} was chosen for {pointer}, and it is not one of the values there.",
        f"Expected one of {offered}." if offered else "Expected a field that the file says.",
        "See what is open: twice asset import FILE",
        pointer=pointer,
    )
