"""A replay without a world changes files in a folder over the real ones, as the real tree would change."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from programs import recorded
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.sources import LiveSource
from twice.recorder.program import PathNames, Program
from twice.replayer.verify import verify


@pytest.fixture
def here(tmp_path: Path) -> Path:
    made = tmp_path / "here"
    (made / "tree").mkdir(parents=True)
    (made / "log.txt").write_text("begun\n")
    (made / "tree" / "file").write_text("1")
    for link, target in {
        "link": "log.txt",
        "dangling": "nowhere",
        "tree/inner": "../log.txt",
        "tree/gone": "nowhere",
    }.items():
        (made / link).symlink_to(target)
    return made


def rename(files: Files, source: Path, target: Path) -> None:
    assert files.overlay is not None
    files.overlay.apply("rename", (str(source), str(target)), lambda _path: None)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    layer = EffectLayer(LiveSource(), None)
    return Files(layer, PathNames(Program("inline", "here")), scratch=str(tmp_path / "overlay"))


@pytest.mark.parametrize("name", ["link", "dangling"])
def test_a_real_link_that_is_renamed_stays_a_link(files: Files, here: Path, name: str) -> None:
    target = (here / name).readlink()
    rename(files, here / name, here / "moved")

    assert Path(files.at(str(here / "moved"))).readlink() == target
    assert files.overlay is not None
    assert files.overlay.names(str(here)).count(name) == 0
    assert (here / name).is_symlink(), "the real one stays"


def test_a_real_folder_with_links_is_renamed_whole(files: Files, here: Path) -> None:
    rename(files, here / "tree", here / "moved")

    moved = Path(files.at(str(here / "moved")))
    assert sorted(each.name for each in moved.iterdir()) == ["file", "gone", "inner"]
    assert (moved / "gone").readlink() == Path("nowhere")
    assert (moved / "inner").readlink() == Path("../log.txt")
    assert not os.path.lexists(files.at(str(here / "tree")))


def test_a_renamed_folder_keeps_the_changes_of_the_run_in_it(files: Files, here: Path) -> None:
    overlay = files.overlay
    assert overlay is not None
    Path(overlay.make_file(str(here / "tree" / "file"))).write_text("2")
    Path(overlay.make_file(str(here / "tree" / "new"))).write_text("3")
    overlay.remove(str(here / "tree" / "inner"))
    rename(files, here / "tree", here / "moved")

    moved = Path(files.at(str(here / "moved")))
    assert sorted(each.name for each in moved.iterdir()) == ["file", "gone", "new"]
    assert (moved / "file").read_text() == "2"


@pytest.mark.integration
def test_links_are_followed_where_a_replay_has_no_world(
    tmp_path: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
    import os, shutil
    from pathlib import Path

    def main(run):
        os.chdir(Path(__file__).parent / "here")
        os.rename("link", "moved")
        os.symlink("log.txt", "made")
        os.rename("tree", "other")
        print([open(name).read() for name in ("moved", "made", "other/inner", "other/file")])
        shutil.copytree("other", "copy", symlinks=True)
        shutil.rmtree("other")
        print(os.readlink("copy/gone"), open("copy/inner").read())
        open("made", "a").write("more")
        print(open("made").read())
        os.chmod("made", 0o600)
    """
    before = tmp_path / "before"
    shutil.copytree(here, before, symlinks=True)
    with recorded(tmp_path, source) as record:
        path = record.path
    shutil.rmtree(here)
    before.rename(here)
    monkeypatch.setenv("TWICE_WITHOUT", "world")
    statement = verify(path)

    assert statement.failure is None, statement
    assert (here / "log.txt").read_text() == "begun\n"
    assert stat.S_IMODE((here / "log.txt").stat().st_mode) != 0o600


def test_a_link_that_a_replay_makes_leads_to_no_real_file(files: Files, here: Path) -> None:
    overlay, log, made = files.overlay, here / "log.txt", str(here / "made")
    assert overlay is not None
    overlay.apply("symlink", (made,), lambda at: os.symlink(log, at))
    overlay.apply("symlink", (str(here / "folder"),), lambda at: os.symlink(here, at))
    os.close(overlay.open_as_world(made, os.O_WRONLY | os.O_TRUNC, 0o600))
    inner = files.places.of(str(here / "folder" / "tree" / "file"))
    overlay.apply("chmod", (made,), lambda at: Path(at).chmod(0o600))

    assert Path(files.target(made)).read_text() == ""
    assert log.read_text() == "begun\n"
    assert stat.S_IMODE(log.stat().st_mode) != 0o600
    assert inner == str(here / "tree" / "file")
