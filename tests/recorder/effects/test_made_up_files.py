"""Files that no disk holds: what the kernel says in them, and those whose names are drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import recorded
from twice import diagnose
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

KERNEL = """
        import os
        from pathlib import Path

        def read(mode, **options):
            with open("/proc/self/stat", mode, **options) as file:
                first = file.read()
                file.seek(0)
                return first, file.read(9), file.tell() == 9, type(file).__name__, file.name

        def main(run):
            for tick in run.ticks(2):
                print(Path("/proc/uptime").read_text(), read("r"), read("rb"), read("rb", buffering=0))
                print(Path("/proc/sys/kernel/random/uuid").read_bytes(), os.path.exists("/proc/self"))
                print(next(iter(open(f"/proc/{os.getpid()}/status"))))
            try:
                open("/proc/no-such")
            except FileNotFoundError as error:
                print(error)
    """


def test_what_the_kernel_says_in_files_is_recorded(tmp_path: Path) -> None:
    with recorded(tmp_path, KERNEL) as record:
        statement = verify(record.path)
        assert statement.result == "PASS", statement.to_json()
        output = record.printed()[0].decode()
    assert "'TextIOWrapper', '/proc/self/stat')" in output
    assert "'BufferedReader', '/proc/self/stat')" in output
    assert "Name:" in output
    assert "[Errno 2] No such file or directory: '/proc/no-such'" in output


def test_a_file_of_the_kernel_that_only_a_descriptor_reads_is_named(tmp_path: Path) -> None:
    source = """
        import os
        def main(run):
            os.close(os.open("/proc/self/stat", os.O_RDONLY))
    """
    with recorded(tmp_path, source) as record:
        statement = verify(record.path)
    assert statement.result in {"FAIL", "UNKNOWN"}
    assert "files.device" in str(statement.to_json())


TEMPORARY = """
        import os, tempfile, threading
        from pathlib import Path

        def work():
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "a").write_text("hello")
                return os.stat(Path(folder, "a")).st_size

        def main(run):
            for tick in run.ticks(2):
                threads = [threading.Thread(target=work) for _ in range(4)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                run.compare("size", work())
                with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
                    file.write("x")
                print(SHOWN)
    """


def test_temporary_files_have_the_same_names_in_two_recordings(tmp_path: Path) -> None:
    for name in "ab":
        recorded(tmp_path, TEMPORARY.replace("SHOWN", "1"), out=tmp_path / f"{name}.twice").close()
    found = diagnose(tmp_path / "a.twice", tmp_path / "b.twice")
    assert found.result == "same", found.to_text()


def test_drawn_names_are_drawn_again(tmp_path: Path) -> None:
    with recorded(tmp_path, TEMPORARY.replace("SHOWN", "file.name")) as record:
        statement = verify(record.path)
        assert statement.result == "PASS", statement.to_json()
        names = set(record.printed()[0].decode().split())
    assert len(names) == 2
    assert not any(Path(name).exists() for name in names)


def test_a_kernels_file_that_is_read_from_its_start_again_says_what_is_so_by_then(
    tmp_path: Path,
) -> None:
    source = """
    import time

    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(1):
            with open("/proc/uptime") as file:
                seen.append(file.read())
                time.sleep(0.05)
                file.seek(0)
                seen.append(file.read())
                assert seen[0] != seen[1]
    """
    with recorded(tmp_path, source) as record:
        assert record.ending is not None
        assert record.ending["how"] == "completed", record.ending
        path = record.path
    assert verify(path).result == "PASS"


def test_a_temporary_file_is_made_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "a"))
    recorded(tmp_path, TEMPORARY.replace("SHOWN", "file.name, tempfile.gettempdir()")).close()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "b"))

    statement = verify(tmp_path / "a.twice")

    assert statement.result == "PASS", statement.to_json()
    assert list((tmp_path / "a").iterdir()) == list((tmp_path / "b").iterdir()) == []
