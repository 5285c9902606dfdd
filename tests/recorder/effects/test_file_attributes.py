"""Extended attributes, file systems and descriptors: recorded, and never changed by a replay."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

import twice
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

CHANGES = {
    "chmod of a descriptor": "os.chmod(reading, 0o600)",
    "fchmod": "os.fchmod(reading, 0o600)",
    "utime of a descriptor": "os.utime(reading, (5, 5)); print(os.stat(reading).st_mtime)",
    "setxattr": "os.setxattr('there', 'user.mine', b'1'); print(os.getxattr('there', 'user.mine'))",
    "setxattr of a descriptor": "os.setxattr(reading, 'user.mine', b'1')",
    "mknod": "os.mknod('made'); print(os.path.exists('made'))",
}


@pytest.fixture
def recorded_here(tmp_path: Path) -> Callable[[str], Path]:
    def record(source: str) -> Path:
        program = tmp_path / "program.py"
        moved = f"import os\nos.chdir({str(tmp_path / 'here')!r})\n"
        program.write_text(moved + textwrap.dedent(source))
        shutil.rmtree(tmp_path / "here", ignore_errors=True)
        (tmp_path / "here").mkdir()
        (tmp_path / "here" / "there").write_text("a")
        with twice.record(str(program), seed=1, out=tmp_path / "a.twice") as made:
            assert made.ending is not None
            assert made.ending["how"] == "completed", made.ending
            return made.path

    return record


def as_it_was(here: Path) -> tuple[int, float, list[str], list[str]]:
    """Rights, time and attributes of the file, and what stands beside it."""
    status = (here / "there").stat()
    names = sorted(path.name for path in here.iterdir())
    return status.st_mode, status.st_mtime, os.listxattr(here / "there"), names


@pytest.mark.parametrize("way", CHANGES)
@pytest.mark.sample(3)
def test_a_change_by_a_door_of_its_own_happens_once(
    tmp_path: Path, recorded_here: Callable[[str], Path], way: str
) -> None:
    record = recorded_here(f"reading = os.open('there', os.O_RDONLY)\n{CHANGES[way]}")
    here = tmp_path / "here"
    before = as_found(here)
    for _ in range(2):
        assert verify(record).result == "PASS"
    assert as_it_was(here) == before


def as_found(here: Path) -> tuple[int, float, list[str], list[str]]:
    """Make the folder as the program found it anew."""
    shutil.rmtree(here)
    here.mkdir()
    (here / "there").write_text("a")
    return as_it_was(here)


def test_what_a_run_made_is_copied_in_replay_when_it_is_gone(
    tmp_path: Path, recorded_here: Callable[[str], Path]
) -> None:
    record = recorded_here(
        """
        import shutil
        os.makedirs("one/two")
        open("one/file", "w").close()
        shutil.copytree("one", "copied")
        shutil.copy2("one/file", "copy")
        print(sorted(os.listdir(".")), os.listxattr("copy"))
        """
    )
    as_found(tmp_path / "here")
    assert verify(record).result == "PASS"


def test_what_is_free_on_a_disk_is_as_it_was(
    tmp_path: Path, recorded_here: Callable[[str], Path]
) -> None:
    record = recorded_here(
        "import shutil\nprint(os.statvfs('.'), os.statvfs('.').f_fsid, shutil.disk_usage('.'))"
    )
    with (tmp_path / "here" / "large").open("wb") as large:
        large.write(b"x" * (4 << 20))
        large.flush()
        os.fsync(large.fileno())
        assert verify(record).result == "PASS"
