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
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from twice.assets.errors import ImportRefused, PayloadRefused
from twice.assets.importers.detect import import_file
from twice.assets.importers.result import Imported, Value
from twice.assets.log.block import EXCUSE
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
from twice.assets.media.measure import measure_file
from twice.assets.media.payload import NO_PAYLOAD
from twice.assets.store.seal import write_log
from twice.errors import ExtraMissing

FORMAT: Final = "twice.asset-import/1"


@dataclass(frozen=True, slots=True)
class ImportConflict:
    """A field of which the log and the file say different things."""

    pointer: str
    log: Value
    file: Value


@dataclass(slots=True)
class LogMerge:
    """A log after a file was read into it: a new revision, a fuller draft, or the same document; and its fields.

    The log lacked those ``filled``, and a person alone had declared those ``confirmed``. Of those ``taken`` the file's
    value was chosen. In ``conflicts`` the log's value stays, and what is ``unfit`` a log does not take, with the reason.
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


@dataclass(frozen=True, slots=True)
class LogImport:
    """What an import came to.

    ``measured`` is empty where the file is no picture or sound, or cannot be decoded. ``result`` is conflict,
    ambiguous, nothing or settled; ``settled`` says whether all that may be written is.
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
            "format": FORMAT, "result": self.result, **asdict(self.imported), "measured": self.measured, "log": log,
        }  # fmt: skip


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
        PayloadRefused: E-PAYLOAD-001: the log is about a payload, and the file's cannot be told.
    """
    on_progress(f"reading {file.name}")
    imported = import_file(file, chosen)
    log: dict[str, Any] | None = None
    if into is not None:
        log, _ = examine_bytes(read_bytes(into), str(into))
        # An unfinished log is filled, and one that says something wrong is not.
        problems = examine(without_wanted(log)).problems
        wrong = [each for each in problems if each.fault not in (Fault.MISSING, Fault.UNKNOWN)]
        if wrong:
            raise refusal(str(into), wrong[0], len(wrong))
    check_choices(imported, chosen, log or {})
    on_progress(f"measuring {file.name}")
    about = ((log or {}).get("asset") or {}) if not force else {}
    wanted = about.get("payload") if about.get("file_sha256") != imported.sha256 else None
    payload, measured = {}, {}
    try:
        asset = to_document(measure_file(file))
        payload, measured = asset["payload"], asset.get("measured", {})
    except (ExtraMissing, PayloadRefused):
        if wanted:
            raise
    if payload.get("method") == NO_PAYLOAD:
        payload = {}  # A project or a graph fills any log.
    elif wanted not in (None, payload):
        raise ImportRefused(
            f"{file} is not the asset that {into} is about: its payload is {' '.join(payload.values())}.",
            f"Expected the payload {' '.join(wanted.values())}.",
            "Name the log's own asset, or fill the log from this file all the same: --force",
        )
    merged = None if log is None else merge_into(log, imported, chosen)
    result = "settled" if imported.values else "nothing"
    if merged is not None and (merged.conflicts or merged.unfit):
        result = "conflict"
    elif imported.ambiguities:
        result = "ambiguous"
    settled = result == "settled" or (merge and result != "nothing")
    found = LogImport(imported, measured, merged, result, settled=settled)
    if into is not None and merged is not None and found.written:
        if payload and not force:
            # A draft says which picture or sound filled it, so that it is sealed with that one alone.
            merged.document.setdefault("asset", {"payload": payload})
        write_log(into, merged.document)
    return found


def check_choices(imported: Imported, chosen: Mapping[str, Value], log: Mapping[str, Any]) -> None:
    """Check that each choice took one of the values there: a candidate of the file's, its value, or the log's.

    Raises:
        ImportRefused: E-ASSET-IMPORT-001: a choice took nothing.
    """
    candidates = {each.pointer: each.candidates for each in imported.ambiguities}
    for pointer, value in chosen.items():
        offered = list(candidates.get(pointer, ()))
        if pointer in imported.values:
            offered = [
                each for each in (imported.values[pointer], _find(log, pointer)) if each is not None
            ]
        if value not in offered:
            shown = ", ".join(repr(each)[:60] for each in offered[:8])
            raise ImportRefused(
                f"{value!r} was chosen for {pointer}, and it is not one of the values there.",
                f"Expected one of {shown}." if shown else "Expected a field that the file says.",
                "See what is open: twice asset import FILE",
                pointer=pointer,
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
    filled_in = without_wanted(document)
    result = LogMerge(after)
    for pointer, value in imported.values.items():
        known = _find(filled_in, pointer)
        is_open = says_nothing(known)
        if is_open or (known != value and chosen.get(pointer, known) == value):
            trial: dict[str, Any] = {key: after[key] for key in ("kind", "promise") if key in after}
            _put(trial, pointer, value)
            inside = (
                p for p in examine(trial).problems if f"{p.pointer}/".startswith(f"{pointer}/")
            )
            if wrong := [each for each in inside if each.fault is not Fault.MISSING]:
                why = f"{wrong[0].found} is not {wrong[0].expected}"
                result.unfit.append((pointer, why))
                continue
            _put(after, pointer, value)
            (result.filled if is_open else result.taken).append(pointer)
        elif known == value:
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


def _find(document: Any, pointer: str) -> Any:
    """Give the value at a pointer, or None; a reason why a block does not apply stands for all in it."""
    for step in unescape(pointer):
        if not isinstance(document, Mapping) or EXCUSE in document:
            break
        document = document.get(step)
    return document


def _put(document: dict[str, Any], pointer: str, value: Value) -> None:
    *around, last = unescape(pointer)
    for step in around:
        inner = document.get(step)
        if not isinstance(inner, dict) or EXCUSE in inner:
            inner = document[step] = {}
        document = inner
    document[last] = copy.deepcopy(value)
