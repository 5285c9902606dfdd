"""A log that was filled further, written in its place.

In a hot store that is a revision: the text before it moves to ``superseded/`` and the index follows, as
sealing does it. A draft, or a log outside of a store, is a file.

Invariant: what is written over a sealed log names it by digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twice.assets.log.io import canonical, canonical_document, examine, examine_bytes, read_bytes
from twice.assets.log.models import SUFFIX
from twice.assets.store import index
from twice.assets.store.project import find_store
from twice.assets.store.sealing import Sealing, _supersede
from twice.writing import write


def keep_revision(path: Path, document: Mapping[str, Any]) -> None:
    """Write a log over the one that it was made from.

    Args:
        path: of the log.
        document: the next revision, or a draft.

    Raises:
        StoreRefused: E-ASSET-STORE-001: the store lies inside a public tree.
        OutputExists: E-OUTPUT-001: the log in the store is not the one before.
        LogRefused: E-ASSET-LOG-002: a text in it is no Unicode.
    """
    store = find_store(path.parent) if path.name.endswith(SUFFIX) else None
    if store is None or "revision" not in document:
        write(path, canonical_document(document))
        return
    store.refuse_public()
    log = examine(document).log
    data = canonical(log)
    earlier = examine_bytes(read_bytes(path), str(path))[1].log
    index.prepare(store)
    _supersede(store, path, earlier, log, Sealing(created="", nonce=""))
    write(path, data)
    entry = index.entry_of(store, path, log)
    if entry is not None:
        index.put(store, entry, before=index.payload_key(earlier))
