"""A budget of interpreters started for every tier, and what CI prints of where its time went.

A start is an interpreter of Python that the test's own process starts. Starts are counted and not timed, so the
budget holds on any machine. What a fixture of a module or a session starts is nobody's: it runs once for each
worker of pytest-xdist, however many there are.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tiers import DEFAULT, INTEGRATION

LIMITS = {"default": 0, "integration": 33}
"""How many interpreters one test may start; a heavy one any number."""
KEPT = Path(__file__).with_name("repo") / "budget.json"
SLOWEST = 20


class StartBudget:
    """A plugin of pytest.

    Attributes:
        starts: of this process since it began.
        shared: those of them that fixtures of modules and sessions made.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.starts = self.shared = 0
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        self._seconds: Counter[str] = Counter()
        self._counted: dict[str, int] = {}
        self._skipped: dict[str, str] = {}

    def count_starts(self) -> None:
        """Count from now on; by a hook, since a function around ``Popen`` would be a frame of its own in what is tested."""

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if event == "subprocess.Popen" and is_interpreter(arguments[0], arguments[1]):
                self.starts += 1

        sys.addaudithook(hook)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        before = self.starts - self.shared
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self.shared = self.starts - before

    @pytest.fixture(autouse=True)
    def _start_budget(self, request: pytest.FixtureRequest) -> Iterator[None]:
        before = self.starts - self.shared
        yield
        count = self.starts - self.shared - before
        request.node.user_properties.append(("starts", count))
        tier = tier_of(request.node)
        limit = LIMITS.get(tier)
        if limit is not None and count > limit:
            pytest.fail(
                f"it started {count} interpreters, where a test of the {tier} tier may start {limit}: "
                "call functions instead, or mark it for another tier (CONTRIBUTING.md)",
                pytrace=False,
            )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration
        self._counted.update(
            {report.nodeid: count for key, count in report.user_properties if key == "starts"}
        )
        if report.skipped and not hasattr(report, "wasxfail"):
            self._note_skip(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._note_skip(report)

    def _note_skip(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        assert isinstance(report.longrepr, tuple)
        name = report.nodeid.partition("[")[0]
        self._skipped[name] = str(report.longrepr[2]).removeprefix("Skipped: ")

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Fail a run of a whole tier in CI that skips or starts more than was agreed on."""
        if self._is_worker or exitstatus or "CI" not in os.environ:
            return
        if self._over_budget() or self._unexpected_skips():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if "CI" not in os.environ:
            return
        write = terminalreporter.write_line
        folders: defaultdict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0])
        for name, seconds in self._seconds.items():
            row = folders[folder_of(name)]
            row[0] += 1
            row[1] += seconds
            row[2] += self._counted.get(name, 0)
        terminalreporter.section("seconds and interpreters started, by folder")
        for folder, (tests, seconds, starts) in sorted(folders.items(), key=lambda row: -row[1][1]):
            write(f"{seconds:8.1f} s {tests:6} tests {starts:6} starts  {folder}")
        total = [sum(column) for column in zip(*folders.values(), strict=True)] or [0, 0.0, 0]
        write(f"{total[1]:8.1f} s {total[0]:6} tests {total[2]:6} starts  all")
        terminalreporter.section(f"the {SLOWEST} slowest")
        for name, seconds in self._seconds.most_common(SLOWEST):
            write(f"{seconds:8.1f} s  {name}")
        for problem in (*self._over_budget(), *self._unexpected_skips()):
            write(f"BUDGET {problem}")

    def _over_budget(self) -> list[str]:
        if self._config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
            return []  # not a whole tier
        agreed = json.loads(KEPT.read_text("utf-8"))["starts"].get(self._tier())
        if agreed is None:
            return []
        sums: Counter[str] = Counter()
        for name, count in self._counted.items():
            sums[folder_of(name)] += count
        return [
            f"{folder} starts {sums[folder]} interpreters, where {KEPT.name} says {agreed.get(folder, 0)}"
            for folder in sorted(sums)
            if sums[folder] > agreed.get(folder, 0)
        ]

    def _unexpected_skips(self) -> list[str]:
        if not self._tier():
            return []
        allowed = json.loads(KEPT.read_text("utf-8"))["skips"]
        return [
            f"{name} was skipped, and {KEPT.name} does not name it: {reason}"
            for name, reason in sorted(self._skipped.items())
            if name not in allowed
        ]

    def _tier(self) -> str:
        selected = self._config.getoption("markexpr")
        return {DEFAULT: "default", INTEGRATION: "integration"}.get(selected, "")


def tier_of(item: pytest.Item) -> str:
    """Return the tier of a test: heavy wins over integration."""
    for name in ("heavy", "integration"):
        if item.get_closest_marker(name):
            return name
    return "default"


def is_interpreter(executable: object, arguments: object) -> bool:
    """Return whether a command starts Python directly, not through a shell."""
    first = arguments[0] if isinstance(arguments, list | tuple) and arguments else arguments
    names = (
        Path(os.fsdecode(each)).name
        for each in (executable, first)
        if isinstance(each, str | bytes | Path)
    )
    return any(name.startswith(("python", "twice")) for name in names)


def folder_of(nodeid: str) -> str:
    """Return the folder below ``tests`` that a test stands in, as budgets name it."""
    return nodeid.split("/")[1] if nodeid.count("/") > 1 else "tests"
