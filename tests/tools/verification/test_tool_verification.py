"""Every lie is exposed by what it depends on, none of the honest tools is accused, and the words are modest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import shelf
from lying_tools import HONEST, LIES

from programs import cli
from twice.cli.commands.tools.verify import find_suspicions
from twice.errors import UsageError
from twice.tools.determinism import Level
from twice.tools.verification.cases import read_cases
from twice.tools.verification.report import RegistryVerification, ToolVerdict, ToolVerification
from twice.tools.verification.verify import verify_tools

SHELF = f"{shelf.__file__}:registry"
SECOND = Path(__file__).parents[2] / "corpora" / "lying_tools_second"
LYING = f"{Path(__file__).with_name('lying_tools.py')}:registry"


def of(found: RegistryVerification, name: str) -> ToolVerification:
    return next(each for each in found.tools if each.name == name)


def every_lie_is_exposed_by_what_it_depends_on(found: RegistryVerification) -> None:
    by = {name: {each.by for each in of(found, name).exposures} for name in LIES}
    expected = {**LIES}
    if "processors" in of(found, "lie.processors").not_tried:  # There is one only.
        expected["lie.processors"] = {"enforcement"}
    if by["lie.date"] == {"enforcement"}:  # Both zones have one date for a quarter of an hour.
        expected["lie.date"] = {"enforcement"}

    assert by == expected
    assert all(of(found, name).verdict == ToolVerdict.EXPOSED for name in LIES)


def none_of_the_honest_is_accused(found: RegistryVerification) -> None:
    honest = [of(found, each.name) for each in HONEST]

    assert len(honest) >= 5
    assert [str(e) for each in honest for e in each.exposures] == []
    assert {(each.verdict, each.level) for each in honest} == {
        (ToolVerdict.NO_DIFFERENCE, Level.PERTURBED)
    }


def enforcement_names_need_and_line(found: RegistryVerification) -> None:
    refused = next(each for each in of(found, "lie.seconds").exposures if each.by == "enforcement")

    assert refused.need == "clock"
    assert refused.place.rpartition(":")[0].endswith("lying_tools.py")


def a_tool_that_reaches_out_is_not_run_without_enforcement(found: RegistryVerification) -> None:
    assert of(found, "lie.network").not_tried["without enforcement"] == "it needs network"
    assert of(found, "lie.network").runs == 1


def what_an_exposed_tool_gets_is_no_level(found: RegistryVerification) -> None:
    assert {of(found, name).level for name in LIES} == {Level.DECLARED}


def source_is_suspected_where_a_rule_knows_the_lie(found: RegistryVerification) -> None:
    rules = {name: {each.rule for each in of(found, name).static.suspicions} for name in LIES}

    assert rules["lie.set_order"] == {"set-order"}
    assert rules["lie.counter_name"] == {"counter-name"}
    assert rules["lie.listing"] == {"unsorted-listing"}
    assert not [each for tool in HONEST for each in of(found, tool.name).static.suspicions]


def the_text_promises_nothing(found: RegistryVerification) -> None:
    text = "\n".join(line for tool in HONEST for line in of(found, tool.name).lines())

    assert "no difference seen in" in text
    assert "determin" not in text
    assert "no proof" in list(found.lines())[-1]


def what_was_not_tried_is_said(found: RegistryVerification) -> None:
    assert "task order" in of(found, "honest.sum").not_tried
    assert any(line.startswith("not tried: task order") for line in found.lines())


def one_exposed_tool_decides_the_exit_code(found: RegistryVerification) -> None:
    assert found.exit_code == 1


@pytest.mark.heavy
def test_lying_and_honest_tools() -> None:
    """One test, because its processes are shared: every claim above is about one verification."""
    found = verify_tools(LYING, checker=find_suspicions)

    assert len(LIES) >= 17
    assert found.processes.started <= 17
    every_lie_is_exposed_by_what_it_depends_on(found)
    none_of_the_honest_is_accused(found)
    enforcement_names_need_and_line(found)
    a_tool_that_reaches_out_is_not_run_without_enforcement(found)
    what_an_exposed_tool_gets_is_no_level(found)
    source_is_suspected_where_a_rule_knows_the_lie(found)
    the_text_promises_nothing(found)
    what_was_not_tried_is_said(found)
    one_exposed_tool_decides_the_exit_code(found)


@pytest.mark.heavy
def test_the_second_set_of_lying_tools() -> None:
    """Processes in other surroundings, as above."""
    labels = json.loads((SECOND / "labels.json").read_text())
    found = verify_tools(f"{SECOND / 'liars.py'}:registry", checker=find_suspicions)
    by = {each.name: {exposure.by for exposure in each.exposures} for each in found.tools}
    honest = [each for each in found.tools if each.name not in labels]

    assert [name for name, causes in labels.items() if not by[name] & {*causes}] == []
    assert len(honest) == 13
    assert {each.verdict for each in honest} == {ToolVerdict.NO_DIFFERENCE}


@pytest.mark.integration
def test_honest_tools_are_not_exposed(tmp_path: Path) -> None:
    done = cli("tools", "verify", SHELF, "--json", cwd=tmp_path)
    document = json.loads(done.stdout)

    assert done.returncode == 0
    assert document["format"] == "twice.tools-verification/1"
    assert {each["level"] for each in document["tools"]} == {"perturbed"}


ODD = """
import os
from twice.tools import Registry, tool


@tool("stuck", determinism="deterministic")
def stuck(n: int) -> int:
    raise ValueError("never")


@tool("unique", determinism="deterministic")
def unique(words: list[str]) -> list[str]:
    return list(set(words))


@tool("terms", determinism="deterministic")
def terms(text: str) -> list[str]:
    return list(set(text.split()))


@tool("loose", determinism="nondeterministic")
def loose() -> int:
    raise SystemExit


@tool("dying", determinism="deterministic")
def dying() -> None:
    os._exit(3)


@tool("forking", determinism="deterministic")
def forking() -> int:
    return os.fork() * 0


@tool("hanging", determinism="deterministic")
def hanging() -> None:
    while True:
        pass


registry = Registry([stuck, unique, terms, loose, dying, forking])
alone = Registry([hanging], "alone")
"""


@pytest.mark.integration
def test_each_tool_that_is_odd_gets_its_verdict(tmp_path: Path) -> None:
    """Several processes: a hash seed is read at their start, and one tool ends its own."""
    (tmp_path / "odd.py").write_text(ODD)
    done = cli("tools", "verify", "odd.py:registry", cwd=tmp_path)
    lines = done.stdout.splitlines()

    assert done.returncode == 1
    assert lines[0].endswith("3 exposed, 2 could-not-tell, 1 promises-nothing (dying, stuck)")
    assert {line.split("  ")[0]: line.split("  ")[1] for line in lines if line.endswith(" s]")} == {
        "dying": "could not tell",
        "forking": "breaks its declaration (deterministic)",
        "loose": "declares nothing that could be tried",
        "stuck": "could not tell",
        "terms": "breaks its declaration (deterministic)",
        "unique": "breaks its declaration (deterministic)",
    }
    assert sum("exposed by hash seed: " in line for line in lines) == 2
    assert "  its process died" in lines
    assert "ValueError" in done.stdout


@pytest.mark.integration
def test_a_tool_that_never_returns_is_given_up(tmp_path: Path) -> None:
    """A process, because this one would wait with it."""
    (tmp_path / "odd.py").write_text(ODD)
    (tool,) = verify_tools(f"{tmp_path / 'odd.py'}:alone", limit_s=0.2).tools

    assert tool.verdict == ToolVerdict.COULD_NOT_TELL
    assert tool.cases[0].failure == "it took longer than 0.2 s"


@pytest.mark.integration
@pytest.mark.heavy
def test_a_registry_that_starts_threads_is_tried_without_forks(tmp_path: Path) -> None:
    """A process for each trial, because a fork would lose the thread."""
    (tmp_path / "threaded.py").write_text(
        "import threading\nfrom twice.tools import Registry, tool\n\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n\n"
        "@tool('one', determinism='deterministic')\n"
        "def one() -> int:\n    return threading.active_count()\n\n"
        "registry = Registry([one])\n"
    )
    found = verify_tools(f"{tmp_path / 'threaded.py'}:registry")

    assert found.tools[0].verdict == ToolVerdict.NO_DIFFERENCE
    assert found.processes.started == 1 + found.tools[0].runs


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be used"),
        ('{"format": "other"}', "its format is not twice.tools-cases/1"),
        ('{"format": "twice.tools-cases/1"}', "of no tool"),
        ('{"format": "twice.tools-cases/1", "cases": [{"tool": "no"}]}', "of no tool"),
        ('{"format": "twice.tools-cases/1", "cases": [{"tool": "t", "args": {}}]}', "has 'args'"),
    ],
)
def test_a_file_of_cases_that_is_none_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "cases.json").write_text(text)

    with pytest.raises(UsageError, match=words):
        read_cases(tmp_path / "cases.json", ["t"])


@pytest.mark.integration
@pytest.mark.heavy
def test_cases_of_a_file_stand_before_those_of_the_declaration(tmp_path: Path) -> None:
    """Processes, which load the registry and read the file."""
    start = [{"tool": "shelf.put", "arguments": {"name": "t", "values": []}}]
    document = {"format": "twice.tools-cases/1", "cases": [{"tool": "shelf.list", "start": start}]}
    (tmp_path / "cases.json").write_text(json.dumps(document))
    (found,) = verify_tools(SHELF, "shelf.list", cases=tmp_path / "cases.json").tools

    assert [(each.origin, len(each.case["start"])) for each in found.cases] == [("file", 1)]
    assert found.verdict == ToolVerdict.NO_DIFFERENCE
    with pytest.raises(UsageError, match="has no tool"):
        verify_tools(SHELF, "shelf.no")


@pytest.mark.heavy
def test_one_tool_that_cannot_be_tried_hides_no_other(tmp_path: Path) -> None:
    done = cli("tools", "verify", "memory", "--json", cwd=tmp_path)
    tools = {each["name"]: each for each in json.loads(done.stdout)["tools"]}
    untold = [tools.pop(name) for name in ("mesh.boolean", "render.pixels")]

    assert done.returncode == 2
    assert {each["verdict"] for each in untold} == {"could-not-tell"}
    assert all("capability_missing" in each["cases"][0]["failure"] for each in untold)
    assert {each["verdict"] for each in tools.values()} == {"no-difference"}
    assert len(tools) == 22
