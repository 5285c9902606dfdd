"""A program that never heard of twice sees what Python shows it, ends as it ends, and replays."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import twice
from programs import cli, environ
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

SHOWS = """
    import __main__, sys
    own = {"sys", "__main__", "shown", "own"}
    shown = {name: value for name, value in globals().items() if name not in own}
    shown["__builtins__"] = type(__builtins__).__name__
    shown["__loader__"] = type(__loader__).__name__
    shown["__spec__"] = __spec__ and (__spec__.name, __spec__.parent, __spec__.origin)
    print(shown, sys.argv, sys.path[0], __main__.__dict__ is globals())
"""


def python(*arguments: object, cwd: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run the same with Python alone."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd, env=environ(), input=given, capture_output=True, text=True, check=False,
    )  # fmt: skip


def put(folder: Path, source: str, name: str = "script.py") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    return path


def record_and_verify(*program: object, cwd: Path, given: str = "") -> RunRecord:
    """Record a program, and see that it replays."""
    own, rest = (program, ()) if "--" not in program else split(program)
    options = ["--seed", 7, "-o", "a.twice", "--force", "--quiet"]
    done = cli("record", *own, *options, *rest, cwd=cwd, input=given)
    assert "recorded" in done.stderr, done.stderr
    statement = verify(cwd / "a.twice")
    assert statement.result == "PASS", statement.to_json()
    return RunRecord.open(cwd / "a.twice")


def split(program: tuple[object, ...]) -> tuple[tuple[object, ...], tuple[object, ...]]:
    at = program.index("--")
    return program[:at], program[at:]


@pytest.mark.parametrize("typed", ["script.py", "./script.py", "sub/../script.py", "{}/script.py"])
def test_a_script_sees_what_python_shows_it(tmp_path: Path, typed: str) -> None:
    put(tmp_path, SHOWS)
    (tmp_path / "sub").mkdir()
    typed = typed.format(tmp_path)
    arguments = ("--lr", "3e-4", "", "a b", "--", "--seed", "9")

    alone = python(typed, *arguments, cwd=tmp_path)
    with record_and_verify(typed, "--", *arguments, cwd=tmp_path) as record:
        assert alone.stdout
        assert record.printed()[0].decode() == alone.stdout


def test_a_script_behind_a_link_is_called_by_the_link_and_imports_from_beside_the_file(
    tmp_path: Path,
) -> None:
    put(tmp_path, "import beside\nprint(__file__, beside.VALUE)\n", "real/script.py")
    put(tmp_path, "VALUE = 7\n", "real/beside.py")
    (tmp_path / "link.py").symlink_to("real/script.py")

    alone = python("link.py", cwd=tmp_path)
    with record_and_verify("link.py", cwd=tmp_path) as record:
        assert record.printed()[0].decode() == alone.stdout == f"{tmp_path / 'link.py'} 7\n"


@pytest.mark.parametrize("module", ["house", "house.room", "yard.shed.tool"])
def test_a_module_sees_what_python_shows_it_with_m(tmp_path: Path, module: str) -> None:
    put(tmp_path, "print('house', __name__)\n", "house/__init__.py")
    put(tmp_path, "from house import __name__ as _\n" + textwrap.dedent(SHOWS), "house/__main__.py")
    put(tmp_path, SHOWS, "house/room.py")
    put(tmp_path, SHOWS, "yard/shed/tool.py")  # folders without __init__: a namespace

    alone = python("-m", module, "-x", "1", cwd=tmp_path)
    with record_and_verify("-m", module, "--", "-x", "1", cwd=tmp_path) as record:
        assert record.printed()[0].decode() == alone.stdout
        assert str(record.setup.program) == f"-m {module}"


def test_arguments_before_and_after_the_dashes_all_arrive(tmp_path: Path) -> None:
    put(tmp_path, "import sys\nprint(sys.argv[1:])\n")

    with record_and_verify("script.py", "in.txt", "--", "--lr", "3", cwd=tmp_path) as record:
        assert record.printed()[0] == b"['in.txt', '--lr', '3']\n"
    with record_and_verify("-m", "script", "in.txt", "--", "-v", cwd=tmp_path) as record:
        assert record.printed()[0] == b"['in.txt', '-v']\n"


CRASHES = {
    "chained": "def f():\n    {}['k']\ntry:\n    f()\nexcept KeyError as e:\n    raise OSError(2) from e",
    "in a thread": (
        "import threading\n"
        "def work():\n    raise RuntimeError('in the thread')\n"
        "each = threading.Thread(target=work, name='worker')\neach.start()\neach.join()"
    ),
    "unraisable": "class D:\n    def __del__(self):\n        raise ValueError('late')\nx = [D()]\ndel x[0]",
    "a message": "import sys\nsys.exit('no more fish')",
    "a number": "import sys\nsys.exit(300 % 256)",
    "at exit": "import atexit\n@atexit.register\ndef f():\n    print('bye')\n    1 / 0",
    "a warning": "import warnings\nwarnings.warn('careful')\nwarnings.warn('old', DeprecationWarning)",
    "interrupted": "raise KeyboardInterrupt",
    "a group": "raise ExceptionGroup('two', [ValueError(1), KeyError(2)])",
    "a hook": (
        "import sys\ndef hook(kind, error, trace):\n"
        "    print('hook', kind.__name__, trace.tb_lineno, trace.tb_frame.f_code.co_name)\n"
        "sys.excepthook = hook\nraise ValueError(3)"
    ),
    "a broken hook": "import sys\nsys.excepthook = lambda *a: 1 / 0\nraise ValueError(3)",
    "a wrong option": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', type=int)\n"
    "p.parse_args(['--n', 'many'])",
    "help": "import argparse\nargparse.ArgumentParser(description='fishes').parse_args(['--help'])",
    "an import": "import no_such_module_anywhere",
    "an exec": "exec(compile('1/0', 'made up', 'exec'))",
}


@pytest.mark.parametrize("crash", CRASHES)
@pytest.mark.sample(5)
def test_a_program_that_goes_wrong_says_so_in_pythons_words_and_does_so_again(
    tmp_path: Path, crash: str
) -> None:
    put(tmp_path, CRASHES[crash] + "\n")

    alone = python("script.py", cwd=tmp_path)
    with record_and_verify("script.py", cwd=tmp_path) as record:
        out, errors = record.printed()
        assert record.ending is not None
        code = 130 if crash == "interrupted" else alone.returncode
        assert record.ending["exit_code"] == code
    assert out.decode() == alone.stdout
    assert nameless(errors.decode()) == nameless(alone.stderr)
    assert alone.stderr or out or code


def nameless(text: str) -> str:
    """Return the printed text without the addresses in it."""
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def test_a_crash_in_a_module_shows_no_frame_of_ours(tmp_path: Path) -> None:
    put(tmp_path, "def f():\n    return 1 / 0\nf()\n", "tool.py")

    alone = python("-m", "tool", cwd=tmp_path).stderr.splitlines()
    with record_and_verify("-m", "tool", cwd=tmp_path) as record:
        printed = record.printed()[1].decode().splitlines()

    runpys = [line for line in alone if "<frozen runpy>" in line]
    assert runpys
    assert printed == [line for line in alone if line not in runpys]


@pytest.mark.parametrize(
    ("leaving", "plain", "own"),
    [
        ("", 0, 0),
        ("import sys; sys.exit(3)", 1, 3),
        ("1/0", 1, 1),
        ("raise SystemExit(-1)", 1, 255),
    ],
)
def test_the_exit_code_says_whether_it_ended_well_or_is_the_programs_own_when_asked_for(
    tmp_path: Path, leaving: str, plain: int, own: int
) -> None:
    put(tmp_path, leaving + "\n")
    command = ("record", "script.py", "--seed", 7, "-o", "a.twice", "--force")

    assert cli(*command, cwd=tmp_path).returncode == plain
    assert cli(*command, "--exit-code", cwd=tmp_path).returncode == own


def test_exit_handlers_find_the_program_in_main(tmp_path: Path) -> None:
    put(
        tmp_path,
        """
        import atexit, pickle
        class Fish: pass
        atexit.register(lambda: print(type(pickle.loads(pickle.dumps(Fish()))).__name__))
        """,
    )

    with record_and_verify("script.py", cwd=tmp_path) as record:
        assert record.printed()[0] == b"Fish\n"


def test_a_file_whose_name_a_session_has_loaded_is_named_as_a_caveat(tmp_path: Path) -> None:
    put(tmp_path, "import queue, beside\nprint('done')\n")
    put(tmp_path, "raise SystemExit('mine')\n", "secrets.py")
    put(tmp_path, "", "beside.py")

    with record_and_verify("script.py", cwd=tmp_path) as record:
        assert record.ending is not None
        caveats = [text for text in record.ending["caveats"] if ".py" in text]
    assert [text.split()[0] for text in caveats] == ["secrets.py"]


def test_a_name_bound_by_from_import_is_governed(tmp_path: Path) -> None:
    put(
        tmp_path,
        """
        from time import time
        from random import random
        from os import urandom as bytes_of_the_system
        from datetime import datetime
        print(time(), random(), bytes_of_the_system(4), datetime.now())
        """,
    )

    with record_and_verify("script.py", cwd=tmp_path) as record:
        assert record.ending is not None
        reads = record.ending["effects"]["strict"]
        assert record.ending["caveats"] == []
    assert sum(reads.values()) == 3
    assert reads["clock.time"] == 1


def test_a_module_is_recorded_from_the_library_by_its_name(tmp_path: Path) -> None:
    with twice.record("-m calendar", seed=1, out=tmp_path / "a.twice") as record:
        assert b"January" in record.printed()[0]
        assert verify(record.path).result == "PASS"


@pytest.mark.heavy
def test_a_recorded_test_run_shows_no_warning_that_it_has_not_by_itself(tmp_path: Path) -> None:
    put(tmp_path, "def test_one():\n    assert 1 + 1 == 2\n", "test_one.py")
    options = ("--", "-q", "-W", "error", "-p", "no:cacheprovider")

    done = cli("record", "--seed", 7, "-o", "a.twice", "-m", "pytest", *options, cwd=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
