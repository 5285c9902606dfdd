"""Tests that are marked for it run in many orders of their tasks, whatever plugins for asynchronous tests are loaded.

Each test here is a pytest run in this process: what the plugin does to other plugins shows in no smaller part.
"""

from __future__ import annotations

import importlib
import importlib.util
import shlex

import pytest

# A run in this process forgets what was loaded in it, and numpy cannot be loaded twice.
importlib.import_module("numpy.random")
importlib.import_module("twice.testing.explored_tests")
pytest_plugins = "pytester"

CLIENT = """
import asyncio, random, time
import pytest
from twice.schedules import sometimes

class Client:
    def __init__(self):
        self.token, self.answers = "old", []

    async def renew(self):
        self.token = None
        await asyncio.sleep(0.1)
        self.token = "new"

    async def call(self, path):
        if self.token == "old":
            await self.renew()
        self.answers.append(path + self.token.upper())

    async def watch(self):
        await asyncio.sleep(0.1)
        await self.call("/health")

    async def race(self):
        await asyncio.gather(self.call("/orders"), self.watch())

@pytest.fixture
def client():
    return Client()

explored = pytest.mark.twice_schedules(n=30, seed=1)
"""
RACES = (
    "@explored\nasync def test_race():\n    await Client().race()\n",
    "@explored\nasync def test_race(client):\n    await client.race()\n",
    "@explored\ndef test_race(client):\n    asyncio.run(client.race())\n",
    "class TestClient:\n    @explored\n    async def test_race(self, client):\n        await client.race()\n",
)


@pytest.fixture(autouse=True)
def _no_other_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load the plugins that a run names alone."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def run(pytester: pytest.Pytester, source: str, *arguments: str) -> pytest.RunResult:
    pytester.makepyfile(CLIENT + source)
    pytester.makeini("[pytest]\nmarkers = asyncio\n")
    return pytester.runpytest_inprocess("-p", "twice.testing.plugin", *arguments)


@pytest.mark.parametrize("source", RACES, ids=["async", "fixture", "sync", "class"])
@pytest.mark.sample(1)
def test_a_failing_order_is_named_by_its_lines_and_replayed_by_its_command(
    pytester: pytest.Pytester, source: str
):
    failed = run(pytester, source)

    failed.assert_outcomes(failed=1)
    failed.stdout.re_match_lines(
        [
            r"E +AttributeError: 'NoneType' object has no attribute 'upper'",
            r"E +twice: in schedule \d+",
            r"E +Client\.watch\(\) .*\.py:\d+ ran before Client\.call\(\) .*\.py:\d+",
            r"E +replay: pytest .*::test_race --twice-order '.*Client\.watch@.* before .*Client\.call@.*'",
        ]
    )
    (line,) = [each for each in failed.outlines if "replay: " in each]
    words = shlex.split(line.partition("replay: ")[2])
    assert words[0] == "pytest"
    again = run(pytester, source, *words[1:])
    again.assert_outcomes(failed=1)
    run(pytester, source, words[1], "--twice-order", "fifo").assert_outcomes(passed=1)
    gone = run(pytester, source, words[1], "--twice-order", "a#1 before b#1")
    gone.assert_outcomes(passed=1, warnings=1)
    gone.stdout.fnmatch_lines("*this order of --twice-order never came about: a#1 before b#1*")


def test_each_order_finds_fixtures_as_they_were_set_up(pytester: pytest.Pytester):
    source = """
@pytest.fixture(params=[2, 3])
def answers(request):
    return [None] * request.param

@explored
async def test_alone(answers, request):
    async def add(n):
        await asyncio.sleep(random.random())
        answers.append((n, time.monotonic()))
    await asyncio.gather(add(1), add(2))
    assert len(answers) == 2 + request.node.callspec.params["answers"]
    sometimes(answers[-1][0] == 1, "one is last")
    sometimes(False, "never")
"""
    passed = run(pytester, source)

    passed.assert_outcomes(passed=2)
    passed.stdout.fnmatch_lines("*sometimes 'never' never held in 30 orders*")
    assert "one is last" not in passed.stdout.str()


def test_an_error_that_nobody_waits_for_fails_the_test(pytester: pytest.Pytester):
    source = """
@explored
async def test_unheard():
    async def fail():
        raise LookupError("unheard")
    asyncio.ensure_future(fail())
    await asyncio.sleep(1)
"""
    failed = run(pytester, source)

    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["E * LookupError: unheard", "E *it fails in FIFO order too*"])


def test_outcomes_of_pytest_stay_what_they_are(pytester: pytest.Pytester):
    source = """
@explored
async def test_skips():
    pytest.skip("another day")

@explored
def test_expects(client):
    pytest.xfail("known")

@explored
async def test_fails(client):
    pytest.fail("said so")

@explored
async def test_refused():
    time.sleep(1)
"""
    run(pytester, source).assert_outcomes(skipped=1, xfailed=1, failed=2)


def test_a_difference_that_no_order_explains_is_said(pytester: pytest.Pytester):
    source = """
@explored
async def test_moves(tmp_path):
    times = tmp_path / "times"
    with times.open("a") as file:
        file.write("x")
    assert times.stat().st_size != 2
"""
    failed = run(pytester, source)

    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines("It did not fail again under the same order: *")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("n=0, seed=1", "was given n=0"),
        ("seed=1, orders=3", "was given orders"),
        ("seed=1, strategy='luck'", "E-SCHEDULE-004"),
        ("n=3", "E-SEED-001"),
        ("3, seed=1", "takes keywords alone"),
    ],
)
def test_a_wrong_marker_is_one_error(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, words: str, said: str
):
    monkeypatch.delenv("TWICE_SEED", raising=False)
    source = f"@pytest.mark.twice_schedules({words})\nasync def test_it():\n    pass\n"

    result = run(pytester, source)

    assert result.ret == 1
    result.stdout.fnmatch_lines(f"*{said}*")


def test_a_wrong_order_is_one_error(pytester: pytest.Pytester):
    result = run(pytester, RACES[0], "--twice-order", "b#1 after a#1")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines("*--twice-order 'b#1 after a#1' is no order.*")


OTHERS = [
    pytest.param(
        "anyio.pytest_plugin", "@pytest.mark.anyio\n", {"failed": 1, "skipped": 1}, id="anyio"
    ),
    pytest.param("pytest_asyncio.plugin", "@pytest.mark.asyncio\n", {"failed": 1}, id="asyncio"),
]


@pytest.mark.parametrize(("plugin", "mark", "outcomes"), OTHERS)
def test_other_plugins_for_asynchronous_tests_leave_it_alone(
    pytester: pytest.Pytester, plugin: str, mark: str, outcomes: dict[str, int]
):
    pytest.importorskip(plugin)
    if "anyio" in plugin and importlib.util.find_spec("trio") is None:
        outcomes = {"failed": 1}  # then it has one backend
    source = f"{mark}{RACES[1]}\n{mark}async def test_plain(client):\n    await client.call('/')\n"

    both = run(pytester, source, "-p", plugin, "-k", "test_race")
    plain = run(pytester, source, "-p", plugin, "-k", "test_plain and not trio")

    both.assert_outcomes(**outcomes, deselected=both.parseoutcomes()["deselected"])
    both.stdout.fnmatch_lines("E * replay: pytest *test_race*")
    plain.assert_outcomes(passed=1, deselected=plain.parseoutcomes()["deselected"])


@pytest.mark.parametrize("source", [
    "@pytest.fixture\nasync def late():\n    return 1\n",
    "@pytest.fixture\nasync def late():\n    yield 1\n",
])  # fmt: skip
def test_an_asynchronous_fixture_is_refused_by_its_name(pytester: pytest.Pytester, source: str):
    result = run(pytester, f"{source}\n@explored\nasync def test_it(late):\n    pass\n")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines("*The fixture 'late' of *test_it is asynchronous.")


def test_a_fault_is_named_and_replayed_by_its_command(pytester: pytest.Pytester):
    source = """
from twice.schedules import fault

@explored
async def test_disk():
    for _ in range(4):
        await asyncio.sleep(1)
        if fault("disk-full"):
            raise OSError(28, "No space left on device")
"""
    failed = run(pytester, source)

    failed.assert_outcomes(failed=1)
    failed.stdout.re_match_lines([r"E +the fault 'disk-full' struck in test_disk\(\) .*\.py:\d+"])
    (line,) = [each for each in failed.outlines if "replay: " in each]
    words = shlex.split(line.partition("replay: ")[2])
    assert words[3].startswith("fault disk-full@")
    run(pytester, source, *words[1:]).assert_outcomes(failed=1)
    gone = run(pytester, source, words[1], "--twice-order", "fault weather@a?0")
    gone.assert_outcomes(passed=1, warnings=1)
    none = source.replace("@explored", '@pytest.mark.twice_schedules(n=30, seed=1, faults="none")')
    run(pytester, none).assert_outcomes(passed=1)
    wrong = source.replace("@explored", '@pytest.mark.twice_schedules(seed=1, faults="rain")')
    run(pytester, wrong).stdout.fnmatch_lines("*'rain' is no kind of fault*")
