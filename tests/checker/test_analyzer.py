"""Files are analysed in several processes as in one, and the zones of a project hold for its facts."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from projects import CLOCK, LISTING, Project

from twice.checker import analyzer
from twice.checker.analyzer import analyze_files
from twice.checker.config import AnalysisConfig
from twice.checker.files import SourceFile
from twice.checker.findings import FileResult

SIZE = 200_000  # As if they were so large; processes are worth it then.


def results(folder: Path, jobs: int) -> dict[str, tuple[str, FileResult]]:
    """Write twenty files and return their results."""
    sources = []
    for number in range(20):
        path = folder / f"m{number}.py"
        path.write_text(f"{LISTING if number % 2 else CLOCK}\nX = {number}\n")
        sources.append(SourceFile(path.as_posix(), "", SIZE))
    return {each.path: its for each, its in analyze_files(sources, AnalysisConfig(), jobs)}


def test_several_processes_give_the_results_of_one(tmp_path: Path) -> None:
    assert results(tmp_path, 3) == results(tmp_path, 1)


def test_a_process_with_threads_is_not_forked(tmp_path: Path) -> None:
    """Workers are new processes then: a lock that another thread holds would stay locked in a fork."""
    held = threading.Event()
    other = threading.Thread(target=held.wait)
    other.start()
    try:
        found = results(tmp_path, 2)
    finally:
        held.set()
        other.join()
    assert found == results(tmp_path, 1)


def in_workers(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Act in every fork of this process, before it reads a file; threads of other tests prevent no fork."""
    here, read = os.getpid(), analyzer.read_file
    monkeypatch.setattr(threading, "active_count", lambda: 1)

    def read_file(path: str) -> object:
        if os.getpid() != here:
            act()
        return read(path)

    monkeypatch.setattr(analyzer, "read_file", read_file)


def test_the_work_of_a_worker_that_dies_is_done_here_and_an_error_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        in_workers(patch, lambda: os._exit(9))
        assert results(tmp_path, 2) == results(tmp_path, 1)

    def fail() -> None:
        raise ValueError("seven")

    in_workers(monkeypatch, fail)
    with pytest.raises(ValueError, match="seven"):
        results(tmp_path, 2)


DRAWS = "import random\n\n\ndef pick(names):\n    return random.choice(names)\n"
SEEDS = "import pick\nimport random\n\nrandom.seed(3)\nprint(pick.pick([1, 2]))\n"


def test_a_configured_test_seeds_nothing_for_the_program(project: Project) -> None:
    for zone, rule in (
        ("core", "global-stream"),
        ("tests", "unseeded-global"),
        ("tooling", "unseeded-global"),
    ):
        project.write(pick=DRAWS, spec__try_it=SEEDS, config=f'zones = {{{zone} = ["spec/"]}}\n')
        for options in ((), ("--no-cache",)):  # A zone that changes is not taken from the cache.
            found = {each["path"]: each["rule"] for each in project.findings(*options)}
            assert found["pick.py"] == rule


def test_zones_hold_for_facts_from_any_working_folder(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(
        lib__tests__pick=DRAWS, lib__tests__main=SEEDS, config="zones = {core = ['lib']}\n"
    )
    there = project.findings()
    monkeypatch.chdir(project.folder / "lib" / "tests")
    here = project.findings()
    assert [each["rule"] for each in here] == [each["rule"] for each in there]
    assert {each["zone"] for each in (*here, *there)} == {"core"}
