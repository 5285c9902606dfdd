"""A verification counts for the tools, backend, files and libraries that it was made of, and for nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import shelf
from hypothesis import given
from hypothesis import strategies as st

from programs import cli
from twice.errors import UsageError
from twice.tools import Session, negotiate
from twice.tools.determinism import Level
from twice.tools.verification.report import (
    CaseResult,
    ProcessCount,
    RegistryDescription,
    StaticReading,
    ToolDescription,
    ToolVerification,
    Verdict,
    Verification,
    choose_levels,
    compare_hosts,
    read_verification,
)

SHELF = f"{shelf.__file__}:registry"
FINGERPRINT = {each.name: each.fingerprint for each in shelf.registry}["shelf.list"]
ENVIRONMENT = {
    "os": {"system": "Linux"},
    "cpu": {"arch": "x86_64"},
    "python": {"version": "3.11.7"},
    "libraries": {"numpy": "2.4.6"},
}
SOURCES = {"tools.py": "sha256:tools", "drawing/lots.py": "sha256:lots"}
TOOL = ToolDescription(
    "shelf.list", FINGERPRINT, "deterministic", True, False, False, None, None, "declared", (), ""
)
HERE = RegistryDescription("sha256:all", "shelf", {"version": "1"}, SOURCES, ENVIRONMENT, (TOOL,))
CASES = (CaseResult({}, "sha256:case", "declared", "", "sha256:result", "sha256:state"),)


def verification(
    level: Level = Level.PERTURBED, verdict: str = "no-difference", **changed: Any
) -> Verification:
    tool = ToolVerification(
        "shelf.list", FINGERPRINT, "deterministic", verdict, level.value, 5, 0.5, CASES, (), (), (),
        StaticReading(True, ()), {}, (),
    )  # fmt: skip
    made = Verification(
        SHELF, "sha256:all", "shelf", {"version": "1"}, ENVIRONMENT, SOURCES,
        ProcessCount(3, 1.0), (tool,),
    )  # fmt: skip
    return replace(made, **changed)


def test_a_verification_gives_its_level() -> None:
    assert choose_levels({"a": verification()}, HERE) == ({FINGERPRINT: Level.PERTURBED}, [])


def test_of_several_the_furthest_level_counts() -> None:
    files = {"a": verification(Level.RERUN), "b": verification(), "c": verification(Level.STATIC)}

    assert choose_levels(files, HERE)[0] == {FINGERPRINT: Level.PERTURBED}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"backend": "memory"}, "it was made on memory"),
        ({"profile": {"version": "2"}}, "it was made on shelf"),
        ({"sources": {**SOURCES, "drawing/lots.py": "sha256:new"}}, "drawing/lots.py was changed"),
        ({"sources": {"tools.py": "sha256:tools"}}, "drawing/lots.py was changed"),
        ({"environment": {**ENVIRONMENT, "python": {"version": "3.13"}}}, "python was 3.13 then"),
        ({"environment": {**ENVIRONMENT, "libraries": {}}}, "numpy was missing then"),
    ],
)
def test_one_that_was_made_of_something_else_counts_as_nothing(
    changed: dict[str, Any], words: str
) -> None:
    levels, notes = choose_levels({"a.json": verification(**changed)}, HERE)

    assert levels == {}
    assert words in notes[0]
    assert notes[0].startswith("a.json counts as nothing for shelf.list")


@pytest.mark.parametrize(
    ("tools", "words"),
    [((), "has no tool"), ((replace(TOOL, fingerprint="sha256:new"),), "another fingerprint here")],
)
def test_one_of_another_tool_counts_as_nothing(
    tools: tuple[ToolDescription, ...], words: str
) -> None:
    levels, notes = choose_levels({"a": verification()}, replace(HERE, tools=tools))

    assert levels == {}
    assert words in notes[0]


@pytest.mark.parametrize("is_exposed_first", [False, True])
def test_an_exposed_tool_has_no_level_whatever_others_say(is_exposed_first: bool) -> None:
    exposed = verification(Level.DECLARED, Verdict.EXPOSED, environment={"os": "other"})
    files = {"a": verification(), "b": exposed}

    levels, notes = choose_levels(
        dict(reversed(files.items())) if is_exposed_first else files, HERE
    )

    assert levels == {}
    assert "shelf.list was exposed (b): it has no level" in notes


def test_what_another_host_found_is_compared_case_by_case() -> None:
    made, other = verification(), replace(CASES[0], result="sha256:other")

    assert compare_hosts("shelf.list", CASES, made, HERE) == ""
    assert compare_hosts("shelf.list", [other], made, HERE)
    assert compare_hosts("shelf.list", [replace(other, digest="sha256:new")], made, HERE) is None
    assert compare_hosts("shelf.list", CASES, made, replace(HERE, backend="memory")) is None


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "verified.json"
    path.write_text(json.dumps(verification().to_json()))

    assert read_verification(path) == verification()


def test_members_of_a_later_version_are_left_out(tmp_path: Path) -> None:
    path, document = tmp_path / "verified.json", verification().to_json()
    path.write_text(json.dumps({**document, "more": 1}))

    assert read_verification(path) == verification()


@given(st.binary(max_size=300))
def test_bytes_that_are_no_verification_are_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("verified") / "a.json"
    path.write_bytes(data)

    with pytest.raises(UsageError, match="is no verification of tools"):
        read_verification(path)


def edited(**changed: Any) -> str:
    document = verification().to_json()
    document["tools"][0].update(changed)
    return json.dumps(document)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        '{"format": "twice.tools-verification/1"}',
        edited(level="certain"),
        edited(verdict="fine"),
        edited(cases=[{}]),
        edited(runs="many"),
    ],
)
def test_other_documents_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)

    with pytest.raises(UsageError, match="is no verification of tools"):
        read_verification(tmp_path / "a.json")


def test_a_session_that_requires_a_level_takes_it_from_a_verification() -> None:
    levels, _ = choose_levels({"a": verification()}, HERE)
    backend = shelf.Shelf()
    contract = negotiate({"level": "perturbed"}, shelf.registry, backend)

    without = Session(shelf.registry, backend, contract).call("shelf.list")
    with_it = Session(shelf.registry, backend, contract, levels=levels).call("shelf.list")

    assert without["error"]["code"] == "nondeterministic_refused"
    assert with_it["ok"]


@pytest.mark.integration
def test_the_command_writes_what_calls_and_other_hosts_read(tmp_path: Path) -> None:
    """Real commands, because each of them loads the registry in processes of its own."""
    (tmp_path / "helping.py").write_text("def helped() -> int:\n    return 1\n")
    (tmp_path / "helped.py").write_text(
        "from helping import helped\nfrom twice.tools import Registry, tool\n\n"
        "@tool('help', determinism='deterministic')\n"
        "def help_() -> int:\n    return helped()\n\n"
        "registry = Registry([help_])\n"
    )
    verify = ("tools", "verify", "helped.py:registry", "--json")
    strict = ("--contract", '{"level": "perturbed"}', "--verified", "a.json")
    call = ("tools", "call", "helped.py:registry", "help", *strict)
    made = cli(*verify, "-o", "a.json", cwd=tmp_path)
    before = cli(*call, cwd=tmp_path)
    document = json.loads((tmp_path / "a.json").read_text())
    document["environment"]["cpu"]["model"] = "another processor"
    (tmp_path / "b.json").write_text(json.dumps(document))
    document["tools"][0]["cases"][0]["result"] = "sha256:other"
    (tmp_path / "c.json").write_text(json.dumps(document))
    same, other = (cli(*verify, "--verified", name, cwd=tmp_path) for name in ("b.json", "c.json"))
    (tmp_path / "helping.py").write_text("import os\n\ndef helped() -> int:\n    return 2\n")
    after = cli(*call, cwd=tmp_path)

    assert (made.returncode, before.returncode) == (0, 0)
    assert (same.returncode, json.loads(same.stdout)["tools"][0]["level"]) == (0, "cross-host")
    exposures = json.loads(other.stdout)["tools"][0]["exposures"]
    assert (other.returncode, [each["by"] for each in exposures]) == (1, ["another host"])
    assert after.returncode == 1
    assert "helping.py was changed since" in after.stderr
    assert "nondeterministic_refused" in after.stdout
