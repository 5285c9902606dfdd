from __future__ import annotations

import importlib
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec

import pytest

from twice.recorder.streams.arrival import Arrivals


@pytest.fixture
def package(tmp_path, monkeypatch):
    root = tmp_path / "arriving_pkg"
    root.mkdir()
    (root / "__init__.py").write_text("")
    (root / "inner.py").write_text("value = 1\n")
    (root / "broken.py").write_text("raise RuntimeError('body')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "arriving_pkg"
    for name in [name for name in sys.modules if name.startswith("arriving_pkg")]:
        del sys.modules[name]


@pytest.fixture
def arrivals():
    made: list[Arrivals] = []

    def make(awaited) -> Arrivals:
        made.append(Arrivals(awaited))
        made[-1].watch()
        return made[-1]

    yield make
    for each in made:
        each.withdraw()


def test_it_tells_once_after_the_body_and_binds_the_child_first(package, arrivals):
    told = []

    def tell() -> None:
        told.append(sys.modules["arriving_pkg"].inner.value)

    arrivals({"arriving_pkg.inner": tell})
    inner = importlib.import_module("arriving_pkg.inner")
    importlib.reload(inner)

    assert told == [1]


def test_a_module_whose_body_fails_has_not_arrived(package, arrivals):
    told = []
    arrivals({"arriving_pkg.broken": lambda: told.append(1)})
    for _ in range(2):
        with pytest.raises(RuntimeError, match="body"):
            importlib.import_module("arriving_pkg.broken")

    assert told == []


def test_a_withdrawn_finder_tells_nothing(package, arrivals):
    told = []
    before = list(sys.meta_path)
    watching = arrivals({"arriving_pkg.inner": lambda: told.append(1)})
    watching.withdraw()
    importlib.import_module("arriving_pkg.inner")

    assert told == []
    assert sys.meta_path == before


def test_a_module_that_does_not_exist_is_still_not_found(arrivals):
    arrivals({"arriving_nowhere": lambda: None})

    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("arriving_nowhere")


def test_a_loader_that_cannot_be_asked_still_loads(arrivals, monkeypatch):
    class Sealed:
        __slots__ = ()

        def create_module(self, spec):
            return None

        def exec_module(self, module):
            module.value = 1

    class Finder(MetaPathFinder):
        def find_spec(self, fullname, path, target=None):
            return ModuleSpec(fullname, Sealed()) if fullname == "arriving_sealed" else None

    told = []
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    arrivals({"arriving_sealed": lambda: told.append(1)})
    module = importlib.import_module("arriving_sealed")
    monkeypatch.delitem(sys.modules, "arriving_sealed")

    assert module.value == 1
    assert told == []
