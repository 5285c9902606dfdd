"""Two runs that agree at every compare-point and leave something else behind are not the same."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import pytest

import twice
from programs import cli, write
from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.divergence import Divergence

pytestmark = pytest.mark.integration


def diagnosed(folder: Path, source: str, *labels: str, before: str | None = None) -> Divergence:
    """Record a program with two values of ``LABEL`` and compare the records."""
    program = write(folder, source)
    for side, label in zip("ab", labels, strict=True):
        if before is not None:
            (folder / "out.txt").write_text(before)
        twice.record(
            program, seed=1, out=folder / f"{side}.twice", env={"LABEL": label}, force=True
        ).close()
    return diagnose(folder / "a.twice", folder / "b.twice")


WRITERS = {
    "Python": 'open("out.txt", "w").write(label)',
    "C": 'sqlite3.connect("out.txt").executescript(f"create table t as select {label!r} v")',
    "a child": 'subprocess.run(["sh", "-c", "printf %s $LABEL > out.txt"])',
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.sample(1)
def test_a_file_that_differs_is_named(writer: str, tmp_path: Path) -> None:
    source = f"""
        import os, sqlite3, subprocess
        def main(run):
            os.chdir({str(tmp_path)!r})
            label = os.environ["LABEL"]
            {WRITERS[writer]}
    """

    found = diagnosed(tmp_path, source, "one", "two", before="")

    # A child has read the variable by itself.
    assert found.result == ("unlocalised" if writer == "a child" else "localised")
    assert found.exit_code == 1
    assert found.attribution[0].channel.value == "effects"
    assert [row.what for row in found.outcome] == ["file out.txt"]
    assert "differ in what they leave: file out.txt" in found.headline()
    assert json.loads(json.dumps(found.to_json()))["outcome"][0]["what"] == "file out.txt"


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ('return os.environ["LABEL"]', "returned value"),
        ('run.summary("loss", len(os.environ["LABEL"]))', "summary loss"),
        ('raise SystemExit(len(os.environ["LABEL"]))', "ending"),
    ],
)
@pytest.mark.sample(1)
def test_another_result_or_ending_is_named(body: str, what: str, tmp_path: Path) -> None:
    source = f"import os\ndef main(run):\n    {body}\n"

    found = diagnosed(tmp_path, source, "one", "three")

    assert (found.result, found.exit_code) == ("localised", 1)
    assert found.operation is not None
    assert found.operation.name == "environment.variable"
    assert [row.what for row in found.outcome] == [what]


READERS = {
    "the only read": 'open("out.txt", "w").write(str(time.time_ns()))  # it',
    "behind reads that decide nothing": """
    for _ in range(9):
        if time.perf_counter() < 0:
            return
    name = os.urandom(8).hex()  # it
    open("out.txt", "w").write(name)
    assert time.time() > 0
    """,
    # A start of run b and an end of run a would be in the wrong order.
    "beside two times that are compared": """
    began = time.time()
    for _ in run.ticks(3):
        pass
    is_odd = time.time() < began
    open("out.txt", "w").write(f"{is_odd} {uuid.uuid4()}")  # it
    """,
    "in a function, before a loop": """
    def stamp():
        return time.time_ns()  # it
    made = stamp()
    for _ in run.ticks(3):
        time.monotonic()
    open("out.txt", "w").write(f"{made}")
    """,
}


@pytest.mark.parametrize("body", READERS.values(), ids=READERS)
@pytest.mark.sample(2)
def test_the_read_that_decides_a_file_is_named_and_no_other(body: str, tmp_path: Path) -> None:
    body = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    source = f"import os, time, uuid\ndef main(run):\n    os.chdir({str(tmp_path)!r})\n{body}\n"

    found = diagnosed(tmp_path, source, "one", "one")

    assert found.operation is not None
    assert (found.result, found.exit_code) == ("localised", 1)
    assert found.operation.code.endswith("# it")
    assert found.operation.a != found.operation.b
    assert [(each.channel.value, each.confirmed) for each in found.attribution] == [
        ("effects", True)
    ]


@pytest.mark.heavy
def test_two_times_of_one_clock_are_candidates_where_only_one_decides(tmp_path: Path) -> None:
    source = f"""
        import os, time
        def main(run):
            os.chdir({str(tmp_path)!r})
            time.time()
            began = time.time()
            is_odd = time.time() < began
            stamp = time.time()  # it
            open("out.txt", "w").write(f"{{is_odd}} {{stamp}}")
    """

    found = diagnosed(tmp_path, source, "one", "one")

    assert (found.result, found.operation) == ("candidates", None)
    assert any(each.code.endswith("# it") for each in found.candidates)


def test_reads_are_not_blamed_for_what_was_not_read(tmp_path: Path) -> None:
    source = f"""
        import ctypes, os, time
        LIBC = ctypes.CDLL(None)
        def main(run):
            os.chdir({str(tmp_path)!r})
            if time.perf_counter() < 0:
                return
            drawn = ctypes.create_string_buffer(8)
            LIBC.getrandom(drawn, 8, 0)
            open("out.txt", "wb").write(drawn.raw)
    """

    found = diagnosed(tmp_path, source, "one", "one")

    assert (found.result, found.operation, list(found.attribution)) == ("unlocalised", None, [])
    assert any("given its own reads, does not leave the same" in each for each in found.evidence)


def test_a_file_has_one_name_where_one_recording_alone_had_a_supervisor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "out.txt")
    source = f'import os\ndef main(run):\n    open({path!r}, "w").write(os.environ["LABEL"])\n'
    program = write(tmp_path, source)
    for side, tiers in (("a", ""), ("b", "supervisor")):
        monkeypatch.setenv("TWICE_WITHOUT", tiers)
        out = tmp_path / f"{side}.twice"
        twice.record(program, seed=1, out=out, env={"LABEL": side}).close()
        (tmp_path / "out.txt").unlink()
    monkeypatch.delenv("TWICE_WITHOUT")

    found = diagnose(tmp_path / "a.twice", tmp_path / "b.twice")

    assert [row.what for row in found.outcome] == ["file out.txt"]


def test_files_that_are_added_to_are_compared_by_what_was_added(tmp_path: Path) -> None:
    path = str(tmp_path / "out.txt")
    source = f'import os\ndef main(run):\n    open({path!r}, "a").write(os.environ["LABEL"])\n'

    again = diagnosed(tmp_path, source, "one", "one")
    other = diagnosed(tmp_path, source, "one", "three", before="begun ")

    assert (again.result, list(again.outcome)) == ("same", [])
    assert "out.txt is not compared: the runs found other content in it" in again.caveats
    assert [row.what for row in other.outcome] == ["file out.txt"]


def test_runs_that_leave_the_same_are_the_same(tmp_path: Path) -> None:
    source = f'import os\ndef main(run):\n    os.environ["LABEL"]\n    open({str(tmp_path / "out.txt")!r}, "w").write("x")\n'

    found = diagnosed(tmp_path, source, "one", "two")

    assert (found.result, found.exit_code, list(found.outcome)) == ("same", 0, [])


@pytest.mark.heavy
def test_a_factor_that_moves_a_file_alone_is_named(tmp_path: Path) -> None:
    source = 'def main(run):\n    open("out.csv", "w").write(",".join({"a", "b", "c", "d", "e"}))\n'
    program = write(tmp_path, source)

    done = cli("vary", program, "--seed", 1, "--factor", "hash seed", cwd=tmp_path)

    assert done.returncode == 1, done.stdout
    assert "depends on hash seed" in done.stdout
    assert "file out.csv" in done.stdout
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("LIBC.write(LIBC.open(b'out.bin', os.O_WRONLY | os.O_CREAT, 0o600), drawn, 8)", "out.bin"),
        ("return drawn.raw", "returned value"),
        ("run.summary('loss', int.from_bytes(drawn.raw[:6], 'little'))", "summary loss"),
    ],
)
@pytest.mark.sample(1)
def test_a_failed_verification_of_an_outcome_is_not_called_agreement(
    body: str, what: str, tmp_path: Path
) -> None:
    program = write(
        tmp_path,
        f"""
        import ctypes, os
        LIBC = ctypes.CDLL(None)
        def main(run):
            drawn = ctypes.create_string_buffer(8)
            LIBC.getrandom(drawn, 8, 0)
            print("drawn")
            {body}
        """,
    )
    record = cli("record", program, "--seed", 1, "-o", "a.twice", cwd=tmp_path)
    assert record.returncode == 0

    done = cli("verify", "a.twice", "--diagnose", cwd=tmp_path)

    assert done.returncode == 1, done.stdout
    assert "agrees with itself" not in done.stdout + done.stderr
    assert "every compare-point agreed" in done.stdout
    assert what in done.stdout


def test_names_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    name = str(tmp_path / "out\x1b[31m\u202e\n::error::x")
    source = f'import os\ndef main(run):\n    open({name!r}, "w").write(os.environ["LABEL"])\n'

    text = diagnosed(tmp_path, source, "one", "two").to_text()

    assert "out\\x1b[31m\\u202e\\n::error::x" in text
    assert all(line.isprintable() and not line.startswith("::") for line in text.splitlines())


def test_outputs_that_differ_are_shown_as_hexadecimal_digests(tmp_path: Path) -> None:
    source = 'import os\ndef main(run):\n    print(os.environ["LABEL"])\n'

    operation = diagnosed(tmp_path, source, "one", "three").to_json()["operation"]

    assert operation["name"] == "output"
    assert re.fullmatch("'[0-9a-f]{32}'", operation["a"])
    assert re.fullmatch("'[0-9a-f]{32}'", operation["b"])
