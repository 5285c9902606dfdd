"""A watched module is reported once, after its body, however the program comes to import it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec

import pytest

from twice.recorder.imports import ImportWatch


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
def watch():
    made: list[ImportWatch] = []

    def make(told) -> ImportWatch:
        made.append(ImportWatch(told))
        made[-1].install()
        return made[-1]

    yield make
    for each in made:
        each.remove()


def test_it_tells_once_after_the_body_and_binds_the_child_first(package, watch):
    told = []

    def tell(_module) -> None:
        told.append(sys.modules["arriving_pkg"].inner.value)

    watch({"arriving_pkg.inner": tell})
    inner = importlib.import_module("arriving_pkg.inner")
    importlib.reload(inner)

    assert told == [1]


def test_a_module_whose_body_fails_has_not_arrived(package, watch):
    told = []
    watch({"arriving_pkg.broken": lambda _module: told.append(1)})
    for _ in range(2):
        with pytest.raises(RuntimeError, match="body"):
            importlib.import_module("arriving_pkg.broken")

    assert told == []


def test_a_removed_finder_tells_nothing(package, watch):
    told = []
    before = list(sys.meta_path)
    watching = watch({"arriving_pkg.inner": lambda _module: told.append(1)})
    watching.remove()
    importlib.import_module("arriving_pkg.inner")

    assert told == []
    assert sys.meta_path == before


def test_a_module_that_does_not_exist_is_still_not_found(watch):
    watch({"arriving_nowhere": lambda _module: None})

    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("arriving_nowhere")


def test_a_loader_whose_attributes_cannot_be_set_is_told_of(watch, monkeypatch):
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
    watch({"arriving_sealed": lambda _module: told.append(1)})
    module = importlib.import_module("arriving_sealed")
    monkeypatch.delitem(sys.modules, "arriving_sealed")

    assert module.value == 1
    assert told == [1]


def test_a_module_that_was_looked_for_first_is_told_of_when_it_is_imported(package, watch):
    """``find_spec`` is how programs ask whether a library is installed; it imports nothing."""
    told = []
    watch({"arriving_pkg.inner": lambda _module: told.append(1)})
    spec = importlib.util.find_spec("arriving_pkg.inner")
    assert spec.loader.get_filename("arriving_pkg.inner") == spec.origin
    assert told == []
    module = importlib.import_module("arriving_pkg.inner")

    assert told == [1]
    assert type(module.__spec__.loader).__name__ == "SourceFileLoader"
    assert module.__loader__ is module.__spec__.loader


def test_a_module_that_is_there_is_told_of_at_once(package, watch):
    inner = importlib.import_module("arriving_pkg.inner")
    told = []
    watch({"arriving_pkg.inner": told.append})

    assert told == [inner]
