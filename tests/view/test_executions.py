"""What the page may stop, and what a branch of it may be given: no program is executed."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest

from programs import recorded
from twice.errors import UsageError
from twice.replayer.branch_session import branch
from twice.view import executions as module
from twice.view.executions import Executions


class Session:
    """A replay that runs until it is killed."""

    def __init__(self, record: Path) -> None:
        self.record, self.begun, self.killed = record, threading.Event(), threading.Event()

    def seek(self, tick: int) -> None:
        self.begun.set()
        self.killed.wait()
        raise EOFError("the process is gone")

    def kill(self) -> None:
        self.killed.set()

    def close(self) -> None:
        pass


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> list[Session]:
    made = list[Session]()

    def make(record: Path) -> Session:
        made.append(Session(record))
        return made[-1]

    monkeypatch.setattr(module, "ReplaySession", make)
    return made


@pytest.fixture
def executions() -> Iterator[Executions]:
    with closing(Executions()) as made:
        yield made


@pytest.fixture
def start(executions: Executions) -> Iterator[Callable[[str], Future[Any]]]:
    """Replay on a thread, under a name; return when the request is known."""

    def replay(name: str) -> Future[Any]:
        known = len(executions._running)
        future = threads.submit(executions.replay, Path("a.twice"), 3, execution=name)
        while len(executions._running) == known and not future.done():
            pass
        return future

    with ThreadPoolExecutor() as threads:
        yield replay


def start_both(
    start: Callable[[str], Future[Any]], sessions: list[Session]
) -> tuple[Future[Any], Future[Any]]:
    """Start a replay that runs, and one that waits for it."""
    runs = start("a")
    while not sessions or not sessions[0].begun.is_set():  # it has its turn
        assert not runs.done()
    return runs, start("b")


def require_stopped(future: Future[Any], why: str = "it was stopped on the page") -> None:
    with pytest.raises(UsageError, match=f"twice replay gave no answer: {why}"):
        future.result()


def test_a_replay_that_waits_for_another_one_is_stopped_alone(
    executions: Executions, sessions: list[Session], start: Callable[[str], Future[Any]]
) -> None:
    runs, waits = start_both(start, sessions)

    executions.stop("b")

    require_stopped(waits)
    assert not runs.done()
    assert [each.killed.is_set() for each in sessions] == [False]
    executions.stop("a")
    require_stopped(runs)


def test_a_replay_goes_on_when_the_one_before_it_was_stopped(
    executions: Executions, sessions: list[Session], start: Callable[[str], Future[Any]]
) -> None:
    runs, waits = start_both(start, sessions)

    executions.stop("a")

    require_stopped(runs)
    while len(sessions) < 2:
        assert not waits.done()
    sessions[1].begun.wait()
    executions.stop("b")
    require_stopped(waits)


def test_the_end_of_the_server_ends_what_runs_and_what_waits(
    executions: Executions, sessions: list[Session], start: Callable[[str], Future[Any]]
) -> None:
    both = start_both(start, sessions)

    executions.close()

    for each in (*both, start("c")):
        require_stopped(each, "the server ends")
    assert len(sessions) <= 1


def test_a_stop_ends_what_the_same_press_asks_for_later(
    executions: Executions, sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(subprocess, "Popen")
    path = Path("a.twice")
    executions.stop("a")

    for ask in (
        lambda: executions.replay(path, 3, execution="a"),
        lambda: executions.find_lines(path, 3, execution="a"),
        lambda: executions.diagnose(path, path, execution="a"),
        lambda: executions.branch(path, 3, {}, onwards=False, execution="a"),
    ):
        with pytest.raises(UsageError, match="it was stopped on the page"):
            ask()
    assert sessions == []


@pytest.mark.parametrize("text", ["False", "None", "", "a text", "[1, 2", "1 2", '"a'])
def test_a_text_without_quotes_is_not_taken_for_a_value(executions: Executions, text: str) -> None:
    with pytest.raises(UsageError, match="no value of TOML"):
        executions.branch(Path("a.twice"), 3, {"push": text}, onwards=False)


@pytest.mark.parametrize("name", ["a=b", " a", "a "])
def test_a_name_that_a_command_would_read_otherwise_is_refused(
    executions: Executions, name: str
) -> None:
    with pytest.raises(UsageError, match="no form for that name"):
        executions.branch(Path("a.twice"), 3, {name: "1"}, onwards=False)


@pytest.mark.parametrize("text", ["true", " 0.5 ", '"a text"', "'a'", "[1, 2]", "{a = 1}", "nan"])
def test_a_value_is_given_to_the_command_as_it_was_typed(
    executions: Executions, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    given = list[str]()
    monkeypatch.setattr(executions, "_run", lambda words, _: given.extend(words))

    executions.branch(Path("a.twice"), 3, {"push": text}, onwards=False)

    assert f"push={text}" in given


@pytest.mark.integration  # real records
@pytest.mark.parametrize("at", [2, 3])
def test_a_branch_that_was_there_when_it_was_stopped_is_returned(
    executions: Executions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    source = """
        def main(run):
            count = run.track("count", {"n": 0})
            for _ in run.ticks(5):
                count["n"] += run.input("push", lambda: 1)
    """
    with recorded(tmp_path, source) as record:
        path = record.path

    def stop_late(words: list[str], execution: str) -> None:
        branch(path, at=at, inputs={"push": 7}, out=words[words.index("-o") + 1]).close()
        executions.stop(execution)
        raise UsageError("It was stopped.", "", "")

    monkeypatch.setattr(executions, "_run", stop_late)
    is_another = pytest.raises(
        UsageError, match="It was stopped"
    )  # somebody put it there meanwhile
    with nullcontext() if at == 2 else is_another:
        assert executions.branch(path, 2, {"push": "7"}, onwards=False, execution="a").exists()
