"""What a store keeps of how a log came to be: its earlier revisions, its digest in the index, run records.

Invariant: nothing outside of the store is read, whatever a log names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from twice.assets.log.io import canonical
from twice.assets.log.models import DeterminismLog, EvidenceLevel
from twice.assets.store.store import Store
from twice.errors import TwiceError
from twice.foundation.digests import Algorithm, digest_bytes


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


def earlier(revisions: Mapping[tuple[str, int], str], log: DeterminismLog) -> str:
    """Say what is wrong with the revision that a log names, by those that were sealed; "" where nothing is."""
    before = (log.revision or 1) - 1
    sealed = revisions.get((log.log_id or "", before))
    if before < 1 or log.supersedes is None or sealed in {None, log.supersedes}:
        return ""
    return f"revision {before + 1} names another text than was sealed as revision {before}"


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
