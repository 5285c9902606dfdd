"""What a run writes happens once: a replay keeps it away from the real place, and compares it."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from programs import recorded, write
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

WRITES = {
    "open": "open('out.txt', 'w').write('a')",
    "closed": "closed()",
    "append": "open('log.txt', 'a').write('line\\n')",
    "append and read": "open('log.txt', 'a+').write('line\\n'); print(open('log.txt').read())",
    "append then read": "open('log.txt', 'a').write('line\\n'); print(open('log.txt').read())",
    "in place": "f = open('log.txt', 'r+'); f.seek(1); f.write('X'); f.close(); print(open('log.txt').read())",
    "read and change": "text = open('log.txt').read(); open('log.txt', 'w').write(text + 'more')",
    "exclusive": "open('new.txt', 'x').write('a')",
    "write and read": "open('out.txt', 'w').write('a'); print(open('out.txt').read())",
    "pathlib": "Path('out.txt').write_text('a'); print(Path('out.txt').read_bytes())",
    "atomic": "open('out.tmp', 'w').write('a'); os.replace('out.tmp', 'log.txt'); print(open('log.txt').read())",
    "rename": "os.rename('log.txt', 'moved.txt'); print(open('moved.txt').read())",
    "unlink": "print(open('log.txt').read()); os.unlink('log.txt')",
    "folders": "os.makedirs('a/b'); open('a/b/c', 'w').write('x'); os.remove('a/b/c'); os.removedirs('a/b')",
    "left folders": "os.makedirs('a/b'); open('a/b/c', 'w').write('x'); print(open('a/b/c').read())",
    "rmtree": "os.makedirs('a/b'); open('a/b/c', 'w').write('x'); shutil.rmtree('a')",
    "rmtree of what was there": "shutil.rmtree('folder')",
    "copy": "shutil.copy2('log.txt', 'out.txt'); print(open('out.txt').read())",
    "move": "shutil.move('log.txt', 'out.txt'); print(open('out.txt').read())",
    "numpy": "np.save('out.npy', np.arange(5)); print(np.load('out.npy'))",
    "pickle": "pickle.dump({1: 2}, open('out.pkl', 'wb')); print(pickle.load(open('out.pkl', 'rb')))",
    "logging": "logged()",
    "descriptor": "by_descriptor()",
    "fdopen": "os.fdopen(os.open('out.txt', os.O_WRONLY | os.O_CREAT), 'w').write('a')",
    "truncate": "os.truncate('log.txt', 2); print(open('log.txt').read())",
    "chmod": "open('out.txt', 'w').close(); os.chmod('out.txt', 0o600)",
    "link": "os.link('log.txt', 'out.txt'); print(open('out.txt').read())",
    "symlink": "os.symlink('log.txt', 'out.txt')",
    "zip": "zipped()",
    "archives of what was written": "archived()",
    "not permitted": "refused('folder')",
    "no folder": "refused('nowhere/out.txt')",
    "never closed": "run.kept = open('out.txt', 'w'); run.kept.write('a')",
    "unbuffered": "f = open('out.bin', 'wb', 0); f.write(b'a'); f.close()",
    "lines": "f = open('out.txt', 'w', 1); f.write('a\\n'); print(open('out.txt').read()); f.close()",
}
PROGRAM = """
import logging, os, pickle, shutil, tarfile, zipfile
from pathlib import Path
import numpy as np

def closed():
    with open('out.txt', 'w') as file:
        file.write('a')

def logged():
    handler = logging.FileHandler('log.txt')
    logger = logging.getLogger('mine')
    logger.addHandler(handler)
    logger.warning('hello')
    handler.close()

def by_descriptor():
    descriptor = os.open('out.txt', os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    os.write(descriptor, b'abc')
    os.lseek(descriptor, 0, 0)
    print(os.read(descriptor, 10))
    os.close(descriptor)

def zipped():
    with zipfile.ZipFile('out.zip', 'w') as out:
        out.writestr(zipfile.ZipInfo('a'), 'b')
    print(zipfile.ZipFile('out.zip').read('a'))

def archived():
    Path('out.txt').write_text('a')
    with tarfile.open('out.tar', 'w') as out:
        out.add('out.txt')

def refused(path):
    try:
        open(path, 'w')
    except OSError as error:
        print(error.errno, error.filename)

class Run: pass
run = Run()

def begin(number):
    os.chdir(Path(__file__).parent / f'here{number}')

"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    made = tmp_path / "here"
    (made / "folder").mkdir(parents=True)
    (made / "folder" / "one").write_text("1")
    (made / "log.txt").write_text("begun\n")
    return made


def seen(folder: Path) -> dict[str, tuple[str, int]]:
    """Every file and folder, with its content's digest and when it was changed."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
            path.lstat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
    }


def scripted(folder: Path, source: str, **options: object) -> Path:
    import twice

    path = write(folder, source).removesuffix(":main")
    with twice.record(path, seed=1, out=folder / "a.twice", **options) as record:  # type: ignore[arg-type]
        assert record.ending is not None
        assert record.ending["how"] == "completed", record.ending
        return record.path


@pytest.mark.parametrize("part", range(4))
def test_what_is_written_happens_once(tmp_path: Path, here: Path, part: int) -> None:
    ways = list(WRITES.items())[part::4]
    calls = [f"begin({number})\n{way}" for number, (_, way) in enumerate(ways)]
    for number in range(len(ways)):
        shutil.copytree(here, tmp_path / f"here{number}")
    path = scripted(tmp_path, PROGRAM + "\n".join(calls))
    before = seen(tmp_path)
    statement = verify(path)

    assert statement.result == "PASS", (statement.caveats, statement.failure, calls)
    assert seen(tmp_path) == before


def test_other_content_is_named_with_both_digests(tmp_path: Path) -> None:
    source = """
    import os

    def main(run):
        for tick in run.ticks(2):
            with open(os.environ["PLACE"] + "/out.txt", "w") as out:
                out.write(f"{id(run)}")
    """
    with recorded(tmp_path, source, env={"PLACE": str(tmp_path)}) as record:
        path = record.path
    write(tmp_path, source.replace("{id(run)}", "other"))
    statement = verify(path, informational=True)

    assert statement.failure is not None
    assert "files.written" in statement.failure.recorded
    assert "out.txt" in statement.failure.recorded
    assert "out.txt" in statement.failure.replayed


def test_a_file_that_is_not_written_again_is_named(tmp_path: Path) -> None:
    source = """
    import shutil

    def main(run):
        for tick in run.ticks(1):
            shutil.copyfile(__file__, __file__ + ".copy")
    """
    with recorded(tmp_path, source) as record:
        path = record.path
    write(
        tmp_path,
        source.replace("shutil.copyfile(__file__, __file__ + '.copy')", "pass").replace(
            'shutil.copyfile(__file__, __file__ + ".copy")', "pass"
        ),
    )
    statement = verify(path, informational=True)

    assert statement.failure is not None
    assert "program.py.copy" in statement.failure.recorded
    assert statement.failure.replayed.endswith("no file is there")
