"""Importing a file: what it says, what is measured of it, and the log or draft that is filled from both.

Invariant: a log is written only when everything is settled, or when a person said to leave the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from twice.assets.errors import ImportRefused, PayloadRefused
from twice.assets.importers.imported import Imported, Value
from twice.assets.importers.merging import Merged, hold_choices, merged, with_choices
from twice.assets.importers.opening import import_file
from twice.assets.log.drafts import without_wanted
from twice.assets.log.io import examine, examine_bytes, read_bytes, refusal, to_document
from twice.assets.log.kinds import Fault
from twice.assets.media.measure import digest_file, measure_file
from twice.assets.media.payload import NO_PAYLOAD, digest_payload
from twice.assets.store.seal import write_log
from twice.errors import ExtraMissing

FORMAT = "twice.asset-import/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The log to fill.

    Args:
        into: its path; None to read the file only.
        merge: whether to write what is settled, and leave the rest of the log.
        force: whether to fill a log that is about another file as well.
    """

    into: Path | None = None
    merge: bool = False
    force: bool = False


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
    merge: Merged | None
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
        merge = self.merge
        return {
            "format": FORMAT,
            "result": self.result,
            **self.imported.document(),
            "measured": dict(self.measured),
            "log": None if merge is None else {
                "filled": list(merge.filled),
                "confirmed": list(merge.confirmed),
                "taken": list(merge.taken),
                "same": list(merge.same),
                "conflicts": [asdict(each) for each in merge.conflicts],
                "unfit": [{"pointer": at, "why": why} for at, why in merge.unfit],
                "revision": merge.document.get("revision"),
                "written": self.written,
            },
        }  # fmt: skip


def import_into_log(
    file: Path, target: Target, chosen: Mapping[str, Value], doing: Callable[[str], None]
) -> LogImport:
    """Read a file, and fill a log from it where one is named.

    Args:
        file: a picture, a sound, a graph or a project.
        target: the log.
        chosen: the value to take, by pointer, where there are several.
        doing: told what is being done.

    Raises:
        AssetMissing: E-ASSET-FILE-001: the file cannot be read.
        ImportRefused: E-ASSET-IMPORT-001: a choice chose nothing, or the log is about another file.
        LogUnreadable, LogRefused: E-ASSET-LOG-001, E-ASSET-LOG-002: the log cannot be filled.
    """
    doing(f"reading {file.name}")
    imported, merge = with_choices(import_file(file), chosen), None
    if target.into is not None:
        log = _read_log(target.into)
        if not target.force:
            _refuse_other(log, target.into, file)
        merge = merged(log, imported, chosen)
    hold_choices(imported, merge, chosen)
    doing(f"measuring {file.name}")
    result = _conclude(imported, merge)
    settled = result == "settled" or (target.merge and result != "nothing")
    measured = _measure(file)
    found = LogImport(
        imported=imported, measured=measured, merge=merge, result=result, settled=settled
    )
    if target.into is not None and merge is not None and found.written:
        if not target.force:
            _bind(merge.document, file)
        write_log(target.into, merge.document)
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
    asset = log.get("asset")
    said = asset.get("payload") if isinstance(asset, Mapping) else None
    if not isinstance(said, Mapping) or None in (said.get("digest"), said.get("method")):
        return
    if asset is not None and asset.get("file_sha256") == digest_file(file):
        return
    found = digest_payload(file)
    if found.method == NO_PAYLOAD:
        return
    if (found.method, found.digest) != (said["method"], said["digest"]):
        why = f"its payload is {found.method} {found.digest}"
        raise ImportRefused(
            f"{file} is not the asset that {path} is about: {why}.",
            f"Expected the payload {said['method']} {said['digest']}.",
            "Name the log's own asset, or fill the log from this file all the same: --force",
        )


def _measure(file: Path) -> Mapping[str, Any]:
    try:
        return dict(to_document(measure_file(file)).get("measured", {}))
    except (ExtraMissing, PayloadRefused):
        return {}


def _conclude(imported: Imported, merge: Merged | None) -> str:
    if merge is not None and (merge.conflicts or merge.unfit):
        return "conflict"
    if imported.ambiguities:
        return "ambiguous"
    return "settled" if imported.values else "nothing"


def _bind(document: dict[str, Any], file: Path) -> None:
    """Say in a draft which picture or sound filled it, so that it is sealed with that one alone."""
    if "asset" in document:
        return
    try:
        found = digest_payload(file)
    except PayloadRefused:
        return
    if found.method != NO_PAYLOAD:
        document["asset"] = {"payload": {"method": found.method, "digest": found.digest}}
