"""Executors that do each job at once, in the process of the test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from twice.errors import TwiceError
from twice.worker.channel import revive_error
from twice.worker.executor import Executor, Job, perform


class HereExecutor(Executor):
    """Does each job at once, in this process; ``before`` may refuse one."""

    is_here = True
    slots = 2

    def __init__(self, before: Callable[[Job], None] = lambda job: None) -> None:
        self.before = before
        self.jobs = 0

    def submit(self, job: Job) -> Future[Mapping[str, Any]]:
        answer = Future[Mapping[str, Any]]()
        self.jobs += 1
        try:
            self.before(job)
            message = perform(job.to_message())
            if message["kind"] == "error":
                raise revive_error(message)
        except TwiceError as error:
            answer.set_exception(error)
        else:
            answer.set_result(message)
        return answer

    def close(self) -> None:
        pass


class ElsewhereExecutor(HereExecutor):
    """Has workers that see none of the caller's records."""

    is_here = False
