"""What a recording knows of files below Python, as its record holds it.

Journal frames of the kind ``native-files`` hold histories of files, up to a few hundred each, with paths as
the record names them; contents from before a change stand in ``content`` frames, by digest. The ending says
by which tier all this was learned, how much it is, and what could not be told.

Not for: what Python opened in which order; that stands among the reads.

Invariant: a content that holds a secret is not written down.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twice.foundation.dataclass import dataclass
from twice.foundation.encoding import decode, encode
from twice.recorder.effects.files.kept import CONTENT, pieces
from twice.recorder.kernel.file_history import FileHistory
from twice.recorder.kernel.preimages import PreimageStore
from twice.recorder.placing import Names, Placing
from twice.recorder.program import Program, user_modules
from twice.recorder.record_form import reading

if TYPE_CHECKING:
    from twice.recorder.kernel.confinement import FilesTier, NativeFiles
    from twice.recorder.session import Session

_getpid = os.getpid  # the real one: bound before anything is patched
NATIVE_FILES = "native-files"
_HISTORIES_PER_FRAME = 200
_NAMED_MAX = 5
_IS_REDACTED = "its content holds a secret, and is not in the record"


@dataclass(frozen=True)
class RecordedFiles:
    """What a record holds of files below Python.

    Attributes:
        tier: how it was learned; ``none`` in a record that knows nothing.
        refused: why by no higher tier.
        problems: what could not be told, with how often.
        histories: every file that was read or changed, at the paths that it has here.
        process: the process id that the program had; None where it is not known.
        changed: some of the files that a listing shows to be changed by other code than Python.
    """

    tier: FilesTier = "none"
    refused: str = ""
    problems: Sequence[tuple[str, int]] = ()
    histories: Sequence[FileHistory] = ()
    process: int | None = None
    changed: Sequence[str] = ()


def write_native_files(session: Session, found: NativeFiles) -> dict[str, object]:
    """Write a keeper's findings into the session's record; return their part of the ending."""
    changed = _name_native_writes(session, found.changed)
    _name_native_connections(session, found.connections)
    placing = Placing(session.setup.program)
    sources = {os.fspath(path) for path in user_modules()}
    histories = [
        history
        for history in found.histories
        # The identity and the ending hold digests of these.
        if history.was_changed or history.path not in sources
    ]
    if session.setup.files == "none":
        histories = [history for history in histories if history.was_changed]
    written = [_with_content(session, found.folder, history) for history in histories]
    plain = [replace(history, path=placing.named(history.path)).to_plain() for history in written]
    for at in range(0, len(plain), _HISTORIES_PER_FRAME):
        session.frame(NATIVE_FILES, encode(tuple(plain[at : at + _HISTORIES_PER_FRAME])))
    return {
        "tier": found.tier,
        "refused": found.refused,
        "read": sum(history.was_read for history in written),
        "written": sum(history.has_effect for history in written),
        "changed": [placing.named(path) for path in changed],
        "problems": [list(problem) for problem in found.problems],
        "process": _getpid(),
    }


def _name_native_writes(session: Session, changed: Sequence[str]) -> list[str]:
    """Name files that a listing shows to be changed and that no Python function wrote; return some of them."""
    layer = session.wiring.layer
    native = [path for path in changed if not any(part.has_written(path) for part in layer.parts)]
    if not native:
        return []
    shown = ", ".join(native[:_NAMED_MAX])
    more = f" and {len(native) - _NAMED_MAX} more" if len(native) > _NAMED_MAX else ""
    session.wiring.inventory.count_unsupported(
        "files.native",
        "",
        f"{shown}{more}: written by code other than Python, which nothing here records or keeps away",
        "record on a Linux that gives a listener for system calls",
    )
    return native[:_NAMED_MAX]


def _name_native_connections(session: Session, connections: Sequence[tuple[str, int]]) -> None:
    """Name addresses that code connected to by itself, unless their sockets were named already."""
    inventory = session.wiring.inventory
    if not connections or inventory.has("network.descriptor"):
        return
    shown = ", ".join(words for words, _ in connections[:_NAMED_MAX])
    more = f" and {len(connections) - _NAMED_MAX} more" if len(connections) > _NAMED_MAX else ""
    inventory.count_unsupported(
        "network.native",
        "",
        f"{shown}{more}: connected by code other than Python, and what came in is not recorded",
        "put the call that connects into a function and declare it: @twice.effect",
    )


def read_native_files(ending: Any, frames: Iterable[bytes], names: Names) -> RecordedFiles:
    """Read back the documents of ``write_native_files``.

    Args:
        ending: of the record, or None where it is torn.
        frames: payloads of its ``native-files`` frames.
        names: tells the paths that recorded names mean here.

    Raises:
        RecordForeign: E-RECORD-002, for histories that no recording writes.
    """
    with reading("histories of files", "The record"):
        return _read_native_files(ending, frames, names)


def _read_native_files(ending: Any, frames: Iterable[bytes], names: Names) -> RecordedFiles:
    stated = (ending or {}).get("native_files") or {}
    histories: dict[str, FileHistory] = {}
    for payload in frames:
        rows: Any = decode(payload)
        for fields in rows:
            history = FileHistory.from_plain(fields)
            found = os.path.normpath(names.found(history.path))  # a stranger may have written it
            history = replace(history, path=found)
            histories[found] = _merge(histories.get(found), history)
    return RecordedFiles(
        stated.get("tier", "none"),
        str(stated.get("refused", "")),
        [(str(text), int(count)) for text, count in stated.get("problems", ())],
        list(histories.values()),
        _require_number(stated.get("process")),
        [os.path.normpath(names.found(str(path))) for path in stated.get("changed", ())],
    )


def _require_number(process: int | None) -> int | None:
    """Return the number if a process can have it; no system goes beyond 2**22.

    Raises:
        ValueError: it is none.
    """
    if process is not None and not 1 <= process <= 1 << 22:
        raise ValueError(f"a process number {process}")
    return process


def _merge(one: FileHistory | None, other: FileHistory) -> FileHistory:
    """Return one history for two paths that were different and are the same where the program moved to."""
    if one is None:
        return other
    if one.before.names is None or other.before.names is None:
        return one if one.was_changed else other
    names = tuple(sorted({*one.before.names, *other.before.names}))
    return replace(one, before=replace(one.before, names=names))


def roots_of(program: Program) -> list[str]:
    """Return the folders of a program: files in them are its own, wherever they are."""
    root = program.folder().resolve()
    is_file = program.kind in {"function", "script"}
    beside = (root / program.target).resolve().parent if is_file else root
    return sorted({str(root), str(beside)})


def _with_content(session: Session, folder: str, history: FileHistory) -> FileHistory:
    """Write the content that a history's file had before; without it, say so."""
    if not history.is_kept:
        return history
    path = Path(PreimageStore(folder).path(history.before.digest))
    redaction = session.wiring.layer.redaction
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for payload in pieces(descriptor, history.before.digest, history.before.size):
            if redaction.data(payload, CONTENT) != payload:
                return replace(history, is_kept=False, problem=history.problem or _IS_REDACTED)
            session.frame(CONTENT, payload)
    finally:
        os.close(descriptor)
    return history
