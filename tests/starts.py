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

import forks
from tiers import DEFAULT, INTEGRATION, TIERS

LIMITS = {"default": (0, 4), "integration": (20, 100)}
"""How many interpreters one test may start, and how many forks of a loaded process; a heavy one any number."""
KEPT = Path(__file__).with_name("repo") / "budget.json"
SLOWEST = int(os.environ.get("TWICE_SLOWEST", "20"))


class StartBudget:
    """A plugin of pytest.

    Attributes:
        starts: interpreters that this process has started.
        shared: how many of them, and of the forks, fixtures of modules and sessions started.
    """

    def __init__(self, config: pytest.Config, started: forks.Forks) -> None:
        self.starts, self.shared = 0, (0, 0)
        self._config = config
        self._forks = started
        self._is_worker = hasattr(config, "workerinput")
        self._seconds: Counter[str] = Counter()
        self._counted: dict[str, list[int]] = {}
        self._skipped: dict[str, str] = {}

    def count_starts(self) -> None:
        """Count from now on; by a hook, since a function around ``Popen`` would be a frame of its own in what is tested."""

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if event == "subprocess.Popen" and is_interpreter(arguments[0], arguments[1]):
                self.starts += forks.__file__ not in arguments[1]  # a server is everybody's

        sys.addaudithook(hook)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        before = self._own()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                starts, forked = self._all()
                self.shared = (starts - before[0], forked - before[1])

    @pytest.fixture(autouse=True)
    def _start_budget(self, request: pytest.FixtureRequest) -> Iterator[None]:
        before = self._own()
        yield
        counts = [now - then for now, then in zip(self._own(), before, strict=True)]
        request.node.user_properties.append(("starts", counts))
        tier = tier_of(request.node)
        limits = LIMITS.get(tier, counts)
        if any(count > limit for count, limit in zip(counts, limits, strict=True)):
            pytest.fail(
                f"it started {counts[0]} interpreters and {counts[1]} forks, where a test of the {tier} tier "
                f"may start {limits[0]} and {limits[1]}: call functions instead, or mark it for another tier "
                "(CONTRIBUTING.md)",
                pytrace=False,
            )

    def _own(self) -> tuple[int, int]:
        """Interpreters and forks that no shared fixture started."""
        starts, forked = self._all()
        return starts - self.shared[0], forked - self.shared[1]

    def _all(self) -> tuple[int, int]:
        """Interpreters and forks; an interpreter in place of a fork, for want of a server, counts as a fork."""
        unserved = self._forks.unserved
        return self.starts - unserved, self._forks.count + unserved

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
        folders: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0, 0, 0])
        for name, seconds in self._seconds.items():
            starts = self._counted.get(name, [0, 0])
            rows = zip(folders[folder_of(name)], [seconds, 1, *starts], strict=True)
            folders[folder_of(name)] = [sum(row) for row in rows]
        terminalreporter.section("where the time went, by folder")
        write("   seconds   tests  interpreters   forks")
        whole = [sum(column) for column in zip(*folders.values(), strict=True)]
        for folder, row in [*sorted(folders.items(), key=lambda item: -item[1][0]), ("all", whole)]:
            write("{:10.1f}{:8}{:14}{:8}  {}".format(*row, folder))
        unserved = Counter(self._forks.list_unserved())
        write(
            f"interpreters in place of forks, for want of a server: {dict(sorted(unserved.items()))}"
        )
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
        for name, (starts, _) in self._counted.items():
            sums[folder_of(name)] += starts
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
    """Return the tier of a test: heavy wins over integration; scaffolded ones start what they like, for the gate."""
    if item.path.name.startswith("test_determinism"):
        return "heavy"
    for name in TIERS:
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
