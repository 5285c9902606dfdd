"""Variables, folder, machine, user and process are what they were when the run was recorded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from programs import cli, recorded, write
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration


def manifest(record: Path, how: str = "strict") -> dict[str, int]:
    with RunRecord.open(record) as opened:
        assert opened.ending is not None
        reads: dict[str, int] = opened.ending["effects"][how]
        return reads


def verified_elsewhere(
    tmp_path: Path,
    source: str,
    *,
    before: dict[str, str | None],
    after: dict[str, str | None],
) -> tuple[int, str]:
    """Record under one environment in one folder, verify under another in another."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    program = write(here, source)
    out = tmp_path / "a.twice"
    first = cli("record", program, "--seed", 1, "--out", out, cwd=here, env=before)
    assert first.returncode == 0, first.stderr
    second = cli("verify", out, cwd=there, env=after)
    return second.returncode, second.stdout + second.stderr


EVERY_WAY = """
    import os
    from os import environ, getenv

    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(2):
            seen += [environ["ONE"], environ.get("ONE"), getenv("ONE"), environ.get("TWO", "no")]
            seen += ["ONE" in os.environ, "TWO" in os.environ, len(os.environ), sorted(os.environ)]
            seen += [dict(environ), environ.copy(), {**environ}, list(environ.items())]
            seen += [list(environ.values()), repr(environ), environ | {"X": "1"}]
            seen += [os.environb[b"ONE"], os.getenvb(b"TWO"), environ == dict(environ)]
            seen += [os.path.expandvars("$ONE/$TWO"), os.path.expanduser("~")]
            try:
                environ["TWO"]
            except KeyError as error:
                seen.append(error.args)
"""


def test_a_program_reads_the_variables_of_the_record(tmp_path: Path) -> None:
    code, said = verified_elsewhere(
        tmp_path,
        EVERY_WAY,
        before={"ONE": "größe", "TWO": None, "HOME": "/first"},
        after={"ONE": None, "TWO": "now there", "HOME": "/second", "MORE": "1"},
    )
    assert (code, said[:4]) == (0, "PASS"), said
    assert manifest(tmp_path / "a.twice")["environment.names"] > 10


def test_what_is_not_utf8_is_read_back_as_it_was(tmp_path: Path) -> None:
    code, said = verified_elsewhere(
        tmp_path,
        """
        import os

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(2):
                seen += [os.environb[b"ODD"], os.fsencode(os.environ["ODD"]), len(os.environ["ODD"])]
        """,
        before={"ODD": os.fsdecode(b"\xff\xfe one")},
        after={"ODD": None},
    )
    assert (code, said[:4]) == (0, "PASS"), said


OWN = """
    import os

    os.environ["MINE"] = "set while importing"

    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(3):
            seen += [os.environ["MINE"], os.environ.setdefault("DEFAULTED", "a"), len(os.environ)]
            os.environ["MINE"] = f"tick {tick}"
            os.environ.pop("GONE", None)
            os.environ["BACK"] = "again"
            seen += ["GONE" in os.environ, sorted(os.environ.items()), list(os.environ)]
            del os.environ["BACK"]
            seen += ["BACK" in os.environ, os.getenv("BACK")]
            try:
                del os.environ["BACK"]
            except KeyError as error:
                seen.append(error.args)
"""


@pytest.mark.parametrize("swap", [False, True])
def test_a_program_reads_back_what_it_set_itself(tmp_path: Path, swap: bool) -> None:
    some: dict[str, str | None] = {"GONE": "here", "MINE": "from outside", "BACK": "there"}
    none: dict[str, str | None] = dict.fromkeys(some)
    before, after = (none, some) if swap else (some, none)
    code, said = verified_elsewhere(tmp_path, OWN, before=before, after=after)
    assert (code, said[:4]) == (0, "PASS"), said


SECRET = """
    import os

    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(2):
            seen += [len(os.environ["SHOP_PASSWORD"]), "OTHER_TOKEN" in os.environ]
"""


@pytest.mark.parametrize(
    ("after", "code", "words"),
    [
        ("correct horse", 0, "PASS"),
        (
            "correct Horse",
            0,
            "given as stars, because the recorded value is not there: SHOP_PASSWORD",
        ),
        (None, 0, "given as stars, because the recorded value is not there: SHOP_PASSWORD"),
    ],
)
def test_a_secret_is_not_written_down_and_stars_stand_in_where_it_is_not_there(
    tmp_path: Path, after: str | None, code: int, words: str
) -> None:
    returned, said = verified_elsewhere(
        tmp_path,
        SECRET,
        before={"SHOP_PASSWORD": "correct horse", "OTHER_TOKEN": None},
        after={"SHOP_PASSWORD": after, "OTHER_TOKEN": "now there"},
    )
    assert returned == code, said
    assert words in said
    with RunRecord.open(tmp_path / "a.twice") as record:
        strict = [value for _, value in record.strict_reads()]
    assert "correct horse" not in repr(strict)
    assert b"correct horse" not in (tmp_path / "a.twice").read_bytes()


FACTS = """
    import getpass, os, platform, socket
    from pathlib import Path

    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(2):
            seen += [os.getcwd(), str(Path.cwd()), os.path.abspath("x"), str(Path("x").absolute())]
            seen += [socket.gethostname(), platform.node(), tuple(os.uname()), os.uname().nodename]
            seen += [os.getpid(), os.getppid(), os.getpgrp(), os.getpgid(0), os.getsid(0), os.cpu_count(), sorted(os.sched_getaffinity(0))]
            seen += [os.getloadavg(), tuple(os.times()), os.times().elapsed]
            seen += [os.getuid(), os.geteuid(), os.getgid(), os.getegid(), getpass.getuser()]
            seen += [getattr(os, "process_cpu_count", os.cpu_count)()]
            try:
                seen.append(os.getlogin())
            except OSError as error:
                seen.append([type(error).__name__, error.errno])
            try:
                os.sched_getaffinity(2**22 + 1)
            except OSError as error:
                seen.append([type(error).__name__, error.errno])
"""


def test_folder_machine_user_and_process_are_those_of_the_record(tmp_path: Path) -> None:
    code, said = verified_elsewhere(
        tmp_path, FACTS, before={"LOGNAME": "first"}, after={"LOGNAME": "second"}
    )
    assert (code, said[:4]) == (0, "PASS"), said
    reads = manifest(tmp_path / "a.twice")
    assert reads["environment.getcwd"] == 8
    assert reads["environment.getpid"] == 2
    assert reads["environment.sched_getaffinity"] == 4
    facts = [f"environment.{name}" for name in ("getpgid", "getpgrp", "getsid")]
    assert manifest(tmp_path / "a.twice", "lenient") == dict.fromkeys(facts, 2)


def test_a_folder_that_is_gone_is_gone_in_replay(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import os, tempfile

        def main(run):
            seen = run.track("seen", [])
            folder = tempfile.mkdtemp()
            os.chdir(folder)
            os.rmdir(folder)
            for tick in run.ticks(2):
                try:
                    os.getcwd()
                except FileNotFoundError as error:
                    seen.append([str(error), error.errno])
            os.chdir("/")
        """,
    ) as record:
        assert verify(record.path).result == "PASS"


def test_a_signal_to_itself_reaches_the_process_that_replays(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import os, signal

        def main(run):
            caught = run.track("caught", [])
            signal.signal(signal.SIGUSR1, lambda number, frame: caught.append(number))
            for tick in run.ticks(2):
                os.kill(os.getpid(), signal.SIGUSR1)
        """,
    ) as record:
        assert verify(record.path).result == "PASS"


def test_a_forked_child_is_told_its_own_number(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import os

        def main(run):
            codes = run.track("codes", [])
            for tick in run.ticks(2):
                own = os.getpid()
                child = os.fork()
                if not child:
                    status = open("/proc/self/stat").read().split()
                    os._exit(os.getpid() != int(status[0]) or os.getppid() != int(status[3]))
                codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
        allow=("process.fork",),
    ) as record:
        assert verify(record.path).result == "PASS"
        assert manifest(record.path)["environment.getpid"] == 2


def test_libraries_read_the_real_variables_and_nothing_is_written_down(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import shutil, subprocess, sys, tempfile, multiprocessing

        def main(run):
            for tick in run.ticks(2):
                shutil.which("sh"), tempfile.gettempdir()
                subprocess.run([sys.executable, "-c", ""], check=True)
                multiprocessing.current_process()
        """,
    ) as record:
        for how in ("strict", "lenient"):
            assert not any(name.startswith("environment") for name in manifest(record.path, how))


def test_another_question_about_variables_is_a_divergence(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import os
        from pathlib import Path

        LATER = __import__("posix").access(Path(__file__).parent / "later", 0)

        def main(run):
            for tick in run.ticks(2):
                os.environ.get("OTHER" if LATER else "ONE")
        """,
    ) as record:
        (tmp_path / "later").touch()
        statement = verify(record.path)
    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert "'OTHER'" in statement.failure.replayed


def test_every_thread_is_served_its_own_reads(tmp_path: Path) -> None:
    source = """
        import os
        from concurrent.futures import ThreadPoolExecutor

        def main(run):
            seen = run.track("seen", [])
            with ThreadPoolExecutor(2) as pool:
                for tick in run.ticks(3):
                    seen += list(pool.map(lambda name: os.environ.get(name), ["ONE", "TWO"]))
    """
    code, said = verified_elsewhere(
        tmp_path, source, before={"ONE": "1", "TWO": None}, after={"ONE": "2", "TWO": "2"}
    )
    assert (code, said[:4]) == (0, "PASS"), said


def test_what_platform_tells_of_the_machine_replays_though_it_starts_a_process(
    tmp_path: Path,
) -> None:
    source = """
        import platform

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(2):
                seen += [platform.platform(), platform.processor(), tuple(platform.uname())]
    """
    with recorded(tmp_path, source) as record:
        assert record.ending is not None
        assert [row for row in record.ending["inventory"] if row["class"] == "unsupported"] == []
        assert verify(record.path).result == "PASS"


def test_the_machines_address_is_that_of_the_record_where_there_is_no_network(
    tmp_path: Path,
) -> None:
    code, said = verified_elsewhere(
        tmp_path,
        """
        import uuid

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(2):
                seen += [uuid.getnode(), str(uuid.uuid1())]
        """,
        before={},
        after={},
    )
    assert (code, said[:4]) == (0, "PASS"), said
    assert manifest(tmp_path / "a.twice")["environment.getnode"] == 2


def test_a_variable_that_is_read_again_is_blanked_from_where_its_secret_was_learned(
    tmp_path: Path,
) -> None:
    source = """
    import os, sysconfig

    LIBRARY = compile(
        "import os; os.environ['LATE_PASSWORD'] = 'hunter2-and-more'",
        sysconfig.get_path("purelib") + "/library.py",
        "exec",
    )

    def main(run):
        for tick in run.ticks(4):
            if tick == 2:
                exec(LIBRARY, {"__name__": "library"})
            for _ in range(3):
                os.environ["LABEL"]
            print(tick)
    """
    with recorded(tmp_path, source, env={"LABEL": "it is hunter2-and-more"}) as record:
        values = [value for _, value in record.strict_reads()]
        path = record.path
    plain = ["hunter2" in repr(value) for value in values]
    assert plain == [True] * 6 + [False] * 6
    assert verify(path).result == "PASS"
