"""WHERE WORK RUNS: jobs of plain data, each a call of one function of twice, done by processes here or elsewhere.

``LocalExecutor`` keeps processes on this machine that do one job after another. Other executors, such as the one on a
Ray cluster, give the same answers. ``run_jobs`` gives a worker's unfinished job to another one if the worker dies.

Not for: executions of a user's program. A job starts them, each in a process of its own.

Invariant: of each job one answer or one error comes back, however many workers died over it.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from importlib import import_module
from itertools import islice
from typing import Any, ClassVar, Final

from twice.errors import TwiceError, WorkerDied, WorkerUnlike
from twice.foundation.dataclass import dataclass
from twice.foundation.version import VERSION
from twice.foundation.with_blocks import Closing
from twice.worker.channel import tell_error
from twice.worker.process import FreshWorker

_MODULE: Final = "twice.worker"
_ATTEMPTS: Final = 8
"""How often a job is begun: where every third worker dies at random, one of 6,500 jobs has no answer."""
_AHEAD: Final = 2
"""How many jobs are given to an executor for each of its slots, so that none waits for the next."""
_LOOK_EVERY_S: Final = 0.5
_PAUSE_S: Final = 0.1
"""Before a job is begun a second time; twice as long before each further time."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One call.

    Attributes:
        action: ``module:function`` of twice. It takes the arguments and returns a mapping of plain data.
        arguments: plain data, as a canonical form has it.
        key: what the caller knows it by. It stays in the caller's process.
    """

    action: str
    arguments: Mapping[str, Any]
    key: Any = None

    def to_message(self) -> dict[str, object]:
        """Return the job as it travels."""
        return {"action": self.action, "arguments": dict(self.arguments), "twice": VERSION}


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a job: its answer or its error, and how many workers began it."""

    job: Job
    answer: Mapping[str, Any] | None
    error: TwiceError | None
    attempts: int


class Executor(Closing):
    """Where jobs are done; a context manager that ends what still runs.

    Attributes:
        is_here: whether its workers see the files of this process under the same paths.
    """

    is_here: ClassVar[bool]

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many jobs are done at once."""

    @abstractmethod
    def submit(self, job: Job) -> Future[Mapping[str, Any]]:
        """Give it a job; the future holds the answer, or raises the job's error, or ``WorkerDied``."""


def run_jobs(executor: Executor, jobs: Iterable[Job]) -> Iterator[Done]:
    """Do jobs, and yield each as it ends.

    Only a bounded number is taken from ``jobs`` ahead. A job whose worker died is begun eight times at most; then
    its error is ``WorkerDied``.

    Raises:
        WorkerUnlike: E-RUNS-002, when a worker has another version of twice, or none.
    """
    waiting: dict[Future[Mapping[str, Any]], tuple[Job, int]] = {}
    again: list[tuple[float, Job, int]] = []
    supply = iter(jobs)
    try:
        # twice: ignore[first-completed, clock, sleep-paced-tick] in the order in which jobs end, and callers sort
        while True:
            due = [each for each in again if each[0] <= time.monotonic()]
            again = [each for each in again if each not in due]
            free = max(0, _AHEAD * executor.slots - len(waiting) - len(due) - len(again))
            begun = [
                *((job, attempts) for _, job, attempts in due),
                *((job, 1) for job in islice(supply, free)),
            ]
            waiting.update((executor.submit(job), (job, attempts)) for job, attempts in begun)
            if not waiting and not again:
                return
            # A wait without a limit does not see an interrupt that the system delivers to another thread.
            ended, _ = wait(waiting, _PAUSE_S if again else _LOOK_EVERY_S, FIRST_COMPLETED)
            if again and not waiting:
                time.sleep(_PAUSE_S)
            for future in ended:
                job, attempts = waiting.pop(future)
                try:
                    done = Done(job, future.result(), None, attempts)
                except WorkerDied as error:
                    if attempts < _ATTEMPTS:
                        # Not at once: a cluster gives a job to the place of a dead worker until it has noticed.
                        pause_s = _PAUSE_S * 2 ** (attempts - 1)
                        again.append((time.monotonic() + pause_s, job, attempts + 1))
                        continue
                    done = Done(job, None, error, attempts)
                except WorkerUnlike:
                    raise  # no job would be done there
                except TwiceError as error:
                    done = Done(job, None, error, attempts)
                yield done
    finally:
        for future in waiting:
            future.cancel()


class LocalExecutor(Executor):
    """Processes on this machine.

    Args:
        slots: how many; each is started when there is a job for it, and replaced when it has died.
    """

    is_here = True

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="job")
        self._lock = threading.Lock()
        self._workers, self._idle = set[FreshWorker](), list[FreshWorker]()
        self._is_closed = False

    @property
    def slots(self) -> int:
        """How many processes there are at most."""
        return self._slots

    def submit(self, job: Job) -> Future[Mapping[str, Any]]:
        """Give a job to the next process that is free."""
        return self._threads.submit(self._do, job)

    def _do(self, job: Job) -> Mapping[str, Any]:
        worker = self._take_worker()
        died = True
        try:
            worker.channel.send(job.to_message())
            try:
                message = worker.receive()
            except TwiceError:
                died = False
                raise
            if message is None:
                raise _report_death(job, worker)
            died = False
            return message
        finally:
            if died:
                with self._lock:
                    self._workers.discard(worker)
                worker.close()
            else:
                self._idle.append(worker)

    def _take_worker(self) -> FreshWorker:
        with self._lock:
            if self._is_closed:
                raise CancelledError
            if self._idle:
                return self._idle.pop()
            worker = FreshWorker(_MODULE, os.environ)
            self._workers.add(worker)
            return worker

    def close(self) -> None:
        """Kill the processes."""
        with self._lock:
            self._is_closed = True
            for worker in self._workers:
                worker.kill()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.close()
        self._workers.clear()


def perform(message: Mapping[str, Any]) -> dict[str, object]:
    """Do a job in this process; return its answer, or its error, as a message."""
    try:
        if message["twice"] != VERSION:
            raise WorkerUnlike(
                f"A worker on {platform.node()} has twice {VERSION}; the command that gave it a job has {message['twice']}.",
                "Expected the same version everywhere: another one may judge otherwise.",
                f"Install it on that machine: pip install twice=={message['twice']}",
                host=platform.node(),
            )
        module, _, name = message["action"].partition(":")
        assert module.startswith("twice."), "a job names a function of twice"
        function: Callable[[Mapping[str, Any]], Mapping[str, Any]] = getattr(
            import_module(module), name
        )
        return {"kind": "answer", "host": platform.node(), **function(message["arguments"])}
    except TwiceError as error:
        return tell_error(error)


def _report_death(job: Job, worker: FreshWorker) -> WorkerDied:
    how, _ = worker.find_exit()
    words = worker.errors_tail()
    return WorkerDied(
        f"The process that did {job.action} died{how}.",
        f"Its last words: {words}" if words else "Expected an answer or an error.",
        "Run it by itself; a machine without memory ends such processes too: give fewer at once with --jobs.",
        job=job.action,
    )
