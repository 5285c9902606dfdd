"""What is printed is captured at the descriptor, whoever prints it, and compared cumulatively."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

import twice
from programs import cli, recorded, verified, write
from twice.foundation.digests import Algorithm
from twice.recorder.output import CapturedFile, ComparedLines, select_compared
from twice.recorder.record_form import OUTPUT
from twice.recorder.redaction.redaction import Redaction
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify

LOUD = """
    import os, subprocess, sys

    def main(run):
        print("constructed")
        for tick in run.ticks(3):
            print("printed", tick)
            sys.stdout.flush()
            os.write(1, b"written %d\\n" % tick)
            subprocess.run(["echo", f"echoed {tick}"], check=True)
            print("complaint", tick, file=sys.stderr)
            sys.stdout.write("no newline ")
"""
PRINTED = "constructed\n" + "".join(
    f"{'no newline ' if at else ''}printed {at}\nwritten {at}\nechoed {at}\n" for at in range(3)
)


@pytest.mark.integration
def test_print_writes_and_subprocesses_are_captured_in_order(tmp_path: Path) -> None:
    statement = verified(tmp_path, LOUD)
    assert statement.result == "PASS"
    with RunRecord.open(statement.path) as record:
        output, errors = record.printed()
        assert output.decode() == PRINTED + "no newline "
        assert errors.decode() == "complaint 0\ncomplaint 1\ncomplaint 2\n"
        assert record.printed(before_point=1)[0] == b"constructed\n"
        assert record.ending is not None
        assert record.ending["printed"]["output"] == {"bytes": len(output), "lines": 10}


UNEVEN = """
    import os, sys, time
    from pathlib import Path

    LATER = __import__("posix").access(Path(__file__).parent / "later", 0)

    def main(run):
        for tick in run.ticks(3):
            {body}
"""


def later(folder: Path, body: str, **options: object):
    with recorded(folder, UNEVEN.format(body=body), force=True, **options) as record:
        (folder / "later").touch()
        statement = verify(record.path)
        (folder / "later").unlink()
    return statement


@pytest.mark.integration
def test_how_writes_are_cut_does_not_matter_and_what_is_written_does(tmp_path: Path) -> None:
    cut = later(
        tmp_path,
        '[os.write(1, b"%d" % at) for at in range(9)] if LATER else os.write(1, b"012345678")',
    )
    assert cut.result == "PASS"
    other = later(tmp_path, 'print("same" if tick < 2 or not LATER else "other")')
    assert other.result == "FAIL"
    assert other.failure is not None
    assert (other.failure.tick, other.failure.columns) == (2, ("output",))


@pytest.mark.integration
def test_standard_error_is_compared_unless_it_is_ignored(tmp_path: Path) -> None:
    body = "print('the same'); print(LATER, file=sys.stderr)"
    compared = later(tmp_path, body)
    assert compared.result == "FAIL"
    assert compared.failure is not None
    assert compared.failure.columns == ("output",)
    assert compared.failure.recorded == "standard error, line 1: False"
    ignored = later(tmp_path, body, compare_errors=False)
    assert ignored.result == "PASS"
    assert "standard error was not compared (--ignore-errors)" in ignored.headline


@pytest.mark.integration
def test_a_program_that_closes_its_output_is_still_recorded(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import os, sys

        def main(run):
            for tick in run.ticks(3):
                if tick == 1:
                    sys.stdout.close()
                os.write(1, b"x")
        """,
    )
    assert statement.result == "PASS"
    with RunRecord.open(statement.path) as record:
        assert record.printed()[0] == b"xxx"


@pytest.mark.integration
def test_output_is_passed_on_to_whoever_records(tmp_path: Path) -> None:
    program = write(tmp_path, LOUD)
    done = cli("record", program, "--seed", 1, "-o", tmp_path / "a.twice")
    assert (done.returncode, done.stdout) == (0, PRINTED + "no newline ")
    assert "complaint 2\n" in done.stderr
    quiet = cli("record", program, "--seed", 1, "-o", tmp_path / "b.twice", "--quiet")
    assert (quiet.returncode, quiet.stdout) == (0, "")


@pytest.mark.integration
def test_a_segment_counts_what_was_printed_before_it(tmp_path: Path) -> None:
    from twice.recorder.cadence import Cadence

    with recorded(tmp_path, LOUD, cadence=Cadence("tick", 1)) as record:
        part = verify(record.path, first=2)
        assert (part.result, part.failure) == ("PARTIAL", None)


LATE = """
import sys

class Meter:
    def __init__(self, stream):
        self.stream = stream

    def __del__(self):
        self.stream.write("last reading\\n")
        self.stream.flush()

sys.modules["meter"] = Meter(sys.{stream})
print("measuring")
"""


@pytest.mark.integration
@pytest.mark.parametrize(("stream", "name"), [("stdout", "output"), ("stderr", "error")])
def test_output_while_the_interpreter_ends_is_a_caveat_of_the_record(
    tmp_path: Path, stream: str, name: str
) -> None:
    """The interpreter of the recording has to end."""
    (tmp_path / "late.py").write_text(LATE.format(stream=stream))
    out = tmp_path / "a.twice"
    with twice.record(f"{tmp_path}/late.py", seed=1, out=out) as record:
        record.reader.check()
        assert record.printed()[0] == b"measuring\n"
        caveats = record.ending["caveats"]
        assert [each for each in caveats if each.startswith(f"13 bytes to standard {name} came")]

    verified = verify(out)

    assert verified.result == "PASS"
    assert {*caveats} <= {*verified.caveats}
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".partial"] == []


COPIES = """
    import os, sys

    def main(run):
        for tick in run.ticks(1):
            print("before", flush=True)
            made = os.memfd_create("report")
            os.write(made, b"0123456789")
            print(os.sendfile(1, made, 2, 5), flush=True)
            os.lseek(made, 7, os.SEEK_SET)
            print(os.sendfile(1, made, None, 100), os.lseek(made, 0, os.SEEK_CUR), flush=True)
            try:
                os.sendfile(1, 999, 0, 1)
            except OSError as error:
                print(error.errno)
"""


@pytest.mark.integration
def test_what_the_kernel_copies_to_standard_output_is_captured(tmp_path: Path) -> None:
    verification = verified(tmp_path, COPIES)

    assert verification.result == "PASS"
    with RunRecord.open(verification.path) as record:
        assert record.printed()[0] == b"before\n234565\n7893 10\n9\n"


def test_a_captured_file_counts_bytes_and_lines_once() -> None:
    with tempfile.TemporaryFile() as file:
        captured = CapturedFile(file.fileno(), Algorithm.BLAKE3, Redaction().file(OUTPUT))
        nothing = captured.digest
        os.write(file.fileno(), b"one\ntwo")
        assert captured.advance() == b"one\ntwo"
        assert captured.advance() == b""
        os.write(file.fileno(), b"\n")
        assert captured.advance() == b"\n"
        assert (captured.size, captured.lines) == (8, 2)
        whole = captured.digest
        captured.restart(b"one\ntwo\n")
        assert (captured.digest, captured.size) == (whole, 8)
        captured.restart(b"")
        assert captured.digest == nothing


@pytest.mark.integration
def test_a_descriptor_that_points_elsewhere_for_a_while_or_is_closed_does_no_harm(
    tmp_path: Path,
) -> None:
    statement = verified(
        tmp_path,
        """
        import os, sys, tempfile

        def main(run):
            print("before", flush=True)
            kept = os.dup(1)
            for tick in run.ticks(4):
                if tick == 1:
                    with open(tempfile.mktemp(), "w") as file:
                        os.dup2(file.fileno(), 1)
                    print("elsewhere" * 99, flush=True)
                if tick == 2:
                    os.dup2(kept, 1)
                    print("after", flush=True)
                if tick == 3:
                    os.close(1)
        """,
    )
    assert (statement.result, statement.failure) == ("PASS", None)
    with RunRecord.open(statement.path) as record:
        assert record.printed()[0] == b"before\nafter\n"


@pytest.mark.integration
@pytest.mark.parametrize(
    ("last", "was", "now"),
    [
        ("print('b', 2)", "line 2: b 1", "line 2: b 2"),
        ("pass", "line 2: b 1", "nothing more"),
        ("print('b 1', 'c', sep=chr(10))", "nothing more", "line 3: c"),
    ],
)
def test_the_first_line_that_differs_is_shown(
    tmp_path: Path, last: str, was: str, now: str
) -> None:
    source = "def main(run):\n    for tick in run.ticks(1):\n        print('a')\n        LAST\n"
    recorded(tmp_path, source.replace("LAST", "print('b', 1)")).close()
    write(tmp_path, source.replace("LAST", last))

    failure = verify(tmp_path / "a.twice", informational=True).failure

    assert failure is not None
    assert (failure.columns, failure.recorded, failure.replayed) == (("output",), was, now)


STACK = b"""Stack:
  File "/a/program.py", line 3, in <module>
  File "/x/twice/recorder/__main__.py", line 28, in <module>
    serve(1)
  File "/x/twice/worker/fork_server.py", line 8, in f
    again()
  [Previous line repeated 3 more times]
  File "/a/program.py", line 9, in main
result 1
"""


@pytest.mark.parametrize("size", [1, 7, 60, 1000])
def test_functions_of_the_recorder_in_a_printed_stack_are_not_compared(size: int) -> None:
    lines = ComparedLines()
    pieces = [lines.feed(STACK[at : at + size]) for at in range(0, len(STACK), size)]

    kept = [line for line in STACK.splitlines(keepends=True) if b"program" in line]
    assert b"".join(pieces) == b"".join([b"Stack:\n", *kept, b"result 1\n"])


def test_a_line_without_an_end_is_not_kept() -> None:
    lines, piece = ComparedLines(), b"." * 5000

    assert b"".join(lines.feed(piece) for _ in range(4)) + lines.peek_rest() == piece * 4
    assert len(lines.peek_rest()) < len(piece) * 2


@pytest.mark.parametrize("tail", ["0x7fbb69ea3890>", "x7fbb69ea3890>", "a3890>, 'ann']"])
def test_an_address_is_not_compared_though_a_short_text_cuts_it(tail: str) -> None:
    lines = [ComparedLines(is_errors=True) for _ in range(2)]
    texts = [
        f"Exception in callback done([<app.Pro...{each}\n"
        for each in (tail, tail.replace("3", "4"))
    ]

    compared = [each.feed(text.encode()) for each, text in zip(lines, texts, strict=True)]

    assert compared[0] == compared[1]
    assert b"0x..." in compared[0]


def test_addresses_as_anyio_writes_them_are_compared_nowhere_but_on_standard_output() -> None:
    texts = [
        f"CancelledError: Cancelled via cancel scope {each}".encode()
        for each in ("7f2b8c3d10", "7fe0001210")
    ]
    other = b"CancelledError: Cancelled via cancel scope 2"

    def select(text: bytes, *, is_errors: bool) -> bytes:
        return select_compared(text, (), (), is_errors=is_errors)

    assert len({select(each, is_errors=True) for each in texts}) == 1
    assert len({select(each, is_errors=False) for each in texts}) == 2
    assert select(other, is_errors=True) == other
