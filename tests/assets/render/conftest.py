"""One sound that is recorded once for all tests of a process, and a store of its own for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hotstore import laid
from renders import synth

from twice.assets.log.io import read_log
from twice.assets.store.seal import Sealed
from twice.assets.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return laid(tmp_path)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        synth(laid(folder))
    return folder


@pytest.fixture
def cue(recorded: Path, tmp_path: Path) -> Sealed:
    """Copy the sound, its store and what this account remembers of it."""
    shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    (path,) = (tmp_path / "hot").glob("*.detlog.json")
    return Sealed(path, read_log(path), (), [])
