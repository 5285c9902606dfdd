"""What a store keeps of how a log came to be: its earlier revisions, its digest in the index, run records.

Invariant: nothing outside of the store is read, whatever a log names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from twice.assets.log.io import canonical, examine_bytes, read_bytes
from twice.assets.log.models import DeterminismLog, EvidenceLevel
from twice.assets.store import index
from twice.assets.store.project import Store
from twice.assets.store.sealing import SUPERSEDED
from twice.errors import TwiceError
from twice.foundation.digests import Algorithm, digest_bytes

_REVISIONS_MAX = 10_000


def indexed(store: Store) -> dict[str, str]:
    """Give the digests that the store's index has, by log id; none where there is no index."""
    folder = store.root / index.NAME
    return {each.log_id: each.log_digest for each in index.read(store)} if folder.is_dir() else {}


def digest_of(data: bytes, log: DeterminismLog, wanted: set[str]) -> str:
    """Give the digest of a log's canonical text.

    Args:
        data: the bytes of its sidecar, which are that text unless somebody laid them out anew.
        log: read from them.
        wanted: digests that are looked for; where the bytes have one of them, nothing is written again.
    """
    plain = str(digest_bytes(data.rstrip(b"\n") + b"\n", Algorithm.SHA256))
    if plain in wanted:
        return plain
    try:
        return str(digest_bytes(canonical(log), Algorithm.SHA256))
    except TwiceError:
        return ""


def earlier(store: Store, log: DeterminismLog) -> tuple[str, str]:
    """Follow a log's revisions back to the first.

    Returns:
        what is broken, and what is not there; "" each where nothing is.
    """
    named, revision = log.supersedes, log.revision or 1
    for _ in range(_REVISIONS_MAX):
        if revision <= 1:
            return "", ""
        if named is None:
            return f"revision {revision} does not say which one it supersedes", ""
        name = f"{log.log_id}.r{revision - 1}.{named[7:15]}.json"
        path = store.root / SUPERSEDED / name
        if not path.is_file():
            return "", f"{SUPERSEDED}/{name}"
        try:
            data = read_bytes(path)
            before = examine_bytes(data, str(path))[1].log
        except TwiceError:
            return f"{SUPERSEDED}/{name} cannot be read", ""
        if digest_of(data, before, {named}) != named:
            return f"{SUPERSEDED}/{name} is not the text that revision {revision} names", ""
        if before.log_id != log.log_id or (before.revision or 1) != revision - 1:
            return f"{SUPERSEDED}/{name} is no revision {revision - 1} of this log", ""
        named, revision = before.supersedes, revision - 1
    return f"it has more than {_REVISIONS_MAX} revisions", ""


def records(
    store: Store, log: DeterminismLog, told: Callable[[Path], str | None]
) -> Iterator[tuple[str, str]]:
    """Give path and sha256 of each run record that evidence names, where it is in the store.

    Args:
        store: the hot store.
        log: with its evidence.
        told: hashes a file; None where it is not there.
    """
    for each in (log.evidence or {}).values():
        if each.level is not EvidenceLevel.RECORDED or each.record is None or each.sha256 is None:
            continue
        try:
            path = (store.root / each.record).resolve()
            inside = store.root in path.parents
        except (OSError, ValueError):
            continue
        digest = told(path) if inside else None
        if digest is not None:
            yield each.record, digest
