"""Jobs: each comes back once, whoever died over it, and no more are taken than there is room for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import twice.worker.executor
from twice.errors import TwiceError, UsageError, WorkerDied, WorkerUnlike
from twice.worker.channel import revive_error
from twice.worker.executor import Executor, Job, LocalExecutor, perform, run_jobs


@pytest.fixture(autouse=True, scope="module")
def _without_pauses() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(twice.worker.executor, "_PAUSE_S", 0)
        yield


ENDS = st.sampled_from(["answer", "error", "died"])


class Scripted(Executor):
    """Ends the attempts of each job as a script says, and counts what is open."""

    is_here = True

    def __init__(self, script: Mapping[int, list[str]], slots: int) -> None:
        self._script = {key: iter([*ends, "answer"]) for key, ends in script.items()}
        self._slots, self.given, self.open_most = slots, Counter[int](), 0
        self.taken = 0

    @property
    def slots(self) -> int:
        return self._slots

    def submit(self, job: Job) -> Future[Mapping[str, Any]]:
        self.given[job.key] += 1
        future = Future[Mapping[str, Any]]()
        match next(self._script[job.key]):
            case "answer":
                future.set_result({"key": job.key})
            case "error":
                future.set_exception(UsageError("a", "b", "c"))
            case _:
                future.set_exception(WorkerDied("a", "b", "c"))
        return future

    def close(self) -> None:
        pass


@given(st.lists(st.lists(ENDS, max_size=10), max_size=12), st.integers(1, 4))
def test_each_job_comes_back_once_and_is_begun_eight_times_at_most(
    script: list[list[str]], slots: int
) -> None:
    executor = Scripted(dict(enumerate(script)), slots)
    taken = Counter[str]()

    def supply() -> Iterator[Job]:
        for key in range(len(script)):
            taken["jobs"] += 1
            yield Job("twice:nothing", {}, key)

    back = {}
    for at, done in enumerate(run_jobs(executor, supply())):
        assert done.job.key not in back
        back[done.job.key] = done
        assert taken["jobs"] <= at + 1 + 2 * slots + 2 * slots

    assert sorted(back) == list(range(len(script)))
    for key, ends in enumerate(script):
        tried = [*ends, "answer"]
        deaths = next(at for at, end in enumerate(tried) if end != "died" or at == 7)
        assert back[key].attempts == executor.given[key] == deaths + 1
        last = tried[deaths]
        assert (back[key].answer == {"key": key}) is (last == "answer")
        kinds = {"answer": type(None), "error": UsageError, "died": WorkerDied}
        assert isinstance(back[key].error, kinds[last])


def test_another_version_of_twice_does_no_job() -> None:
    message = perform({"action": "twice.errors:find_leaf", "arguments": {}, "twice": "0.0.1"})

    error = revive_error(message)
    assert isinstance(error, WorkerUnlike)
    assert "0.0.1" in error.happened


@pytest.mark.integration  # a process that dies is what is tested
def test_a_process_that_dies_over_a_job_is_replaced() -> None:
    with LocalExecutor(1) as executor:
        dies = Job("twice.errors:find_leaf", {}, 0)  # a mapping has no hash
        absent = {"path": "absent", "content": None, "made_here": False, "allow": None}
        arguments = {"record": absent, "options": {"classes": []}}
        errs = Job("twice.runs.verifications:verify_here", arguments, 1)
        found: dict[int, TwiceError | None] = {}
        for done in run_jobs(executor, [dies, errs]):
            found[done.job.key] = done.error

    died, error = found[0], found[1]
    assert isinstance(died, WorkerDied)
    assert "unhashable" in died.expected
    assert error is not None
    assert error.id != died.id
