"""What a run reads from files is held against its digest, or served from the record."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import recorded
from twice.errors import DigestRefused, EffectRefused
from twice.foundation.digests import digest_bytes
from twice.foundation.encoding import encode
from twice.recorder.effects.files.carried_contents import CarriedContents
from twice.replayer.verify import verify

READS = (
    "open(FILE[0]).read()",
    "io.open(FILE[1], 'rb').read()",
    "FILE[2].read_text()",
    "by_descriptor(FILE[3])",
    "json.load(FILE[4].open())",
    "open(os.path.relpath(FILE[5])).read()",
    "open(os.fsencode(FILE[6]), 'rb').read()",
    "np.loadtxt(FILE[7])",
    "list(fileinput.input(FILE[8]))",
    "zipfile.is_zipfile(FILE[9])",
    "np.fromfile(FILE[10], dtype='u1')",
)
PROGRAM = """
import fileinput, io, json, os, zipfile
from pathlib import Path
import numpy as np

FILE = [Path(__file__).parent / f"in{number}.txt" for number in range(11)]

def by_descriptor(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 100)
    finally:
        os.close(descriptor)

def main(run):
    seen = run.track("seen", [])
    for tick in run.ticks(2):
        try:
            seen.append({way})
        except OSError as error:
            seen.append([error.errno, str(error.filename)])
"""


def program(way: str) -> str:
    return PROGRAM.replace("{way}", way)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    for number in range(len(READS)):
        (tmp_path / f"in{number}.txt").write_text("17")
    return tmp_path / "in0.txt"


@pytest.mark.integration
def test_however_a_file_is_read_it_is_held_against_the_record(tmp_path: Path, file: Path) -> None:
    with recorded(tmp_path, program(f"[{', '.join(READS)}]")) as record:
        path = record.path
        named = {value[0] for number, value in record.lenient_reads() if number == 122}  # type: ignore[index]
    assert named == {f"{{program}}/in{number}.txt" for number in range(len(READS))}
    assert verify(path).result == "PASS"
    file.write_text("18")
    statement = verify(path)

    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert (statement.failure.name, statement.failure.tick) == ("effect", 0)
    assert "files.read('{program}/in0.txt') -> blake3:" in statement.failure.recorded
    assert "files.read('{program}/in0.txt') -> blake3:" in statement.failure.replayed
    assert statement.failure.recorded != statement.failure.replayed


@pytest.mark.integration
def test_a_file_that_is_gone_is_named(tmp_path: Path, file: Path) -> None:
    with recorded(tmp_path, program(READS[0])) as record:
        path = record.path
    file.unlink()
    statement = verify(path)

    assert statement.failure is not None
    assert statement.failure.replayed == "files.read('{program}/in0.txt') -> no file is there"


@pytest.mark.integration
@pytest.mark.parametrize("then", ["changed", "gone", "a folder"])
def test_contents_are_served_when_the_record_carries_them(
    tmp_path: Path, file: Path, then: str
) -> None:
    with recorded(tmp_path, program(READS[0]), files="contents") as record:
        path = record.path
    file.unlink()
    if then == "changed":
        file.write_text("18")
    elif then == "a folder":
        file.mkdir()

    assert verify(path).result == "PASS"


@pytest.mark.integration
def test_without_a_policy_nothing_is_recorded_of_files(tmp_path: Path, file: Path) -> None:
    with recorded(tmp_path, program("len(open(FILE[0]).read())"), files="none") as record:
        path = record.path
        assert not [number for number, _ in record.lenient_reads() if 122 <= number < 180]
    file.write_text("18")

    assert verify(path).result == "PASS"


@pytest.mark.integration
def test_an_error_is_a_result(tmp_path: Path) -> None:
    with recorded(tmp_path, program(READS[0])) as record:
        path = record.path
    (tmp_path / "in0.txt").write_text("17")

    assert verify(path).result == "PASS"


@pytest.mark.integration
def test_a_folder_cannot_be_read_and_that_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "in0.txt").mkdir()
    with recorded(tmp_path, program(READS[0])) as record:
        assert verify(record.path).result == "PASS"


@pytest.mark.integration
def test_what_libraries_and_python_hold_is_no_input(tmp_path: Path) -> None:
    way = "len(open(np.__file__).read()) + len(open(os.__file__).read())"
    with recorded(tmp_path, program(way)) as record:
        assert not [value for number, value in record.lenient_reads() if number == 122]
        assert verify(record.path).result == "PASS"


@pytest.mark.integration
def test_a_file_is_found_again_where_its_program_moved_to(tmp_path: Path, file: Path) -> None:
    with recorded(tmp_path, program("open(FILE[0]).read()")) as record:
        path = record.path
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for item in (path, tmp_path / "program.py", file):
        item.rename(moved / item.name)

    assert verify(moved / path.name).result == "PASS"


@pytest.mark.integration
def test_what_a_process_left_for_the_run_to_read_is_carried(tmp_path: Path) -> None:
    source = """
    import os, subprocess, sys

    def main(run):
        for tick in run.ticks(1):
            subprocess.run([sys.executable, "-c", "open('made.txt', 'w').write('by another')"])
            print(open("made.txt").read())
            os.unlink("made.txt")
    """
    with recorded(tmp_path, source, show=False) as record:
        path = record.path
        assert list(record.contents())
    assert not (Path.cwd() / "made.txt").exists()
    assert verify(path).result == "PASS"


def test_a_record_that_names_contents_badly_writes_nowhere(tmp_path: Path) -> None:

    evil = encode(("blake3:../../escaped", 1, 0, b"x"))
    with pytest.raises(DigestRefused):
        CarriedContents(lambda: [evil], str(tmp_path / "kept" / "deep"))
    assert not (tmp_path / "escaped").exists()


def test_a_record_whose_content_was_exchanged_is_not_believed(tmp_path: Path) -> None:

    payload = encode((str(digest_bytes(b"true")), 4, 0, b"lies"))
    kept = CarriedContents(lambda: [payload], str(tmp_path / "kept"))
    assert kept.path(str(digest_bytes(b"true"))) is None


@pytest.mark.integration
def test_what_a_process_writes_for_the_run_is_no_work_of_the_run(tmp_path: Path) -> None:
    source = """
    import subprocess, sys
    from pathlib import Path

    OUT = Path(__file__).with_name("out.txt")

    def main(run):
        for tick in run.ticks(1):
            with OUT.open("w") as out:
                subprocess.run([sys.executable, "-c", "print('by another')"], stdout=out)
            print(OUT.read_text())
            OUT.unlink()
    """
    with recorded(tmp_path, source) as record:
        path = record.path
    assert verify(path).result == "PASS"


@pytest.mark.integration
def test_entropy_that_is_read_as_a_file_is_served(tmp_path: Path) -> None:
    way = "open('/dev/urandom', 'rb').read(8)"
    with recorded(tmp_path, program(way)) as record:
        path = record.path
        assert [value[0] for _, value in record.strict_reads()] == [8, 8]  # type: ignore[index]
    assert verify(path).result == "PASS"


@pytest.mark.integration
def test_entropy_from_a_descriptor_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EffectRefused, match=r"os\.open"):
        recorded(tmp_path, program("os.open('/dev/urandom', os.O_RDONLY)"))


@pytest.mark.integration
def test_what_a_file_was_is_served(tmp_path: Path, file: Path) -> None:
    way = (
        "[os.stat(FILE[0]).st_mtime_ns, os.path.getsize(FILE[0]), FILE[1].exists(), FILE[2].is_dir(),"
        " os.path.isfile('nothing'), os.access(FILE[3], os.R_OK), FILE[4].resolve().name,"
        " [(e.name, e.is_file(), e.stat().st_size) for e in os.scandir(FILE[0].parent / 'folder')],"
        " [names for _, *names in os.walk(FILE[0].parent / 'folder')]]"
    )
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "one").write_text("1")
    with recorded(tmp_path, program(way)) as record:
        path = record.path
    (tmp_path / "folder" / "one").unlink()
    (tmp_path / "folder").rmdir()
    file.write_text("much longer")
    (tmp_path / "in1.txt").unlink()
    (tmp_path / "in3.txt").chmod(0)
    (tmp_path / "nothing").touch()

    assert verify(path).result == "PASS"


@pytest.mark.integration
def test_threads_and_libraries_are_answered_by_the_file(tmp_path: Path, file: Path) -> None:
    source = """
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

    FILES = [Path(__file__).with_name(f"in{number}.txt") for number in range(8)] * 20

    def main(run):
        for tick in run.ticks(1):
            with ThreadPoolExecutor(8) as pool:
                run.compare("read", list(pool.map(Path.read_text, FILES)))
    """
    with recorded(tmp_path, source) as record:
        path = record.path
    assert verify(path).result == "PASS"
    file.write_text("18")
    assert verify(path).result == "FAIL"
