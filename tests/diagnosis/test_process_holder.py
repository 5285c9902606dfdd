"""What a process is held by, where threads of the program run beside it."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

from twice.diagnosis import process_holder, window


def test_a_thread_that_ends_while_they_are_counted_counts_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The count raised, in a thread of the program: this thread ended, and who waited for it waited for good."""
    alone = process_holder._count_threads()
    gone = str(1 << 30)  # more than the kernel gives out
    listed = process_holder._listdir
    monkeypatch.setattr(process_holder, "_listdir", lambda path: [*listed(path), gone])
    assert process_holder._count_threads() == alone


def test_an_error_of_the_tracer_ends_the_process_and_no_thread_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without an answer the caller executes from the top."""

    def leave(code: int) -> NoReturn:
        raise SystemExit(code)

    monkeypatch.setattr(os, "_exit", leave)
    with pytest.raises(SystemExit), window._no_error_in_the_program():
        raise FileNotFoundError
