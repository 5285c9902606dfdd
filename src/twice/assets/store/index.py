"""Which log is about which payload, for a whole store, in a folder of 256 parts by the payload's digest.

It is made of the sidecars and can be made anew from them at any time. A seal reads and writes one part, so that sealing
thousands of assets one by one costs as much for the last as for the first.

Invariant: equal sidecars give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from twice.assets.log.io import examine_bytes, log_digest, parse, read_bytes
from twice.assets.log.models import SUFFIX, DeterminismLog
from twice.assets.store.project import Store
from twice.errors import TwiceError
from twice.writing import make_folder, write

NAME: Final = "detlogs.index"
LIST_NAME: Final = "index.json"
"""A whole index in one file, as it is handed over."""
_WHOLE: Final = "whole.json"
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
    """Read the whole index; made anew from the sidecars where there is none, or it is damaged."""
    found = [_part(store, each) for each in range(256)] if _is_whole(store) else [None]
    if any(each is None for each in found):
        return made(store)
    return [entry for each in found for entry in each or ()]


def about(store: Store, payload: str) -> list[Entry]:
    """Read the entries of one payload; what it costs does not grow with the store's index."""
    found = _part(store, _number(payload)) if _is_whole(store) else None
    return [each for each in (made(store) if found is None else found) if each.payload == payload]


def prepare(store: Store) -> None:
    """Make the folder of the index, before anything is written that it has to name.

    Raises:
        OutputUnwritable: E-OUTPUT-002: it cannot be made.
    """
    make_folder(store.root / NAME)


def put(store: Store, entry: Entry, before: str | None = None) -> None:
    """Put one log into the index, whose sidecar is written already.

    Args:
        store: the hot store.
        entry: of the log.
        before: the payload that the log was about until now, where that was another one.
    """
    numbers = sorted({_number(entry.payload), _number(before or entry.payload)})
    parts = {each: _part(store, each) for each in numbers} if _is_whole(store) else {}
    if not parts or None in parts.values():
        keep(store, made(store))
        return
    for number, found in parts.items():
        kept = [each for each in found or () if each.log != entry.log]
        _write(store, number, [*kept, entry] if number == _number(entry.payload) else kept)


def keep(store: Store, entries: Iterable[Entry]) -> None:
    """Write the whole index."""
    folder = make_folder(store.root / NAME)
    (folder / _WHOLE).unlink(missing_ok=True)
    parts: dict[int, list[Entry]] = {}
    for each in entries:
        parts.setdefault(_number(each.payload), []).append(each)
    for number in range(256):
        _write(store, number, parts.get(number, []))
    write(folder / _WHOLE, text_of([]))


def text_of(entries: Iterable[Entry]) -> bytes:
    """Give entries as text, in one order."""
    ordered = sorted(entries, key=lambda each: (each.payload, each.log_id, each.log))
    document: Mapping[str, Any] = {"format": FORMAT, "logs": [asdict(each) for each in ordered]}
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def _number(payload: str) -> int:
    """Give the part of the index in which a payload is: the first byte of its digest."""
    digits = payload.rpartition(":")[2][:2]
    return int(digits, 16) if len(digits) == 2 and set(digits) <= set("0123456789abcdef") else 0


def _is_whole(store: Store) -> bool:
    """Whether the index was written to its end."""
    return (store.root / NAME / _WHOLE).is_file()


def _part(store: Store, number: int) -> list[Entry] | None:
    """Read one part; a file that is not there is an empty one, and None stands for a damaged one."""
    path = store.root / NAME / f"{number:02x}.json"
    try:
        said = parse(path.read_bytes(), str(path))
        entries = [Entry(**each) for each in said["logs"]]
    except FileNotFoundError:
        return []
    except (OSError, TwiceError, KeyError, TypeError):
        return None
    kinds = {name: int if name == "revision" else str for name in Entry.__dataclass_fields__}
    is_good = said.get("format") == FORMAT and all(
        isinstance(getattr(entry, name), kind) for entry in entries for name, kind in kinds.items()
    )
    return entries if is_good else None


def _write(store: Store, number: int, entries: list[Entry]) -> None:
    path = store.root / NAME / f"{number:02x}.json"
    if entries:
        write(path, text_of(entries))
    else:
        path.unlink(missing_ok=True)
