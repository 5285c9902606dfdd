"""What a run of pytest really did, written down for whoever judges it: ``-p twice.testing.witness``.

Told are the tests that were found and those that were run, the files that were loaded, and the kept
counterexamples that were replayed. What a conftest or a plugin does on purpose to be told of otherwise, it
can: code that runs in a process can write whatever that process writes.

Invariant: nothing about the run is changed, and one document is written at its end.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

FORMAT: Final = "twice.witness/1"
_WORST: Final = ("failed", "xfailed", "skipped", "passed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the place where it is written."""
    parser.addoption("--twice-witness", metavar="FILE", help="write down what was really run")


def pytest_configure(config: pytest.Config) -> None:
    """Watch from the beginning."""
    place = config.getoption("--twice-witness")
    if place:
        config.pluginmanager.register(_Witness(Path(place)), "twice-witness")


class _Witness:
    """Follows one session."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._found: dict[str, pytest.Item] = {}
        self._outcomes: dict[str, str] = {}
        self._broken: list[str] = []

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        self._found[item.nodeid] = item

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._broken.append(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        came = "xfailed" if hasattr(report, "wasxfail") and report.skipped else report.outcome
        if came == "passed" and report.when != "call":
            return
        before = self._outcomes.get(report.nodeid, "passed")
        self._outcomes[report.nodeid] = min(before, came, key=_WORST.index)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        kept = sys.modules.get("twice.testing.counterexamples")
        replayed: dict[Path, set[int]] = {} if kept is None else kept.replayed
        document: dict[str, Any] = {
            "format": FORMAT,
            "found": sorted(self._found),
            "unfound": sorted(self._unfound(session)),
            "outcomes": dict(sorted(self._outcomes.items())),
            "broken": sorted(self._broken),
            "loaded": sorted({str(Path(str(each.__file__)).resolve()) for each in _modules()}),
            "replayed": {str(folder): sorted(lines) for folder, lines in replayed.items()},
        }
        self._place.write_text(json.dumps(document), encoding="utf-8")

    def _unfound(self, session: pytest.Session) -> Iterator[str]:
        """Yield the tests in the named files that settings left out, by pytest's own names."""
        of_modules: dict[Path, set[str]] = {}
        for nodeid, item in self._found.items():
            name = nodeid.partition("::")[2].partition("[")[0]
            of_modules.setdefault(item.path.resolve(), set()).add(name)
        loaded = {Path(str(each.__file__)).resolve(): each for each in _modules()}
        for argument in session.config.args:
            if "::" in argument:
                continue
            top = session.config.invocation_params.dir / argument
            for path in _test_files(top):
                module = loaded.get(path)
                if module is None:
                    yield str(path)
                    continue
                for name in _named_tests(module):
                    if name not in of_modules.get(path, set()):
                        yield f"{path}::{name}"


def _test_files(top: Path) -> list[Path]:
    if top.is_file():
        return [top.resolve()]
    every = [*top.rglob("test_*.py"), *top.rglob("*_test.py")]
    return sorted({each.resolve() for each in every if "__pycache__" not in each.parts})


def _named_tests(module: ModuleType) -> Iterator[str]:
    """Yield the names in a module that mean a test to pytest as it comes."""
    for name, thing in vars(module).items():
        if getattr(thing, "__test__", True) is False:
            continue
        if inspect.isfunction(thing) and name.startswith("test"):
            yield name
        elif inspect.isclass(thing) and name.startswith("Test"):
            for each in dir(thing):
                if each.startswith("test") and callable(getattr(thing, each, None)):
                    yield f"{name}::{each}"


def _modules() -> list[ModuleType]:
    """Return the modules that are loaded from files."""
    every = list(sys.modules.values())
    return [each for each in every if isinstance(getattr(each, "__file__", None), str)]
