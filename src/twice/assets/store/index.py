"""Which log is about which payload, for a whole store, and which revisions were sealed: one SQLite file.

Its entries are made of the sidecars where there is no such file, or a damaged one. A seal holds the file's write lock
from the search for a second log to the written sidecar, so that of two seals at once the later sees the earlier.

Invariant: an entry names the text of a log as it was sealed; nothing but a seal writes one while the file is whole.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Final

from twice.assets.log.io import examine_bytes, log_digest, read_bytes
from twice.assets.log.models import SUFFIX, DeterminismLog
from twice.assets.store.store import Store
from twice.errors import OutputUnwritable, TwiceError

NAME: Final = "detlogs.sqlite"
_VERSION: Final = 2
"""Of the tables; a file of another version is made anew."""
_WAIT_S: Final = 60.0


@dataclass(frozen=True, slots=True, order=True)
class IndexEntry:
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


_COLUMNS: Final = ", ".join(each.name for each in fields(IndexEntry))
_TABLES: Final = (
    "DROP TABLE IF EXISTS logs",
    "DROP TABLE IF EXISTS revisions",
    f"CREATE TABLE logs ({_COLUMNS}, PRIMARY KEY (log))",
    "CREATE INDEX by_payload ON logs (payload)",
    "CREATE TABLE revisions (log_id, revision, log_digest, PRIMARY KEY (log_id, revision))",
    f"PRAGMA user_version = {_VERSION}",
)


class StoreIndex:
    """The index of a store inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def list_entries(self, payload: str | None = None) -> list[IndexEntry]:
        """List the entries, or those of one payload, in one order."""
        which, values = ("", ()) if payload is None else ("WHERE payload = ?", (payload,))
        said = f"SELECT {_COLUMNS} FROM logs {which}"  # noqa: S608  (no text of a user)
        return sorted(IndexEntry(*row) for row in self._connection.execute(said, values))

    def list_revisions(self) -> dict[str, dict[int, str]]:
        """Return the digest of each revision that was sealed, by log id and number."""
        found: dict[str, dict[int, str]] = {}
        for log_id, number, digest in self._connection.execute("SELECT * FROM revisions"):
            found.setdefault(log_id, {})[number] = digest
        return found

    def put(self, entry: IndexEntry) -> None:
        """Put a log in the place of the one that its sidecar held before."""
        if entry in self.list_entries(entry.payload):
            return
        sealed = (entry.log_id, entry.revision, entry.log_digest)
        insert = "INSERT OR REPLACE INTO"
        self._connection.execute(f"{insert} logs VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(entry))
        self._connection.execute(f"{insert} revisions VALUES (?, ?, ?)", sealed)

    def commit(self) -> None:
        """Put what was put onto the disk; the lock stays until the block ends."""
        self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._connection.execute("COMMIT")


@contextmanager
def lock_index(store: Store) -> Iterator[StoreIndex]:
    """Hold the write lock of a store's index until the block ends; what is put and not committed is not there.

    Raises:
        OutputUnwritable: E-OUTPUT-002, it cannot be written, or another seal holds it for a minute.
    """
    path = store.root / NAME
    try:
        with closing(_open_locked(store, path)) as connection:
            yield StoreIndex(connection)
    except sqlite3.Error as error:
        raise OutputUnwritable(
            f"The store's index {path} cannot be written: {error}.",
            "Expected a store that can be written, with room on its disk.",
            "Make room, or wait for the other seal to end; no log was changed.",
        ) from error


def _open_locked(store: Store, path: Path) -> sqlite3.Connection:
    """Open the index for writing; one that is damaged or not there is made of the sidecars."""
    connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            for statement in _TABLES:
                connection.execute(statement)
            for entry in collect_entries(store):
                StoreIndex(connection).put(entry)
    except sqlite3.DatabaseError as error:
        connection.close()
        # Locked, read-only or full: the file itself may be whole.
        if not isinstance(error, sqlite3.OperationalError):
            with suppress(OSError):
                path.unlink()
                return _open_locked(store, path)
        raise
    return connection


def read_index(store: Store) -> tuple[list[IndexEntry], dict[str, dict[int, str]]] | None:
    """Read entries and sealed revisions; None where there is no index, or a damaged one. Nothing is written."""
    address = f"{(store.root / NAME).absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, timeout=_WAIT_S, uri=True)) as connection:
            if connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
                return None
            return StoreIndex(connection).list_entries(), StoreIndex(connection).list_revisions()
    except sqlite3.Error:
        return None


def payload_key(log: DeterminismLog) -> str | None:
    """Return method and digest of a log's payload as one text; None where it does not say them."""
    payload = None if log.asset is None else log.asset.payload
    if payload is None or payload.method is None or payload.digest is None:
        return None
    return f"{payload.method} {payload.digest}"


def make_entry(store: Store, sidecar: Path, log: DeterminismLog) -> IndexEntry | None:
    """Make the entry of a log; None for one that does not say what it is about."""
    key, asset = payload_key(log), log.asset
    if key is None or asset is None or asset.file is None or log.log_id is None:
        return None
    return IndexEntry(
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


def collect_entries(store: Store) -> list[IndexEntry]:
    """Make the entries of a store from its sidecars; what cannot be read is left to the gate."""
    found = []
    for path in sidecars(store.root):
        with suppress(TwiceError):
            entry = make_entry(store, path, examine_bytes(read_bytes(path), str(path))[1].log)
            found += [entry] if entry is not None else []
    return found
