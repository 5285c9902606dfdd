"""Which files settle what pytest does with a project's tests.

pytest would look above the project, too; the gate does not, so that a report means the same wherever the
project lies.

Invariant: nothing is executed, and what cannot be read settles nothing.

Source: pytest, "Configuration", initialization: determining rootdir and configfile.
"""

from __future__ import annotations

import configparser
import os
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

_OWN: Final = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
_SHARED: Final = {"pyproject.toml": "pytest", "tox.ini": "pytest", "setup.cfg": "tool:pytest"}
_CONFTEST: Final = "conftest.py"


def settings_of(project: Path, tests: Sequence[str]) -> Path | None:
    """Give the file whose settings are in force for some tests of a project; None for none."""
    tops = [str(project / each.partition("::")[0]) for each in tests]
    common = Path(os.path.commonpath(tops)) if tops else project
    for folder in _upwards(common, project):
        for name in (*_OWN, *_SHARED):
            if _is_settings(folder / name):
                return folder / name
    return None


def settling(project: Path, tests: Sequence[str]) -> Iterator[str]:
    """Give every file, from the project on, that settles what is run if it is there."""
    tops = [project / each.partition("::")[0] for each in tests]
    folders = {each for top in tops for each in _upwards(top, project)}
    for folder in sorted(folders):
        for name in (*_OWN, *_SHARED, _CONFTEST):
            yield (folder / name).relative_to(project).as_posix()


def _upwards(start: Path, project: Path) -> Iterator[Path]:
    """Give the folders from a place up to the project."""
    for each in (start, *start.parents):
        if each.is_relative_to(project) and not each.is_file():
            yield each


def _is_settings(path: Path) -> bool:
    if not path.is_file():
        return False
    if path.name in _OWN:
        return True
    section = _SHARED[path.name]
    try:
        if path.suffix == ".toml":
            return section in tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        parser.read_string(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, configparser.Error):
        return True  # It is pytest's to refuse.
    return parser.has_section(section)
