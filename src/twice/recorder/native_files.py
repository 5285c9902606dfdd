"""Files of code other than Python, as a record holds them.

Journal frames of the kind ``native-files`` hold histories of files, up to a few hundred each, with paths as
the record names them; contents from before a change stand in ``content`` frames, by digest. The ending says
by which tier all this was learned, how much it is, and what could not be told.

Not for: what Python opened in which order; that stands among the reads.

Invariant: a content that holds a secret is not written down.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twice.foundation.dataclass import dataclass
from twice.foundation.encoding import decode, encode
from twice.recorder.effects.files.carried_contents import CONTENT, pieces
from twice.recorder.kernel.content_store import ContentStore
from twice.recorder.kernel.file_state import FileHistory, closing_descriptor
from twice.recorder.program import PathNames
from twice.recorder.record_form import reading
from twice.recorder.user_code import list_user_modules

if TYPE_CHECKING:
    from twice.recorder.kernel.confinement import FilesTier, NativeFiles
    from twice.recorder.session import Session

_getpid = os.getpid  # the real one: bound before anything is patched
NATIVE_FILES = "native-files"
_HISTORIES_PER_FRAME = 200
_NAMED_MAX = 5
_PROCESS_MAX = 1 << 22  # no system numbers processes beyond
_IS_REDACTED = "its content holds a secret, and is not in the record"


@dataclass(frozen=True)
class RecordedFiles:
    """The part of a record about files below Python.

    ``tier`` is how it was learned, ``none`` in a record that knows nothing. ``problems`` are facts that could not be
    learned, with how often. ``histories`` have the paths of here, ``process`` is the program's id, if known.
    ``changed`` are some of the files that a listing shows to be changed by other code than Python.
    """

    tier: FilesTier = "none"
    problems: Sequence[tuple[str, int]] = ()
    histories: Sequence[FileHistory] = ()
    process: int | None = None
    changed: Sequence[str] = ()


def write_native_files(session: Session, found: NativeFiles) -> dict[str, object]:
    """Write a keeper's findings into the session's record; return their part of the ending."""
    changed = _name_unrecorded(session, found)
    placing = PathNames(session.setup.program)
    # The identity and the ending hold digests of these.
    sources = {os.fspath(path) for path in list_user_modules()}
    keeps_reads = session.setup.files != "none"
    written = [
        _write_content(session, found.folder, history)
        for history in found.histories
        if history.was_changed or (keeps_reads and history.path not in sources)
    ]
    plain = [
        replace(history, path=placing.to_recorded(history.path)).to_plain() for history in written
    ]
    for at in range(0, len(plain), _HISTORIES_PER_FRAME):
        session.frame(NATIVE_FILES, encode(tuple(plain[at : at + _HISTORIES_PER_FRAME])))
    return {
        "tier": found.tier,
        "refused": found.refused,
        "read": sum(history.was_read for history in written),
        "written": sum(history.has_effect for history in written),
        "changed": [placing.to_recorded(path) for path in changed],
        "problems": [list(problem) for problem in found.problems],
        "process": _getpid(),
    }


def _name_unrecorded(session: Session, found: NativeFiles) -> list[str]:
    """Name files that native code wrote and addresses that it connected to; return some of the files."""
    inventory, parts = session.wiring.inventory, session.wiring.layer.parts
    # A listing shows changes of Python's functions as well.
    native = [path for path in found.changed if not any(part.has_written(path) for part in parts)]
    if native:
        inventory.count_unsupported(
            "files.native",
            "",
            f"{_name_some(native)}: written by code other than Python, which nothing here records or keeps away",
            "record on a Linux that gives a listener for system calls",
        )
    if found.connections and not inventory.has("network.descriptor"):
        shown = _name_some([words for words, _ in found.connections])
        inventory.count_unsupported(
            "network.native",
            "",
            f"{shown}: connected by code other than Python, and what came in is not recorded",
            "put the call that connects into a function and declare it: @twice.effect",
        )
    return native[:_NAMED_MAX]


def _name_some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
    return f"{', '.join(names[:_NAMED_MAX])}{more}"


def read_native_files(
    ending: Mapping[str, Any] | None, frames: Iterable[bytes], names: PathNames
) -> RecordedFiles:
    """Read back the part of the ending and the payloads of frames that ``write_native_files`` wrote.

    E-RECORD-002, for histories that no recording writes.
    """

    def to_local(name: str) -> str:
        return os.path.normpath(names.to_local(name))  # a stranger may have written it

    histories: dict[str, FileHistory] = {}
    with reading("histories of files", "The record"):
        stated = (ending or {}).get("native_files") or {}
        for payload in frames:
            rows: Any = decode(payload)
            for fields in rows:
                history = FileHistory.from_plain(fields)
                path = to_local(history.path)
                histories[path] = _merge(histories.get(path), replace(history, path=path))
        process = stated.get("process")
        if process is not None and not 1 <= process <= _PROCESS_MAX:
            raise ValueError(f"a process number {process}")
        return RecordedFiles(
            tier=stated.get("tier", "none"),
            problems=[(str(text), int(count)) for text, count in stated.get("problems", ())],
            histories=list(histories.values()),
            process=process,
            changed=[to_local(str(path)) for path in stated.get("changed", ())],
        )


def _merge(one: FileHistory | None, other: FileHistory) -> FileHistory:
    """Return one history for two paths that were different and are the same where the program moved to."""
    if one is None:
        return other
    if one.before.names is None or other.before.names is None:
        return one if one.was_changed else other
    names = tuple(sorted({*one.before.names, *other.before.names}))
    return replace(one, before=replace(one.before, names=names))


def _write_content(session: Session, folder: str, history: FileHistory) -> FileHistory:
    """Write the content that a history's file had before; without it, say so."""
    if not history.is_kept:
        return history
    path = Path(ContentStore(folder).path(history.before.digest))
    redaction = session.wiring.layer.redaction
    with closing_descriptor(os.open(path, os.O_RDONLY | os.O_CLOEXEC)) as descriptor:
        for payload in pieces(descriptor, history.before.digest, history.before.size):
            if redaction.data(payload, CONTENT) != payload:
                return replace(history, is_kept=False, problem=history.problem or _IS_REDACTED)
            session.frame(CONTENT, payload)
    return history
