"""Every lie is exposed by what it depends on, none of the honest tools is accused, and the words are modest."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from lying_tools import HONEST, LIES

from programs import cli
from twice.errors import UsageError
from twice.surfaces.cli.tools.reading_source import source_checker
from twice.tooling.determinism import Level
from twice.tooling.verifying.verification import ToolVerification, Verdict, Verification
from twice.tooling.verifying.verifying import verify_tools

LYING = f"{Path(__file__).with_name('lying_tools.py')}:registry"


@cache
def verified() -> Verification:
    """All of them at once: the processes are shared."""
    return verify_tools(LYING, checker=source_checker())


def of(name: str) -> ToolVerification:
    return next(each for each in verified().tools if each.name == name)


@pytest.mark.xdist_group("lying tools")
class TestLies:
    def test_there_are_many_of_them(self) -> None:
        assert len(LIES) >= 17

    def test_every_lie_is_exposed_by_what_it_depends_on(self) -> None:
        if of("lie.processors").not_tried.get("processors"):
            pytest.skip("there is one processor only")
        found = {name: {each.by for each in of(name).exposures} for name in LIES}

        assert {name: by for name, by in found.items() if by != LIES[name]} in ({}, MIDNIGHT)
        assert all(of(name).verdict is Verdict.EXPOSED for name in LIES)

    def test_none_of_the_honest_is_accused(self) -> None:
        found = {each.name: of(each.name) for each in HONEST}

        assert len(found) >= 5
        assert {name: [str(e) for e in each.exposures] for name, each in found.items()} == {
            name: [] for name in found
        }
        assert all(each.verdict is Verdict.NO_DIFFERENCE for each in found.values())
        assert all(each.level is Level.PERTURBED for each in found.values())

    def test_enforcement_names_need_and_line(self) -> None:
        refused = next(each for each in of("lie.seconds").exposures if each.by == "enforcement")

        assert refused.need == "clock"
        assert refused.place.rpartition(":")[0].endswith("lying_tools.py")

    def test_a_tool_that_reaches_out_is_not_run_without_enforcement(self) -> None:
        assert of("lie.network").not_tried["without enforcement"] == "it needs network"
        assert of("lie.network").runs == 1

    def test_what_an_exposed_tool_gets_is_no_level(self) -> None:
        assert {of(name).level for name in LIES} == {Level.DECLARED}

    def test_source_is_suspected_where_a_rule_knows_the_lie(self) -> None:
        rules = {name: {each.rule for each in of(name).suspicions} for name in LIES}

        assert rules["lie.set_order"] == {"set-order"}
        assert rules["lie.counter_name"] == {"counter-name"}
        assert rules["lie.listing"] == {"unsorted-listing"}
        assert not [each for tool in HONEST for each in of(tool.name).suspicions]

    def test_the_text_promises_nothing(self) -> None:
        text = "\n".join(line for tool in HONEST for line in of(tool.name).lines())

        assert "no difference seen in" in text
        assert "determin" not in text
        assert "no proof" in list(verified().lines())[-1]

    def test_what_was_not_tried_is_said(self) -> None:
        assert "task order" in of("honest.sum").not_tried
        assert any(line.startswith("not tried: task order") for line in verified().lines())

    def test_one_exposed_tool_decides_the_exit_code(self) -> None:
        assert verified().exit_code == 1


MIDNIGHT = {"lie.date": {"enforcement"}}
"""Where both zones have one date, the zone shows nothing."""


def test_a_built_in_registry_is_not_exposed(tmp_path: Path) -> None:
    done = cli("tools", "verify", "tables", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)

    assert done.returncode == 0
    assert document["format"] == "twice.tools-verification/1"
    assert {each["level"] for each in document["tools"]} == {"perturbed"}


def test_a_tool_without_a_case_that_works_cannot_be_told(tmp_path: Path) -> None:
    (tmp_path / "stuck.py").write_text(
        "from twice.tooling import Registry, tool\n\n"
        "@tool('stuck', determinism='deterministic')\n"
        "def stuck(n: int) -> int:\n    raise ValueError('never')\n\n"
        "registry = Registry([stuck])\n"
    )
    done = cli("tools", "verify", "stuck.py:registry", cwd=tmp_path)

    assert done.returncode == 2
    assert "stuck  could not tell" in done.stdout
    assert "ValueError: never" in done.stdout


def test_a_tool_that_promises_nothing_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "loose.py").write_text(
        "from twice.tooling import Registry, tool\n\n"
        "@tool('loose', determinism='nondeterministic')\n"
        "def loose() -> int:\n    raise SystemExit\n\n"
        "registry = Registry([loose])\n"
    )
    done = cli("tools", "verify", "loose.py:registry", "--json", cwd=tmp_path)
    (tool,) = json.loads(done.stdout)["tools"]

    assert done.returncode == 0
    assert (tool["verdict"], tool["runs"]) == ("promises-nothing", 0)


def test_a_tool_that_is_killed_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "dying.py").write_text(
        "import os\nfrom twice.tooling import Registry, tool\n\n"
        "@tool('dying', determinism='deterministic')\n"
        "def dying() -> None:\n    os._exit(3)\n\n"
        "registry = Registry([dying])\n"
    )
    done = cli("tools", "verify", "dying.py:registry", cwd=tmp_path)

    assert done.returncode == 2
    assert "its process died" in done.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be used"),
        ('{"format": "other"}', "its format is not twice.tools-cases/1"),
        ('{"format": "twice.tools-cases/1"}', "has no list of cases"),
        ('{"format": "twice.tools-cases/1", "cases": [{"tool": "no"}]}', "of no tool"),
        (
            '{"format": "twice.tools-cases/1", "cases": [{"tool": "table.list", "args": {}}]}',
            "has 'args'",
        ),
    ],
)
def test_a_file_of_cases_that_is_none_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "cases.json"
    path.write_text(text)

    with pytest.raises(UsageError, match=words):
        verify_tools("tables", "table.list", cases=path)


def test_cases_of_a_file_stand_before_those_of_the_declaration(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    case = {
        "tool": "table.list",
        "start": [{"tool": "table.create", "arguments": {"name": "t", "columns": ["x"]}}],
    }
    path.write_text(json.dumps({"format": "twice.tools-cases/1", "cases": [case]}))
    (found,) = verify_tools("tables", "table.list", cases=path).tools

    assert [(each.origin, len(each.case["start"])) for each in found.cases] == [("file", 1)]
    assert found.verdict is Verdict.NO_DIFFERENCE


def test_a_tool_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="has no tool"):
        verify_tools("tables", "table.no")
