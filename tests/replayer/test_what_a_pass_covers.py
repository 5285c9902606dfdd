"""What a run hands over is compared by default, and what is not compared stands before the verdict."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from programs import cli, recorded, verified, write
from twice.errors import UsageError
from twice.foundation.determinism_class import Predicate
from twice.foundation.environment import Fingerprint
from twice.recorder.output import ComparedLines, parse_ignored_output, select_compared
from twice.replayer.evidence import compare_environments
from twice.replayer.verify import verify

DIFFERS = """
    import atexit, logging, os, subprocess, sys, threading, time, warnings

    def other():
        return (id(object()) >> 4) & 0xFFFFFF

    def lower():
        raise ValueError("the same")

    def upper():
        raise ValueError("the same")

    def main(run):
        counter = run.track("counter", {{"n": 0}})
        for tick in run.ticks(3):
            counter["n"] += tick
        {body}
"""


@pytest.mark.fresh
@pytest.mark.integration
@pytest.mark.parametrize(
    ("body", "name", "column"),
    [
        ("return other()", "returned", "(returned)"),
        ("return {'loss': [other()]}", "returned", "(returned)"),
        ("run.summary('loss', other())", "summary:loss", "(summary)"),
        ("print(other(), file=sys.stderr)", "end", "output"),
        ("logging.warning('loss %d', other())", "end", "output"),
        ("warnings.warn(str(other()))", "end", "output"),
        ("atexit.register(lambda: print(other()))", "end", "output"),
        ("threading.Timer(0.05, lambda: print(other())).start()", "end", "output"),
        ("raise ValueError(other())", "end", "output"),
        ("sys.stderr = None; raise ValueError(other())", "ending", "(ending)"),
        ("sys.stderr = None; raise [ValueError, KeyError, OSError, EOFError, TypeError][other() % 5]('x')",
         "ending", "(ending)"),
        ("sys.stderr = None; [lower, upper][(other() >> 16) % 2]()", "ending", "(ending)"),
        ("subprocess.run(['true'], env={'SEED': str(other())})", "effect", "effects"),
    ],
)  # fmt: skip
@pytest.mark.sample(4)
def test_what_a_run_hands_over_is_compared(
    tmp_path: Path, body: str, name: str, column: str
) -> None:
    with recorded(tmp_path, DIFFERS.format(body=body)) as record:
        for _ in range(20):  # where one of few values is chosen, two runs may agree
            statement = verify(record.path)
            if statement.result != "PASS":
                break
    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert (statement.failure.name, statement.failure.columns) == (name, (column,))


@pytest.mark.fresh
@pytest.mark.integration
def test_a_variable_of_a_process_is_named(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        DIFFERS.format(body="subprocess.run(['true'], env={**os.environ, 'SEED': str(other())})"),
    )
    assert statement.failure is not None
    assert statement.failure.recorded.startswith("process.start: 'SEED=")
    assert statement.failure.replayed.startswith("process.start: 'SEED=")


@pytest.mark.integration
def test_a_returned_value_without_canonical_form_is_said_not_to_be_compared(tmp_path: Path) -> None:
    statement = verified(tmp_path, DIFFERS.format(body="return (n for n in range(3))"))
    assert statement.result == "PASS"
    assert any("returned value is not compared" in caveat for caveat in statement.caveats)


@pytest.mark.integration
@pytest.mark.parametrize(
    "source",
    [
        "def main(run):\n    rng = run.rng('a')\n    for tick in run.ticks(3):\n        rng.random()\n",
        "import time\ndef main(run):\n    time.time()\n",
        "def main(run):\n    pass\n",
    ],
)
def test_a_run_that_hands_nothing_over_does_not_pass(tmp_path: Path, source: str) -> None:
    statement = verified(tmp_path, source)
    assert statement.result == "UNKNOWN"
    assert statement.headline[0].startswith("nothing was compared")


@pytest.mark.integration
def test_a_crash_stands_in_the_headline(tmp_path: Path) -> None:
    statement = verified(tmp_path, DIFFERS.format(body="raise ValueError(f'no {object()}')"))
    assert statement.result == "PASS"
    assert statement.headline[0] == (
        "the program crashed, as it did while recording: exception, exit code 1, builtins.ValueError, "
        "no <object object at 0x...>, program.py:17 in main"
    )


@pytest.mark.integration
def test_a_crash_in_a_copied_folder_is_the_same_crash(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    write(tmp_path / "one", DIFFERS.format(body="warnings.warn('x'); open(__file__ + 'none')"))
    done = cli("record", "program.py:main", "--seed", "1", cwd=tmp_path / "one")
    assert "(exception)" in done.stderr
    shutil.move(tmp_path / "one", tmp_path / "two")
    assert verify(tmp_path / "two" / "program.twice").result == "PASS"


@pytest.mark.fresh
@pytest.mark.integration
def test_ignored_lines_are_not_compared_and_said(tmp_path: Path) -> None:
    body = "print('took', other(), 's'); print('total 3')"
    compared = verified(tmp_path, DIFFERS.format(body=body))
    ignored = verified(tmp_path, DIFFERS.format(body=body), ignored_output=("^took ",), force=True)
    assert compared.result == "FAIL"
    assert ignored.result == "PASS"
    assert (
        "lines of output that match '^took ' were not compared (--ignore-output)"
        in ignored.headline
    )


@pytest.mark.integration
def test_a_pattern_that_is_none_is_refused(tmp_path: Path) -> None:
    write(tmp_path, DIFFERS.format(body="pass"))
    for pattern in ("(", ".*"):
        done = cli(
            "record", "program.py:main", "--seed", "1", "--ignore-output", pattern, cwd=tmp_path
        )
        assert (done.returncode, done.stderr[:9]) == (2, "E-USE-001")
    with pytest.raises(UsageError):
        parse_ignored_output(["["])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_pieces_of_a_stream_compare_as_the_whole(size: int) -> None:
    text = (
        b"/a/b/x.py:3: SyntaxWarning: invalid escape\n  text = '\\d'\nkept 0x7fe0a1b2c3d4\n"
        b'  File "/my/folder/program.py", line 3\n/my/folder/data is gone\ntook 3 s\n'
        b" 50%| | 1/2 [00:00<00:01, 3.1it/s]\r 100%| | 2/2 [-00:01<00:00, -4.2it/s]\r\nlast"
    )
    lines = ComparedLines(("^took",), ("/my/folder/",), is_errors=True)
    compared = b"".join(lines.feed(text[at : at + size]) for at in range(0, len(text), size))
    compared += lines.peek_rest()
    assert (
        compared
        == b'kept 0x...\n  File "program.py", line 3\ndata is gone\n 100%| | 2/2 [...]\r\nlast'
    )
    assert compared == select_compared(text, ("^took",), ("/my/folder/",), is_errors=True)


def test_standard_output_is_compared_byte_by_byte() -> None:
    text = b"/my/folder/program.py 0x7fe0a1b2c3d4 \xff\0"
    assert select_compared(text, (), ("/my/folder/",), is_errors=False) == text


@pytest.mark.integration
def test_a_library_that_the_run_did_not_load_is_no_difference_of_environment(
    tmp_path: Path,
) -> None:
    with recorded(tmp_path, "import numpy\ndef main(run):\n    print('x')\n") as record:
        then = Fingerprint.from_json(record.identity["environment"])
        now = replace(then, libraries={**then.libraries, "polars": "0.0", "numpy": "0.0"})
        found = compare_environments(record, now, [])
    assert [each.what for each in found] == ["library numpy"]


def test_the_traceback_of_the_replay_is_shown(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def step():\n    print('well')\n")
    source = """
        import helper

        def main(run):
            helper.step()
    """
    with recorded(tmp_path, source) as record:
        path = record.path
    (tmp_path / "helper.py").write_text("def step():\n    raise ValueError('only now')\n")

    statement = verify(path, informational=True)

    assert statement.failure is not None
    assert statement.failure.traceback.endswith("ValueError: only now")
    assert "the replay raised" in statement.to_markdown()
    assert "traceback" in statement.to_json()["first_failure"]


def test_another_insertion_order_of_a_dict_stands_in_the_headline(tmp_path: Path) -> None:
    source = """
        def main(run):
            table, same = run.track("table", {}), run.track("same", {})
            kept = [object() for _ in range(12)]
            for tick in run.ticks(2):
                for key in sorted(range(12), key=lambda key: id(kept[key]) * 2654435761 % 65521):
                    table[key] = same[tick] = tick
        """
    statement = verified(tmp_path, source)
    assert statement.result == "PASS"
    assert statement.headline[0].startswith("the dicts of table hold the same items")


def test_a_variable_that_is_put_for_processes_is_compared(tmp_path: Path) -> None:
    body = "os.putenv('Q', str(other())); subprocess.run('true')"
    assert verified(tmp_path, DIFFERS.format(body=body)).result == "FAIL"
    body = "os.putenv('Q', '1'); os.unsetenv('R'); subprocess.run('true')"
    assert verified(tmp_path, DIFFERS.format(body=body), force=True).result == "PASS"


@pytest.mark.parametrize(("ending", "is_named"), [("", True), ("waits.communicate()", False)])
def test_a_process_that_outlives_the_run_is_named(
    ending: str, is_named: bool, tmp_path: Path
) -> None:
    source = f"""
        import subprocess

        def main(run):
            global waits
            waits = subprocess.Popen(["cat"], stdin=subprocess.PIPE)  # it ends with its pipe
            print("started")
            {ending}
        """
    statement = verified(tmp_path, source)
    assert statement.result == "PASS"
    assert (
        any("still running when the program ended" in each for each in statement.caveats)
        is is_named
    )


def test_threads_that_share_a_generator_leave_the_order_open(tmp_path: Path) -> None:
    source = """
        import random, threading, time

        def work():
            for _ in range(4):
                time.sleep(random.random() * 0.004)

        def main(run):
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            print("done")
        """
    with recorded(tmp_path, source) as record:
        for _ in range(20):  # the order may be the recorded one by chance
            statement = verify(record.path)
            assert statement.result in {"PASS", "UNKNOWN"}
            if statement.result == "UNKNOWN":
                assert statement.headline[0].startswith("order: a thread asked")
                return
    pytest.skip("the threads took the same order twenty times")


DIES = """
    import os, posix, resource, signal

    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(600):
            seen.append(tick)
            if tick == 520 and posix.access({later!r}, posix.F_OK):
                {dies}
"""


@pytest.mark.integration
@pytest.mark.parametrize(
    ("dies", "said"),
    [
        ("signal.raise_signal(signal.SIGKILL)", "signal SIGKILL"),
        ("posix._exit(7)", "exit code 7"),
    ],
)
def test_a_process_that_dies_in_a_replay_is_no_difference(
    tmp_path: Path, dies: str, said: str
) -> None:
    later = tmp_path / "later"
    with recorded(tmp_path, DIES.format(later=str(later), dies=dies)) as record:
        path = record.path
    later.touch()
    statement = verify(path)
    assert (statement.result, statement.exit_code, statement.failure) == ("UNKNOWN", 2, None)
    (reason,) = statement.decision.reasons
    assert reason.startswith("not judged: The process that executed the program died")
    assert f"{said}, after compare-point 512" in reason
    assert statement.decision.rule == "process-died"


READS_AT_THE_END = """
    import posix, time

    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(3):
            seen.append(tick)
        run.compare("last", 1)
        for _ in range(2 if posix.access({later!r}, posix.F_OK) else 5):
            time.time()
"""


@pytest.mark.integration
@pytest.mark.parametrize(("kind", "result"), [("bit-exact", "FAIL"), ("logical", "PASS")])
def test_reads_after_the_last_point_count_where_the_class_judges_them(
    tmp_path: Path, kind: str, result: str
) -> None:
    later = tmp_path / "later"
    with recorded(tmp_path, READS_AT_THE_END.format(later=str(later))) as record:
        path = record.path
    later.touch()
    statement = verify(path, predicate=Predicate.parse([kind]))
    assert statement.result == result
    if result == "FAIL":
        assert statement.failure is not None
        assert statement.failure.columns == ("effects",)
        assert "clock" in f"{statement.failure.recorded}{statement.failure.replayed}"


@pytest.mark.integration
@pytest.mark.parametrize("policy", ["existence", "ignore"])
def test_a_file_that_is_filled_by_chance_is_compared_as_its_policy_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    monkeypatch.chdir(tmp_path)
    filled = "def main(run):\n    open('model.txt', 'w').write(str(object()))\n    print('saved')\n"

    differs = verified(tmp_path, filled)
    found = verified(tmp_path, filled, file_policies=(("model.txt", policy),), force=True)

    assert differs.result == "FAIL"
    assert any("--file-policy model.txt=existence" in text for text in differs.suggestions())
    assert found.result == "PASS", found.to_markdown()
    assert any("files that match 'model.txt'" in line for line in found.headline)
