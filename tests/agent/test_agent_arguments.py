"""Arguments of a call: bounds, paths inside the roots, and commands that no value can turn into an option."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from twice.agent.errors import ArgumentsRefused, PathOutsideRoots
from twice.agent.roots import Roots, open_roots
from twice.agent.server import read_arguments
from twice.agent.verbs import VERBS, executes


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("verdict", {}, "There is no tool 'verdict'"),
        ("verify", {}, "record"),
        ("verify", {"record": 3}, "record"),
        ("verify", {"record": "a.twice", "from": -1}, "from"),
        ("verify", {"record": "a.twice", "speed": 2}, "speed"),
        ("verify", {"record": "a.twice", "timeout_s": 0}, "timeout_s"),
        ("verify", {"record": "a\n.twice"}, "control character"),
        ("record", {"program": "a.py", "args": ["\x1b[2J"]}, "control character"),
        ("record", {"program": "a.py", "seed": "7"}, "seed"),
        ("record", {"program": "a.py", "seed": 2**64}, "seed"),
        ("check", {"paths": []}, "paths"),
        ("gate", {"only": [18]}, "only"),
        ("scaffold", {"component": "--force"}, "component"),
        ("spec", {"action": "adopt"}, "action"),
        ("gate", {"component": "--out"}, "component"),
    ],
)
def test_a_call_that_fits_no_schema_is_refused_by_name(
    name: str, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ArgumentsRefused) as refused:
        read_arguments(name, given)
    assert said in refused.value.happened


@pytest.mark.parametrize("name", VERBS)
def test_every_argument_says_what_it_is(name: str) -> None:
    schema = VERBS[name].model_json_schema()
    assert schema["additionalProperties"] is False
    assert VERBS[name].__doc__
    assert len(json.dumps(schema)) < 3000


def test_a_component_s_sheets_are_named_to_the_command() -> None:
    for name, first in (("spec", ["spec", "status"]), ("gate", ["gate"])):
        command = read_arguments(name, {"component": "kiln"}).to_command()
        assert command[: len(first) + 1] == [*first, "--component=kiln"]


def test_a_text_stays_a_text_and_never_becomes_an_option(tmp_path: Path) -> None:
    given = {
        "program": "a.py:main",
        "config": {"rate": "7", "n": 7, "on": True},
        "args": ["--force"],
        "out": "--force",
    }
    placed = Roots((tmp_path,)).place(read_arguments("record", given))
    command = placed.to_command()
    assert command[-2:] == ["--", "--force"]
    assert command[command.index("-o") + 1] == str(tmp_path / "--force")
    assert {"--set", 'rate="7"', "n=7", "on=true"} <= set(command)


@pytest.mark.parametrize("given", ["../b.twice", "/etc/passwd", "link/b.twice"])
def test_a_path_that_leads_out_of_the_roots_is_refused(tmp_path: Path, given: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(PathOutsideRoots, match="leads to"):
        Roots((root.resolve(),)).place(read_arguments("verify", {"record": given}))


def test_a_program_is_a_file_inside_the_roots(tmp_path: Path) -> None:
    roots = Roots((tmp_path,))
    placed = roots.place(read_arguments("vary", {"program": "sim.py:main"}))
    assert placed.to_command()[1] == f"{tmp_path}/sim.py:main"
    with pytest.raises(PathOutsideRoots):
        roots.place(read_arguments("vary", {"program": "/bin/x.py"}))
    with pytest.raises(ArgumentsRefused, match="names no Python file"):
        roots.place(read_arguments("vary", {"program": "os:system"}))


def test_a_new_record_takes_a_free_path(tmp_path: Path) -> None:
    (tmp_path / "sim-1.twice").touch()
    placed = Roots((tmp_path,)).place(read_arguments("record", {"program": "sim.py:main"}))
    assert f"{tmp_path}/sim-2.twice" in placed.to_command()


def test_a_client_grants_less_than_the_server_and_never_more(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / "src").mkdir(parents=True)
    outside.mkdir()
    (project / "way out").symlink_to(outside)
    roots = open_roots([project])
    assert roots.narrow([]) == roots
    assert roots.narrow([tmp_path.as_uri()]) == roots
    assert roots.narrow([(project / "src").as_uri()]).folders == (project / "src",)
    for uri in (outside.as_uri(), (project / "way out").as_uri(), "https://example.org/project"):
        with pytest.raises(PathOutsideRoots, match="The client's root"):
            roots.narrow([uri])
    with pytest.raises(PathOutsideRoots, match="is no folder"):
        open_roots([project / "not there"])


def test_what_only_looks_is_told_from_what_runs_or_writes() -> None:
    looks: list[tuple[str, dict[str, Any]]] = [
        ("check", {"paths": ["."]}),
        ("review", {"paths": ["."]}),
        ("records", {}),
        ("show_state", {"record": "a.twice"}),
        ("diagnose", {"a": "a.twice", "b": "b.twice", "lines": False}),
        ("gate", {"report": True}),
        ("scaffold", {"component": "x"}),
        ("spec", {}),
    ]
    runs: list[tuple[str, dict[str, Any]]] = [
        ("record", {"program": "a.py"}),
        ("verify", {"record": "a.twice"}),
        ("vary", {"program": "a.py"}),
        ("branch", {"record": "a.twice", "at": 1}),
        ("show_state", {"record": "a.twice", "tick": 1, "execute": True}),
        ("diagnose", {"a": "a.twice", "b": "b.twice"}),
        ("gate", {}),
        ("scaffold", {"component": "x", "apply": True}),
        ("spec", {"action": "bump"}),
    ]
    assert not any(executes(read_arguments(*each)) for each in looks)
    assert all(executes(read_arguments(*each)) for each in runs)
