"""Marks of threads are kept apart, however many threads there are, and one look tells whether there is any."""

from __future__ import annotations

import os
import threading

from twice.recorder.kernel.thread_marks import ThreadMarks

MANY = 1_100


def test_every_one_of_many_threads_keeps_its_mark() -> None:
    marks, threads = ThreadMarks(), []
    everyone, may_leave = threading.Barrier(MANY + 1), threading.Event()
    lost: list[int] = []

    def run() -> None:
        with marks.inside_effect():
            everyone.wait()
            may_leave.wait()
            if not marks.is_in_effect(threading.get_native_id()):
                lost.append(threading.get_native_id())

    before = threading.stack_size(256 << 10)
    try:
        for _ in range(MANY):
            threads.append(threading.Thread(target=run))
            threads[-1].start()
        everyone.wait()
        kept = sum(marks.is_in_effect(thread.native_id or 0) for thread in threads)
        may_leave.set()
    finally:
        threading.stack_size(before)
        for thread in threads:
            thread.join()

    assert (kept, lost) == (MANY, [])
    assert not marks.is_any_in_effect()


def test_a_later_thread_does_not_clear_the_mark_of_an_earlier_one() -> None:
    marks = ThreadMarks()
    own = threading.get_native_id()

    def come_and_go() -> None:
        with marks.inside_effect():
            pass

    with marks.inside_effect():
        for _ in range(MANY):
            thread = threading.Thread(target=come_and_go)
            thread.start()
            thread.join()
        assert marks.is_in_effect(own)
        assert marks.is_any_in_effect()
    assert not marks.is_in_effect(own)
    assert not marks.is_any_in_effect()


def test_an_effect_within_an_effect_ends_with_the_outer_one() -> None:
    marks = ThreadMarks()

    with marks.inside_effect():
        with marks.inside_effect():
            pass
        assert marks.is_in_effect(threading.get_native_id())

    assert not marks.is_any_in_effect()


def test_a_mark_of_another_process_is_seen_and_a_fork_clears_none() -> None:
    """What is shared is memory between processes, so that this needs two."""
    marks = ThreadMarks()
    own = threading.get_native_id()
    with marks.inside_effect():
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            assert marks.is_in_effect(own)
    if not child:  # it left the block
        os._exit(0)
    assert not marks.is_any_in_effect()


def test_every_thread_s_connection_is_expected_once() -> None:
    marks, threads = ThreadMarks(), []
    everyone, may_end = threading.Barrier(MANY + 1), threading.Event()

    def run() -> None:
        marks.expect_connect()
        everyone.wait()
        may_end.wait()

    before = threading.stack_size(256 << 10)
    try:
        for _ in range(MANY):
            threads.append(threading.Thread(target=run))
            threads[-1].start()
        everyone.wait()
        numbers = [thread.native_id or 0 for thread in threads]
        expected = [sum(map(marks.take_expected_connect, numbers)) for _ in range(2)]
    finally:
        threading.stack_size(before)
        may_end.set()
        for thread in threads:
            thread.join()

    assert expected == [MANY, 0]
