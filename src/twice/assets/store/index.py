"""Which log is about which payload, for a whole store, and which revisions were sealed: one SQLite file.

Where there is no such file, its entries are made of the sidecars, and its revisions are lost: nobody knows which texts
were sealed. A damaged file is refused, because it may be mended. A seal holds the file's write lock from the search for
a second log to the written sidecar, so that of two seals at once the later sees the earlier.

Invariant: a revision is in it if a seal wrote it, and nothing else writes one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Final

from twice.assets.errors import StoreRefused
from twice.assets.log.io import examine_bytes, log_digest, read_bytes
from twice.assets.log.models import SUFFIX, DeterminismLog
from twice.assets.store.store import Store
from twice.errors import OutputUnwritable, TwiceError

NAME: Final = "detlogs.sqlite"
_VERSION: Final = 2
"""Of the tables; a file of another version is refused."""
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
    f"CREATE TABLE logs ({_COLUMNS}, PRIMARY KEY (log))",
    "CREATE INDEX by_payload ON logs (payload)",
    "CREATE TABLE revisions (log_id, revision, log_digest, PRIMARY KEY (log_id, revision))",
    f"PRAGMA user_version = {_VERSION}",
)
_DAMAGED: Final = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT})
_PUT_LOG: Final = "INSERT OR REPLACE INTO logs VALUES (?, ?, ?, ?, ?, ?, ?)"


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

    def make_tables(self, entries: Iterable[IndexEntry]) -> None:
        """Make the tables of an empty file, with entries that nobody is known to have sealed."""
        for statement in _TABLES:
            self._connection.execute(statement)
        self._connection.executemany(_PUT_LOG, map(astuple, entries))

    def put(self, entry: IndexEntry) -> None:
        """Put a sealed log in the place of the one that its sidecar held before."""
        key = (entry.log_id, entry.revision)
        asked = "SELECT log_digest FROM revisions WHERE (log_id, revision) = (?, ?)"
        known = self._connection.execute(asked, key).fetchone()
        if known == (entry.log_digest,) and entry in self.list_entries(entry.payload):
            return
        self._connection.execute(_PUT_LOG, astuple(entry))
        insert = "INSERT OR REPLACE INTO revisions VALUES (?, ?, ?)"
        self._connection.execute(insert, (*key, entry.log_digest))

    def commit(self) -> None:
        """Put what was put onto the disk; the lock stays until the block ends."""
        self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._connection.execute("COMMIT")


@contextmanager
def lock_index(store: Store) -> Iterator[StoreIndex]:
    """Hold the write lock of a store's index until the block ends; what is put and not committed is not there.

    Raises:
        OutputUnwritable: E-OUTPUT-002, it cannot be written, or another seal holds it for a minute.
        StoreRefused: E-ASSET-STORE-001, it is damaged, or of another version.
    """
    path = store.root / NAME
    try:
        with closing(sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            index, version = StoreIndex(connection), _read_version(connection)
            if version == 0:
                index.make_tables(collect_entries(store))
            elif version != _VERSION:
                raise sqlite3.DatabaseError(f"its tables are of version {version}")
            yield index
    except sqlite3.Error as error:
        # The other codes are those of disks, locks and rights; an error without a code is raised above.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if path.is_dir() or code in _DAMAGED:
            raise StoreRefused(
                f"The store's index {path} is damaged: {error}.",
                "Expected the SQLite file that seals write.",
                "Restore it; or remove it, and seal each log again: twice asset seal ASSET --log LOG",
            ) from error
        raise OutputUnwritable(
            f"The store's index {path} cannot be written: {error}.",
            "Expected a store that can be written, with room on its disk.",
            "Make room, or wait for the other seal to end; no log was changed.",
        ) from error


def _read_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def read_revisions(store: Store) -> dict[str, dict[int, str]]:
    """Read the sealed revisions; none where there is no index, or a damaged one. Nothing is written."""
    address = f"{(store.root / NAME).absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, timeout=_WAIT_S, uri=True)) as connection:
            is_known = _read_version(connection) == _VERSION
            return StoreIndex(connection).list_revisions() if is_known else {}
    except sqlite3.Error:
        return {}


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
