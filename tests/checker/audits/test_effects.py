"""The effects audit lists every question to the world, what becomes of it, and through whom it goes."""

from __future__ import annotations

from files import audit_of

from twice.checker.analysis import stream_uses
from twice.checker.audits import facts
from twice.checker.audits.audit import WorldRead
from twice.checker.catalogue import shipped


def asked(source: str, name: str = "program") -> tuple[WorldRead, ...]:
    """Return the effects audit of one file."""
    return audit_of({name: source}).reads


def test_every_kind_of_question_is_listed() -> None:
    asks = asked(
        """
        import httpx, os, platform, socket, subprocess, sys, time, uuid, requests
        from pathlib import Path

        def f():
            return [
                time.time(), uuid.uuid4(), os.environ["X"], os.getenv("Y"), open("a").read(),
                Path("b").read_text(), os.listdir("."), requests.get("http://localhost"),
                subprocess.run(["ls"]), sys.stdin.read(), platform.node(), os.getpid(),
                httpx.delete("u"), os.getloadavg(), id(3),
            ]
        """,
    )
    assert sorted(each.kind for each in asks) == [
        "clock", "entropy", "environment", "environment", "files", "files", "host", "host", "input",
        "listing", "network", "network", "process", "processes",
    ]  # fmt: skip
    assert all(each.is_gap for each in asks)


def test_what_goes_through_the_layer_is_no_gap() -> None:
    asks = asked(
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
    assert [each.kind for each in asks] == ["network", "clock", "environment", "network", "clock"]
    assert [each.is_recorded for each in asks] == [True, True, True, True, False]
    assert [each.call for each in asks if each.is_gap] == ["time.time()"]


def test_where_the_answer_ends_is_said_and_a_measured_duration_is_harmless() -> None:
    asks = asked(
        """
        import time

        class World:
            def step(self):
                self.now = time.time()

        def train():
            start = time.time()
            print("took", time.time() - start)
        """,
    )
    assert [(each.use, each.is_gap) for each in asks] == [
        ("state", True), ("timing", False), ("telemetry", False),
    ]  # fmt: skip
    assert (asks[0].function, asks[0].ends) == ("World.step", "it becomes state")


def test_reading_a_file_is_a_question_and_writing_one_is_none() -> None:
    reads = asked(
        """
        from pathlib import Path

        def f(path: Path, door):
            Path("a").read_text("utf-8")
            path.read_text(encoding="utf-8")
            with path.open() as file, Path("b").open("rb") as other:
                text = file.read() + other.read()
            with path.open("w") as out, Path("c").open(mode="ab") as log:
                out.write(text)
            door.open()
            open("a", "w").write("x"), open("b", mode="ab").close()
            open("c", "r+").read()
            return list(Path("d").iterdir()), list(path.rglob("*"))
        """,
    )
    assert [(each.line, each.kind) for each in reads] == [
        (5, "files"), (6, "files"), (7, "files"), (7, "files"), (13, "files"), (14, "listing"), (14, "listing"),
    ]  # fmt: skip


def test_every_group_that_an_audit_asks_for_is_in_the_catalogue() -> None:
    asked_for = {*facts.READS, *facts.PRESENT, *stream_uses.GROUPS}
    assert sorted(asked_for - shipped().groups.keys()) == []


def test_tests_and_tools_have_no_gaps() -> None:
    source = "import time\nNOW = [time.time()]\nprint(NOW[0] if NOW[0] > 3 else 0)\n"
    for name in ("tests/test_a", "scripts/a"):
        assert [each.is_gap for each in asked(source, name)] == [False]
