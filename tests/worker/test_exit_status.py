"""How a process ended is said by its code, and memory is named only where the system counted it."""

from __future__ import annotations

from pathlib import Path

import pytest

from twice.worker import exit_status
from twice.worker.exit_status import count_memory_kills, describe_exit


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (0, "exit code 0"), (7, "exit code 7"), (-9, "signal SIGKILL"), (-11, "signal SIGSEGV"),
        (-40, "signal 40"),
    ],
)  # fmt: skip
def test_a_code_is_said_in_words(code: int, told: str) -> None:
    assert describe_exit(code, count_memory_kills()) == told


def test_a_kill_is_put_down_to_memory_where_the_system_counted_one_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counters = tmp_path / "vmstat"
    monkeypatch.setattr(exit_status, "_COUNTERS", counters)
    counters.write_text("pgfault 12\noom_kill 3\n")
    before = count_memory_kills()

    assert before == 3
    assert describe_exit(-9, before) == "signal SIGKILL"
    counters.write_text("pgfault 19\noom_kill 4\n")
    assert describe_exit(-9, before) == (
        "signal SIGKILL, while the system ended processes for want of memory"
    )
    assert describe_exit(-11, before) == "signal SIGSEGV"


def test_a_system_that_does_not_count_says_nothing_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exit_status, "_COUNTERS", tmp_path / "none")

    assert count_memory_kills() == 0
    assert describe_exit(-9, 0) == "signal SIGKILL"
