"""Calls at the same time: their order, what they raise, and interrupts."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from functools import partial

import pytest

from twice.worker.concurrency import run_concurrently


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)


@pytest.fixture
def ended() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_results_stand_in_the_order_of_the_calls(ended: threading.Event) -> None:
    assert run_concurrently([ended.wait, lambda: ended.set() or 2, lambda: 3]) == [True, 2, 3]


def test_the_first_call_that_raises_raises_when_all_have_ended(ended: threading.Event) -> None:
    with pytest.raises(ZeroDivisionError):
        run_concurrently([partial(divmod, 1, 0), ended.set])
    assert ended.is_set()


def called(thread: int) -> set[str]:
    """Names of the functions that a thread is in."""
    stack = traceback.walk_stack(sys._current_frames()[thread])
    return {frame.f_code.co_name for frame, _ in stack}


def test_an_interrupt_that_another_thread_was_given_ends_the_wait(ended: threading.Event) -> None:
    main = threading.get_ident()

    def interrupted() -> None:
        while "submit" in (names := called(main)) or "wait" not in names:
            pass  # until it waits
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        ended.wait()

    with pytest.raises(KeyboardInterrupt):
        run_concurrently([interrupted, ended.wait])
