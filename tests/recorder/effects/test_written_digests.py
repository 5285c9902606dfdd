"""Where a keeper digests what a run leaves, Python reads a written file once, at its close."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from twice.recorder.effects.actors import enter, leave
from twice.recorder.effects.files import contents, writes
from twice.recorder.effects.files.carried_contents import digest_of
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.files.places import Caller
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.sources import LiveSource
from twice.recorder.kernel import confinement
from twice.recorder.program import PathNames, Program

WRITE = os.O_WRONLY | os.O_CREAT
Session = tuple[Files, list[int], list[bytes]]


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A recording's files, the starts of all digests that were made, and what was written down."""
    starts: list[int] = []
    written: list[bytes] = []

    def count(descriptor: int, algorithm: object, start: int = 0) -> tuple[str, int]:
        starts.append(start)
        return digest_of(descriptor, algorithm, start)  # type: ignore[arg-type]

    for module in (contents, writes):
        monkeypatch.setattr(module, "digest_of", count)
    layer = EffectLayer(LiveSource(), lambda _kind, payload, _actor: written.append(payload))
    token = enter(layer.main)
    yield Files(layer, PathNames(Program("inline", "here"))), starts, written
    leave(token)


def write_file(files: Files, place: Path, text: bytes, flags: int) -> None:
    descriptor = files.writes.to_write(str(place), place, WRITE | flags, 0o600, Caller.PROGRAM)
    os.write(descriptor, text)
    files.writes.finish(descriptor)
    os.close(descriptor)


@pytest.mark.parametrize("is_watched", [True, False])
def test_a_file_is_digested_at_its_close_and_not_again(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_watched: bool
) -> None:
    files, starts, written = session
    around = confinement.Confinement("supervisor", is_watching=is_watched)
    monkeypatch.setattr(confinement, "_current", around)
    (tmp_path / "log").write_bytes(b"begun")
    write_file(files, tmp_path / "new", b"one", os.O_TRUNC)
    write_file(files, tmp_path / "log", b"two", os.O_APPEND)
    closed = list(starts)
    files.contents.to_read(str(tmp_path / "new"), "new", Caller.PROGRAM)
    files.writes.after_change("rename", (str(tmp_path / "new"), str(tmp_path / "moved")))
    (tmp_path / "new").rename(tmp_path / "moved")
    files.finish()
    files.layer.flush()

    assert closed == [0, 5]
    assert starts[2:] == ([] if is_watched else [0, 5, 0])
    assert len([payload for payload in written if b"moved" in payload]) == 1
