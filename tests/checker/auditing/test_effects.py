"""The effects audit lists every question to the world, what becomes of it, and through whom it goes."""

from __future__ import annotations

import textwrap
from pathlib import Path

from twice.checker.auditing.effects import Ask
from twice.checker.auditing.projects import read_project
from twice.checker.catalogue import shipped
from twice.checker.policy import Policy


def asked(folder: Path, source: str, name: str = "program.py") -> tuple[Ask, ...]:
    """Return the effects audit of one file."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    policy = Policy(
        below=f"{folder}/"
    )  # the folders above, as of /dev/shm, say nothing of the project
    return read_project([str(path)], policy, shipped(), lambda _: name).asks


def test_every_kind_of_question_is_listed(tmp_path: Path) -> None:
    asks = asked(
        tmp_path,
        """
        import os, platform, socket, subprocess, sys, time, uuid, requests
        from pathlib import Path

        def f():
            return [
                time.time(), uuid.uuid4(), os.environ["X"], os.getenv("Y"), open("a").read(),
                Path("b").read_text(), os.listdir("."), requests.get("http://localhost"),
                subprocess.run(["ls"]), sys.stdin.read(), platform.node(), os.getpid(),
            ]
        """,
    )

    assert sorted(each.kind for each in asks) == [
        "clock", "entropy", "environment", "environment", "files", "files", "host", "input",
        "listing", "network", "process", "processes",
    ]  # fmt: skip
    assert all(each.is_gap for each in asks)


def test_what_goes_through_the_layer_is_no_gap(tmp_path: Path) -> None:
    asks = asked(
        tmp_path,
        """
        import time
        import twice
        import requests

        @twice.effect
        def price(name):
            return requests.get(name).json()

        def main(run):
            now = run.effects.clock.time()
            key = run.effects.env.get("KEY")
            return now, key, run.effects.net.fetch("http://localhost"), price("a"), time.time()
        """,
    )

    assert [(each.kind, each.governed) for each in asks] == [
        ("network", True),
        ("clock", True),
        ("environment", True),
        ("network", True),
        ("clock", False),
    ]
    assert [each.call for each in asks if each.is_gap] == ["time.time()"]


def test_a_measured_duration_is_harmless(tmp_path: Path) -> None:
    asks = asked(
        tmp_path,
        """
        import time

        def train():
            start = time.time()
            work()
            print("took", time.time() - start)
        """,
    )

    assert [(each.use, each.is_gap) for each in asks] == [
        ("telemetry", False),
        ("telemetry", False),
    ]


def test_where_the_answer_ends_is_said(tmp_path: Path) -> None:
    (ask,) = asked(
        tmp_path,
        """
        import time

        class World:
            def step(self):
                self.now = time.time()
        """,
    )

    assert (ask.function, ask.use, ask.ends) == ("World.step", "state", "it becomes state")


def test_writing_asks_nothing(tmp_path: Path) -> None:
    source = 'open("a", "w").write("x")\nopen("b", mode="ab").close()\nopen("c", "r+").read()\n'
    asks = asked(tmp_path, source)

    assert [each.line for each in asks] == [3]


def test_tests_and_tools_have_no_gaps(tmp_path: Path) -> None:
    source = "import time\nNOW = [time.time()]\nprint(NOW[0] if NOW[0] > 3 else 0)\n"

    assert [each.is_gap for each in asked(tmp_path, source, "tests/test_a.py")] == [False]
    assert [each.is_gap for each in asked(tmp_path, source, "scripts/a.py")] == [False]
