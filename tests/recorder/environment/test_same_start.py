"""Descriptors, the depth of the stack and the collector are the same in a recording and in its replay."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from programs import cli, environ
from tiers import sampled
from twice.recorder.environment.process_start import call_at_one_depth, same_descriptors
from twice.recorder.output import select_compared

pytestmark = [pytest.mark.integration, pytest.mark.fresh]

PROGRAMS = {
    "descriptor": "print(open('a', 'w').fileno())",
    "recursion": """
        def down(n):
            try:
                return down(n + 1)
            except RecursionError:
                return n
        print(down(0))
        """,
    "limit": """
        import sys
        print(sys.getrecursionlimit())
        sys.setrecursionlimit(500)
        print(sys.getrecursionlimit())
        def down(n):
            try:
                return down(n + 1)
            except RecursionError:
                return n
        print(down(0))
        """,
    "collector": "import gc; print(gc.isenabled(), gc.get_threshold())",
    "depth": "import inspect; print(len(inspect.stack()))",
    "stack": "import traceback; traceback.print_stack()",
    "warning": """
        import socket, warnings
        warnings.simplefilter("always")
        def leave():
            socket.socket()
        leave()
        """,
    "tail": """
        def down(n):
            return down(n + 1)
        down(0)
        """,
}


@pytest.mark.parametrize("name", sampled(PROGRAMS, {"recursion"}))
def test_a_program_that_looks_at_its_process_replays(name: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAMS[name]))
    made = cli("record", "program.py", "--seed", 1, "-o", "a.twice", cwd=tmp_path)
    again = cli("verify", "a.twice", cwd=tmp_path)
    assert again.stdout.startswith("PASS"), again.stdout
    if name in {"collector", "limit", "recursion"}:
        plain = subprocess.run(
            [sys.executable, "program.py"], cwd=tmp_path, env=environ({}), capture_output=True, text=True, check=True
        )  # fmt: skip
        assert made.stdout == plain.stdout


@pytest.mark.parametrize("held", sampled([5, 20, 21, 30, 44, 47], {"44"}))
def test_what_the_caller_holds_open_does_not_show(held: int, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAMS["descriptor"])
    cli("record", "program.py", "--seed", 1, "-o", "a.twice", cwd=tmp_path)
    opened: list[int] = [os.open(os.devnull, os.O_RDONLY)]
    try:
        while opened[-1] < held:
            opened.append(os.dup(opened[-1]))
        again = cli("verify", "a.twice", cwd=tmp_path, pass_fds=opened)
    finally:
        for each in opened:
            os.close(each)
    assert again.stdout.startswith("PASS"), again.stdout


def test_descriptors_are_given_back() -> None:
    before = os.dup(0)
    os.close(before)
    with same_descriptors():
        inside = os.dup(0)
        os.close(inside)
    after = os.dup(0)
    os.close(after)
    assert (before, inside) == (after, 48)


def test_a_descriptor_that_the_program_took_over_stays_open() -> None:
    with same_descriptors():
        own = os.open(os.devnull, os.O_RDONLY)
        os.close(own - 1)
        reading, writing = os.pipe()
        assert reading == own - 1
    for each in (own, reading, writing):
        os.close(each)


def test_the_limit_of_recursion_is_what_it_was() -> None:
    limit = sys.getrecursionlimit()
    real = sys.getrecursionlimit
    assert call_at_one_depth(lambda: sys.getrecursionlimit()) == limit
    with pytest.raises(ValueError, match="recursion"):
        call_at_one_depth(lambda: sys.setrecursionlimit(0))
    assert (sys.getrecursionlimit, sys.getrecursionlimit()) == (real, limit)


@pytest.mark.parametrize(
    "place", ["recorder/serving", "recorder/autopoints/environments", "integrations/torch_steps"]
)
def test_frames_that_called_the_program_are_not_compared(place: str) -> None:
    """Among them files of earlier versions: their lines are in records that are verified today."""
    ours = f'  File "/x/twice/{place}.py", line 3, in serve\n    handle(job)\n'.encode()
    theirs = b'  File "prog.py", line 1, in f\n    g()\n'
    kept = select_compared(ours + b"  [Previous line repeated 9 more times]\n" + theirs, (), (), is_errors=True)  # fmt: skip
    assert kept == theirs
    users = b'  File "/home/me/twice/prog.py", line 1, in f\n'
    assert select_compared(users, (), (), is_errors=True) != b""
