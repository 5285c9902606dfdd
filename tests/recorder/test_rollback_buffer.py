"""Snapshots in memory stay within their bound, and keeping one more costs the same however many there are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from twice.errors import RollbackRefused
from twice.foundation.digests import Algorithm
from twice.recorder import snapshots
from twice.recorder.snapshots import Captured, Cursors, RollbackBuffer

EMPTY = Captured(0, {}, Cursors({}, 0, b"", 0, 0, 0, bytes(16)), {}, Algorithm.BLAKE3)


class CountedInt(int):
    """A number that counts how often it is added."""

    additions = 0

    def __add__(self, other: int) -> CountedInt:
        CountedInt.additions += 1
        return CountedInt(int(self) + int(other))

    __radd__ = __add__


def kept(*ticks: int, size: int = 1) -> tuple[RollbackBuffer, list[Captured]]:
    buffer = RollbackBuffer()
    captured = [replace(EMPTY, tick=tick, subsystems={"x": [bytes(size)]}) for tick in ticks]
    for each in captured:
        buffer.keep(each)
    return buffer, captured


def test_each_snapshot_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Captured, "size", lambda _: CountedInt(1))

    def additions(count: int) -> int:
        CountedInt.additions = 0
        kept(*range(count))
        return CountedInt.additions

    assert additions(400) <= 2 * additions(200)


def test_the_earliest_go_when_all_together_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "_KEPT_BYTES_MAX", 25)

    buffer, _ = kept(*range(9), size=10)

    assert [tick for tick in range(9) if tick in buffer] == [7, 8]


def test_the_latest_is_kept_however_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "_KEPT_BYTES_MAX", 25)

    buffer, captured = kept(0, 1, size=100)

    assert (0 in buffer, 1 in buffer) == (False, True)
    assert buffer.rewind(1, now=2) == captured[1]


def test_what_a_rollback_drops_is_counted_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "_KEPT_BYTES_MAX", 45)
    buffer, captured = kept(*range(4), size=10)

    buffer.rewind(1, now=4)
    for each in captured[1:]:  # the tick that was gone back to is kept again, and the later ones
        buffer.keep(each)

    assert all(tick in buffer for tick in range(4))
    with pytest.raises(RollbackRefused, match="Ticks kept: 0, 1, 2, 3"):
        buffer.rewind(9, now=4)


def test_what_is_kept_does_not_follow_the_program() -> None:
    state = bytearray(b"before")
    parts: Any = [memoryview(state)]
    buffer = RollbackBuffer()

    buffer.keep(replace(EMPTY, subsystems={"x": parts}))
    state[:] = b"after!"

    assert buffer.rewind(0, now=1).subsystems == {"x": [b"before"]}
