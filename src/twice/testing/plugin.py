"""The pytest plugin: a test records a run the first time, and verifies it ever after.

    @pytest.mark.twice("examples/swarm.py:main", seed=7, config={"n": 10, "ticks": 5})
    def test_a_small_swarm(twice_run):
        assert twice_run.record.ticks == 5

    @pytest.mark.twice_schedules(n=200, seed=1)
    async def test_in_many_orders_of_its_tasks():
        ...

Records stand in ``__twice__`` beside the test, to be checked in. ``--twice-update`` records anew;
with ``--twice-require``, and wherever ``CI`` is set, a record that is missing fails the test.

Invariant: until a test asks for a run, nothing but the front door of twice is imported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from twice.testing.recorded_runs import RecordedRuns

MARKER = "twice"
SCHEDULES_MARKER = "twice_schedules"
FIXTURE = "twice_run"
_ABOUT_SCHEDULES = (
    "twice_schedules(n=200, strategy='portfolio', seed=...): run this test over asyncio in n orders of its "
    "tasks, and say which order fails"
)
_ABOUT = (
    "twice(program, seed=..., config=..., **policies): record this program the first time, verify the "
    "record ever after; config may be a function of the test's parameters"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what decides between recording and verifying."""
    group = parser.getgroup("twice", "runs that are recorded and verified")
    group.addoption("--twice-update", action="store_true", help="record every run anew")
    group.addoption(
        "--twice-require",
        action="store_true",
        help="fail where a record is missing, instead of making it; so where CI is set",
    )
    group.addoption(
        "--twice-order",
        metavar="ORDER",
        help="run marked tests in one order of their tasks, as the report of a failure gives it",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known."""
    config.addinivalue_line("markers", _ABOUT)
    config.addinivalue_line("markers", _ABOUT_SCHEDULES)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give a marked test its run, whether it names the fixture or not."""
    for item in items:
        names = getattr(item, "fixturenames", None)
        if names is not None and FIXTURE not in names and item.get_closest_marker(MARKER):
            names.append(FIXTURE)


@pytest.fixture
def twice_run(request: pytest.FixtureRequest) -> Iterator[RecordedRuns]:
    """Provide a test's runs: ``twice_run.record`` of its marker, ``twice_run(...)`` of others."""
    from twice.testing.recorded_runs import RecordedRuns

    node, options = request.node, request.config
    runs = RecordedRuns(
        node.path,
        node.nodeid,
        options.rootpath,
        update=bool(options.getoption("--twice-update")),
        require=bool(options.getoption("--twice-require")),
        note=lambda said: node.user_properties.append((MARKER, said)),
    )
    yield runs
    runs.close()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a test that is marked for it run in many orders, whatever other plugins do with asynchronous tests."""
    marker = item.get_closest_marker(SCHEDULES_MARKER)
    if marker is None:
        return
    from twice.testing.explored_tests import refuse_async_fixtures, run_in_orders

    if not isinstance(item, pytest.Function) or marker.args:
        pytest.fail(
            f"twice: {SCHEDULES_MARKER} is for test functions, and takes keywords alone",
            pytrace=False,
        )
    refuse_async_fixtures(item)
    if "trio" in str(getattr(item, "callspec", None) and item.callspec.params.get("anyio_backend")):
        pytest.skip(f"{SCHEDULES_MARKER} runs the test over asyncio")

    def run() -> None:
        __tracebackhide__ = True
        run_in_orders(item, marker.kwargs, item.config.getoption("--twice-order"))

    item.runtest = run  # type: ignore[method-assign]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Record or verify what the marker says: a difference fails the test itself."""
    marker = item.get_closest_marker(MARKER)
    runs: RecordedRuns | None = getattr(item, "funcargs", {}).get(FIXTURE)
    if marker is None or runs is None:
        return
    __tracebackhide__ = True
    parameters: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    runs.run_marker(marker.args, marker.kwargs, parameters)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many runs were recorded and verified."""
    said = Counter(
        word
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, word in report.user_properties
        if name == MARKER
    )
    if said:
        counts = ", ".join(f"{said[word]} {word}" for word in sorted(said))
        terminalreporter.write_line(f"twice: {counts}")
