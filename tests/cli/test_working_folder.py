"""``python -m twice`` reads the folder that it is started in, and imports nothing from there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from programs import cli, environ

pytestmark = pytest.mark.integration

LISTING = "import os\n\n\ndef names(folder):\n    return [name for name in os.listdir(folder)]\n"
EXECUTED = "import os\n\nos.write(2, b'EXECUTED ' + __name__.encode())\n"


@pytest.fixture(scope="module")
def pythons_own(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Return the modules that Python itself imports before any module that ``-m`` names."""
    folder = tmp_path_factory.mktemp("empty")
    (folder / "listing").mkdir()
    (folder / "listing" / "__init__.py").touch()
    (folder / "listing" / "__main__.py").write_text("import sys; print(*sys.modules)")
    ran = subprocess.run(
        [sys.executable, "-m", "listing"],
        cwd=folder, env=environ(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {"__future__", *ran.stdout.split()}  # The first is part of the language.


@pytest.fixture
def folder(tmp_path: Path, pythons_own: set[str]) -> Path:
    """Make a folder in which every file has the name of a module of the standard library."""
    for name in sys.stdlib_module_names - pythons_own:
        (tmp_path / f"{name}.py").write_text(EXECUTED)
    (tmp_path / "numpy.py").write_text(EXECUTED)
    (tmp_path / "a.py").write_text(LISTING)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("check", "a.py", "--no-cache"), 1),
        (("check", "a.py", "--format", "sarif"), 1),
        (("check", "a.py", "--format", "junit", "-o", "out.xml"), 1),
        (("check", "a.py", "--fix"), 0),
        (("check", "json.py", "random.py", "-j", "2"), 0),
        (("check", "--explain", "clock"), 0),
        (("review", "a.py"), 1),
        (("audit", "seeds", "a.py"), 0),
        (("ls",), 0),
        (("env",), 0),
    ],
)
@pytest.mark.sample(4)
def test_no_module_of_the_folder_is_executed(
    folder: Path, arguments: tuple[str, ...], code: int
) -> None:
    ran = cli(*arguments, cwd=folder)

    assert "EXECUTED" not in ran.stderr
    assert ran.returncode == code, ran.stderr


def test_a_whole_folder_of_them_is_read(folder: Path) -> None:
    ran = cli("check", ".", "--json", "--no-cache", cwd=folder)

    assert ran.stderr == ""
    assert ran.returncode == 1
