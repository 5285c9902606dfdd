"""Which log is about which payload, for a whole store, in one file.

It is made of the sidecars and can be made anew from them at any time.

Invariant: equal sidecars give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from twice.assets.model.log import SUFFIX, DeterminismLog
from twice.assets.model.text import examine_bytes, log_digest, parse, read_bytes
from twice.assets.store.project import Store
from twice.errors import TwiceError
from twice.writing import write

NAME: Final = "detlogs.index.json"
FORMAT: Final = "twice.asset-index/1"


@dataclass(frozen=True, slots=True)
class Entry:
    """One log: its id and revision, the digest of its text, and what it is about.

    ``log`` and ``asset`` are paths from the root of the store; ``payload`` is method and digest.
    """

    payload: str
    log_id: str
    revision: int
    log: str
    log_digest: str
    asset: str
    file_sha256: str


def payload_key(log: DeterminismLog) -> str | None:
    """Give method and digest of a log's payload as one text."""
    payload = None if log.asset is None else log.asset.payload
    if payload is None or payload.method is None or payload.digest is None:
        return None
    return f"{payload.method} {payload.digest}"


def entry_of(store: Store, sidecar: Path, log: DeterminismLog) -> Entry | None:
    """Give the entry of a log; None for one that does not say what it is about."""
    key, asset = payload_key(log), log.asset
    if key is None or asset is None or asset.file is None or log.log_id is None:
        return None
    return Entry(
        payload=key,
        log_id=log.log_id,
        revision=log.revision or 1,
        log=store.named(sidecar),
        log_digest=log_digest(log),
        asset=store.named(sidecar.parent / asset.file),
        file_sha256=asset.file_sha256 or "",
    )


def sidecars(folder: Path) -> Iterator[Path]:
    """Find every sidecar below a folder, in one order; hidden folders are left out."""
    for path in sorted(folder.rglob(f"*{SUFFIX}")):
        if not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def made(store: Store) -> list[Entry]:
    """Make the entries of a store from its sidecars; what cannot be read is left to the gate."""
    found = []
    for path in sidecars(store.root):
        try:
            log = examine_bytes(read_bytes(path), str(path))[1].log
            entry = entry_of(store, path, log)
        except TwiceError:
            continue
        if entry is not None:
            found.append(entry)
    return found


def read(store: Store) -> list[Entry]:
    """Read the index; made anew where there is none, or it is damaged."""
    path = store.root / NAME
    try:
        said = parse(path.read_bytes(), str(path))
        if said["format"] != FORMAT:
            return made(store)
        entries = [Entry(**each) for each in said["logs"]]
        kinds = {name: int if name == "revision" else str for name in Entry.__dataclass_fields__}
        if all(isinstance(getattr(e, n), kind) for e in entries for n, kind in kinds.items()):
            return entries
        return made(store)
    except (OSError, TwiceError, KeyError, TypeError):
        return made(store)


def keep(store: Store, entries: Iterable[Entry]) -> None:
    """Write the index."""
    ordered = sorted(entries, key=lambda each: (each.payload, each.log_id))
    document: Mapping[str, Any] = {"format": FORMAT, "logs": [asdict(each) for each in ordered]}
    write(store.root / NAME, (json.dumps(document, indent=1, sort_keys=True) + "\n").encode())
