"""Every lie is exposed by what it depends on, none of the honest tools is accused, and the words are modest."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import shelf

from programs import cli
from twice.cli.commands.tools.verify import find_suspicions
from twice.errors import UsageError
from twice.tools.determinism import Level
from twice.tools.verification.cases import read_cases
from twice.tools.verification.report import RegistryVerification, ToolVerdict
from twice.tools.verification.verify import verify_tools

SHELF = f"{shelf.__file__}:registry"
CORPORA = Path(__file__).parents[2] / "corpora"


def look(name: str) -> tuple[dict[str, set[str]], RegistryVerification]:
    """Verify a set of tools, and return with it the labels of those that lie."""
    folder = CORPORA / name
    labels = json.loads((folder / "labels.json").read_text())
    found = verify_tools(f"{folder / 'liars.py'}:registry", checker=find_suspicions)
    return {name: {*causes} for name, causes in labels.items()}, found


@pytest.mark.heavy
def test_lying_and_honest_tools() -> None:
    """One test, because its processes are shared: every claim is about one verification."""
    lies, found = look("lying_tools")
    tools = {each.name: each for each in found.tools}
    honest = [each for each in found.tools if each.name.startswith("honest.")]
    by = {name: {each.by for each in tools[name].exposures} for name in lies}
    rules = {each.name: {one.rule for one in each.static.suspicions} for each in found.tools}
    if "processors" in tools["lie.processors"].not_tried:  # There is one only.
        lies["lie.processors"] = {"enforcement"}
    if by["lie.date"] == {"enforcement"}:  # Both zones have one date for a quarter of an hour.
        lies["lie.date"] = {"enforcement"}

    assert by == lies
    assert {tools[name].verdict for name in lies} == {ToolVerdict.EXPOSED}
    assert {tools[name].level for name in lies} == {Level.DECLARED}
    assert [str(each) for one in honest for each in one.exposures] == []
    assert {(each.verdict, each.level) for each in honest} == {("no-difference", "perturbed")}
    assert (len(lies), len(honest)) == (28, 6)
    assert found.processes.started <= 18
    assert found.exit_code == 1

    refused = next(each for each in tools["lie.seconds"].exposures if each.by == "enforcement")
    assert refused.need == "clock"
    assert refused.place.rpartition(":")[0].endswith("liars.py")
    assert tools["lie.network"].not_tried["without enforcement"] == "it needs network"
    assert tools["lie.network"].runs == 1
    expected = {
        "lie.set_order": "set-order", "lie.counter_name": "counter-name", "lie.listing": "unsorted-listing",
    }  # fmt: skip
    assert {name: {*rules[name]} for name in expected} == {k: {v} for k, v in expected.items()}
    assert not any(rules[each.name] for each in honest)

    text = "\n".join(line for each in honest for line in each.lines())
    assert "no difference seen in" in text
    assert "determin" not in text
    lines = [*found.lines()]
    assert "no proof" in lines[-1]
    assert any(line.startswith("not tried: task order") for line in lines)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "count", "accused"),
    [("lying_tools_second", 13, set()), ("lying_tools_third", 20, {"honest.listed"})],
)
def test_further_sets_of_lying_tools(name: str, count: int, accused: set[str]) -> None:
    """Processes in other surroundings, as above."""
    lies, found = look(name)
    by = {each.name: {exposure.by for exposure in each.exposures} for each in found.tools}
    honest = [each for each in found.tools if each.name not in lies]

    assert [name for name, causes in lies.items() if not by[name] & causes] == []
    assert len(honest) == count
    assert {each.name for each in honest if each.verdict != ToolVerdict.NO_DIFFERENCE} == accused


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
@pytest.mark.heavy
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
    told = re.split(r"\n(?=\w+  )", done.stdout)
    by_seed = {each.split()[0] for each in told if "  exposed by hash seed: " in each}
    assert by_seed == {"terms", "unique"}
    assert "  its process died" in lines
    assert "ValueError" in done.stdout


@pytest.mark.integration
def test_a_tool_that_never_returns_is_given_up(tmp_path: Path) -> None:
    """A process, because this one would wait with it."""
    (tmp_path / "odd.py").write_text(ODD)
    (tool,) = verify_tools(f"{tmp_path / 'odd.py'}:alone", limit_s=0.2).tools

    assert tool.verdict == ToolVerdict.COULD_NOT_TELL
    assert tool.cases[0].failure == "it took longer than 0.2 s"


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
        (
            '{"format": "twice.tools-cases/1", "cases": [{"tool": "t", "start": [{}]}]}',
            r"in cases\[0\], start\[0\].tool is not text",
        ),
    ],
)
def test_a_file_of_cases_that_is_none_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "cases.json").write_text(text)

    with pytest.raises(UsageError, match=words):
        read_cases(tmp_path / "cases.json", ["t"])


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
