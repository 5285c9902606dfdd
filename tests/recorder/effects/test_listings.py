"""A folder is listed in replay as it was listed while recording, whatever stands there now."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from programs import recorded, write
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

WAYS = {
    "listdir": "os.listdir(FOLDER)",
    "bytes": "os.listdir(os.fsencode(FOLDER))",
    "scandir": "[entry.name for entry in os.scandir(FOLDER)]",
    "walk": "[names for _, _, names in os.walk(FOLDER)]",
    "glob": "[os.path.basename(path) for path in glob.glob(str(FOLDER / '*'))]",
    "iterdir": "[path.name for path in FOLDER.iterdir()]",
    "pathlib": "[path.name for path in FOLDER.glob('*')]",
}
PROGRAM = """
import glob, os
from pathlib import Path

FOLDER = Path(__file__).parent / "folder"

def main(run):
    seen = run.track("seen", [])
    for tick in run.ticks(2):
        seen.append({way})
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    for name in ("a", "b", "c"):
        (made / name).touch()
    return made


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.sample(3)
def test_a_listing_is_served_from_the_record(tmp_path: Path, folder: Path, way: str) -> None:
    with recorded(tmp_path, PROGRAM.format(way=WAYS[way])) as record:
        path = record.path
    (folder / "d").touch()
    (folder / "a").rename(folder / "e")

    assert verify(path).result == "PASS"


@pytest.mark.parametrize("way", [*WAYS, "rglob"])
@pytest.mark.sample(3)
def test_a_name_that_is_no_text_is_given_as_it_was(tmp_path: Path, folder: Path, way: str) -> None:
    ways = {**WAYS, "rglob": "[str(path) for path in FOLDER.rglob('*')]"}
    source = PROGRAM.replace("seen.append({way})", "seen.append(shown({way}))").format(
        way=ways[way]
    ) + (
        "\ndef shown(names):\n"
        "    text = ascii(names)\n"
        f"    assert {'xff' if way == 'bytes' else 'udcff'!r} in text, text\n"
        "    return text\n"
    )
    odd = Path(os.fsdecode(b"\xff\xc3(.txt"))
    (folder / odd).touch()
    with recorded(tmp_path, source) as record:
        path = record.path
    (folder / odd).unlink()

    assert verify(path).result == "PASS"


def test_files_whose_names_are_no_text_are_files_like_others(tmp_path: Path, folder: Path) -> None:
    source = """
        import os
        from pathlib import Path

        FOLDER = Path(__file__).parent / "folder"

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(1):
                (name,) = [name for name in os.listdir(FOLDER) if "\\udcff" in name]
                path = FOLDER / name
                seen.append([path.read_text(), path.stat().st_size, path.exists()])
                fresh = Path(f"{path}\\udcfe")
                fresh.write_text("mine")
                fresh.rename(f"{fresh}\\udcfd")
                os.symlink(path, fresh)
                seen.append(ascii([os.readlink(fresh), os.path.realpath(path), os.listdir(FOLDER)]))
                try:
                    os.listdir(FOLDER / "\\udcfc")
                except FileNotFoundError as error:
                    seen.append(ascii(str(error.filename)))
    """
    odd = folder / os.fsdecode(b"\xff.txt")
    odd.write_text("what it holds")
    with recorded(tmp_path, source) as record:
        path = record.path
    for each in folder.iterdir():
        if each != odd:
            each.unlink()

    assert verify(path).result == "PASS"


def test_a_process_is_handed_a_name_that_is_no_text(tmp_path: Path, folder: Path) -> None:
    source = """
        import os, subprocess
        from pathlib import Path

        FOLDER = Path(__file__).parent / "folder"

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(1):
                (name,) = [name for name in os.listdir(FOLDER) if "\\udcff" in name]
                done = subprocess.run(["cat", FOLDER / name], capture_output=True)
                seen.append(done.stdout)
                try:
                    subprocess.run([name, "-a"], env={**os.environ, name: ""})
                except FileNotFoundError as error:
                    seen.append(ascii(error.filename))
    """
    (folder / os.fsdecode(b"\xff.txt")).write_text("what it holds")
    with recorded(tmp_path, source) as record:
        path = record.path

    assert verify(path).result == "PASS"


def test_the_folder_of_a_program_may_move_with_it(tmp_path: Path, folder: Path) -> None:
    with recorded(tmp_path, PROGRAM.format(way=WAYS["listdir"])) as record:
        named = [value[0] for _, value in record.strict_reads()]
        path = record.path
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for item in (path, tmp_path / "program.py", folder):
        item.rename(moved / item.name)

    assert named == ["{program}/folder"] * 2
    assert verify(moved / path.name).result == "PASS"


def test_a_folder_that_could_not_be_listed_cannot_be_listed_again(tmp_path: Path) -> None:
    way = "missing(FOLDER)"
    source = PROGRAM.format(way=way) + (
        "\ndef missing(folder):\n"
        "    try:\n        return os.listdir(folder)\n"
        "    except FileNotFoundError as error:\n        return error.errno, str(error.filename)\n"
    )
    with recorded(tmp_path, source) as record:
        path = record.path
    (tmp_path / "folder").mkdir()

    assert verify(path).result == "PASS"


def test_another_folder_is_another_question(tmp_path: Path, folder: Path) -> None:
    with recorded(tmp_path, PROGRAM.format(way=WAYS["listdir"])) as record:
        path = record.path
    write(tmp_path, PROGRAM.format(way="os.listdir(FOLDER.parent)"))
    statement = verify(path, informational=True)

    assert statement.failure is not None
    assert (statement.failure.name, statement.failure.tick) == ("effect", 0)
    assert "files.listdir" in statement.failure.replayed


def test_what_libraries_list_for_themselves_is_not_recorded(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import shutil, tempfile

        def main(run):
            for tick in run.ticks(2):
                shutil.rmtree(tempfile.mkdtemp())
        """,
    ) as record:
        path = record.path
        assert record.ending is not None
        assert "files.scandir" not in record.ending["effects"]["strict"]
    assert verify(path).result == "PASS"
    with RunRecord.open(path) as again:
        again.reader.check()
