"""Jobs on a Ray cluster: each is a task, and Ray decides where it runs.

Workers need the same version of twice and the program's files at the same paths. Records need no shared file system:
they travel with the job and with its answer. Ray gives a task no second try here, because ``run_jobs`` counts them.

Invariant: an executor ends the tasks that it began, and leaves a cluster that was there before it.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import Any, Final

from twice.errors import ExtraMissing, TwiceError, WorkerDied, WorkerUnlike
from twice.runs.errors import ClusterUnreachable
from twice.worker.channel import revive_error
from twice.worker.executor import Executor, Job, perform

_TEXT_MAX: Final = 2000
_HOST: Final = re.compile(r"(ray://)?(?P<host>\[[^]]+\]|[^/:]+):(?P<port>\d{1,5})")
_LIMIT_S: Final = 10.0


class RayExecutor(Executor):
    """Workers of a Ray cluster; as long as it is open, standard output is standard error.

    Args:
        address: ``ray://HOST:PORT``; None for the cluster of ``RAY_ADDRESS`` or of this machine, and for a new one on this
            machine's processors where there is none.
        slots: how many jobs at once; None for as many as the cluster has processors, also those that come later.

    Raises:
        ExtraMissing: E-EXTRA-001. ClusterUnreachable: E-RUNS-003.
    """

    is_here = False

    def __init__(self, address: str | None, slots: int | None = None) -> None:
        try:
            import ray
        except ImportError as error:
            raise ExtraMissing(
                "Runs on a cluster need Ray, which is not installed.",
                "Expected the extra `ray`.",
                "pip install 'twice[ray]'",
                extra="ray",
            ) from error
        self._ray, self._asked_slots = ray, slots
        self._running: dict[Future[Mapping[str, Any]], Any] = {}
        self._was_there = bool(ray.is_initialized())
        self._stdout = sys.stdout
        if not self._was_there:
            _connect(ray, address)
            sys.stdout = (
                sys.stderr
            )  # where Ray prints, from a thread of its own, that a worker died
        self._task = ray.remote(max_retries=0)(perform)

    @property
    def slots(self) -> int:
        """How many jobs are done at once."""
        if self._asked_slots is not None:
            return self._asked_slots
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, job: Job) -> Future[Mapping[str, Any]]:
        """Give a job to Ray."""
        answer = Future[Mapping[str, Any]]()
        try:
            reference = self._task.remote(job.to_message())
        except Exception as error:  # noqa: BLE001  (the client of a cluster elsewhere sends the function only now)
            answer.set_exception(_translate(job, error))
            return answer
        self._running[answer] = reference
        reference.future().add_done_callback(partial(self._settle, job, answer))
        return answer

    def _settle(self, job: Job, answer: Future[Mapping[str, Any]], of_ray: Future[Any]) -> None:
        self._running.pop(answer, None)
        if not answer.set_running_or_notify_cancel():
            return
        try:
            message = of_ray.result()
        except Exception as error:  # noqa: BLE001  (whatever Ray says becomes one of our errors)
            answer.set_exception(_translate(job, error))
            return
        if message["kind"] == "error":
            answer.set_exception(revive_error(message))
        else:
            answer.set_result(message)

    def close(self) -> None:
        """End the tasks that still run, and leave the cluster."""
        for reference in list(self._running.values()):
            self._ray.cancel(reference, force=True)
        if not self._was_there:
            self._ray.shutdown()
            sys.stdout = self._stdout


def _connect(ray: Any, address: str | None) -> None:
    """Connect to a cluster, or start one where none is named and none found."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # of one that is started here
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    named = address or os.environ.get("RAY_ADDRESS") or "the cluster of this machine"
    try:
        # Ray itself tries for minutes, and writes about it on standard error.
        if found := _HOST.fullmatch(named):
            socket.create_connection(
                (found["host"].strip("[]"), int(found["port"])), _LIMIT_S
            ).close()
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except Exception as error:  # Ray has no root of what it raises when it connects
        raise ClusterUnreachable(
            f"{named} cannot be used: {str(error).strip()[:_TEXT_MAX] or type(error).__name__}",
            "Expected a Ray cluster that answers, with the Python and the Ray of this command.",
            "Look at it with: ray status. One that asks for a token needs RAY_AUTH_MODE=token. Without a cluster: --on local",
            address=str(address),
        ) from error


def _translate(job: Job, error: Exception) -> TwiceError | CancelledError:
    """Say in one of our errors why a task has no answer."""
    said = str(error).strip()[-_TEXT_MAX:]
    kind = type(error).__name__
    if kind == "TaskCancelledError":
        return CancelledError()
    if "No module named 'twice'" in said or "failed to import" in said:
        return WorkerUnlike(
            f"A worker of the cluster cannot load twice: {said.splitlines()[-1]}",
            "Expected the same version of twice on every machine of the cluster.",
            "Install it there, or start the cluster from an environment that has it.",
        )
    return WorkerDied(
        f"The worker that did {job.action} gave no answer: {kind}.",
        f"Ray says: {said}",
        "Run it with --on local to see what ends it; on a machine without memory give fewer at once with --jobs.",
        job=job.action,
    )
