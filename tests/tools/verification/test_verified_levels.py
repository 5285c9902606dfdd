"""A verification counts for the tools, backend, files and libraries that it was made of, and for nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import shelf
from hypothesis import example, given
from hypothesis import strategies as st

from programs import cli
from twice.errors import UsageError
from twice.tools import Session, negotiate
from twice.tools.determinism import Level
from twice.tools.verification.report import (
    CaseResult,
    ProcessCount,
    RegistryDescription,
    RegistryVerification,
    StaticReading,
    ToolDescription,
    ToolVerdict,
    ToolVerification,
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
LOADED: dict[str, Any] = {
    "registry_fingerprint": "sha256:all",
    "backend": "shelf",
    "profile": {"version": "1"},
    "sources": SOURCES,
    "environment": ENVIRONMENT,
}
HERE = RegistryDescription(**LOADED, tools=(TOOL,))
CASES = (CaseResult({}, "sha256:case", "declared", "", "sha256:result", "sha256:state"),)


def verification(
    level: Level = Level.PERTURBED, verdict: str = "no-difference", **changed: Any
) -> RegistryVerification:
    tool = ToolVerification(
        "shelf.list", FINGERPRINT, "deterministic", verdict, level.value, 5, 0.5, CASES, (), (), (),
        StaticReading(True, ()), {}, (),
    )  # fmt: skip
    made = RegistryVerification(
        **LOADED, registry=SHELF, processes=ProcessCount(3, 1.0), tools=(tool,)
    )
    return replace(made, **changed)


def test_the_furthest_level_counts_and_a_session_takes_it() -> None:
    files = {"a": verification(Level.RERUN), "b": verification(), "c": verification(Level.STATIC)}
    levels, notes = choose_levels(files, HERE)
    backend = shelf.Shelf()
    contract = negotiate({"level": "perturbed"}, shelf.registry, backend)
    sessions = [Session(shelf.registry, backend, contract, levels=each) for each in (None, levels)]

    assert (levels, notes) == ({FINGERPRINT: Level.PERTURBED}, [])
    assert [each.call("shelf.list")["ok"] for each in sessions] == [False, True]


ANOTHER = (replace(TOOL, fingerprint="sha256:new"),)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"backend": "memory"}, "and this is memory"),
        ({"profile": {"version": "2"}}, "it was made on shelf {"),
        ({"sources": {**SOURCES, "drawing/lots.py": "sha256:new"}}, "drawing/lots.py was changed"),
        ({"sources": {"tools.py": "sha256:tools"}}, "drawing/lots.py was changed"),
        ({"environment": {**ENVIRONMENT, "python": {"version": "3.13"}}}, "python was 3.11.7 then"),
        ({"environment": {**ENVIRONMENT, "libraries": {}}}, "numpy was 2.4.6 then"),
        ({"tools": ()}, "has no tool"),
        ({"tools": ANOTHER}, "another fingerprint here"),
    ],
)
def test_a_verification_of_something_else_counts_as_nothing(
    changed: dict[str, Any], words: str
) -> None:
    levels, notes = choose_levels({"a.json": verification()}, replace(HERE, **changed))

    assert levels == {}
    assert words in notes[0]
    assert notes[0].startswith("a.json counts as nothing for shelf.list")


@pytest.mark.parametrize("order", [1, -1])
def test_an_exposed_tool_has_no_level_whatever_others_say(order: int) -> None:
    exposed = verification(Level.DECLARED, ToolVerdict.EXPOSED, environment={"os": "other"})
    files = [("a", verification()), ("b", exposed)][::order]
    levels, notes = choose_levels(dict(files), HERE)

    assert levels == {}
    assert "shelf.list was exposed (b): it has no level" in notes


def test_what_another_host_found_is_compared_case_by_case() -> None:
    made, other = verification(), replace(CASES[0], result="sha256:other")

    assert compare_hosts("shelf.list", CASES, made, HERE) == ""
    assert compare_hosts("shelf.list", [other], made, HERE)
    assert compare_hosts("shelf.list", [replace(other, digest="sha256:new")], made, HERE) is None
    assert compare_hosts("shelf.list", CASES, made, replace(HERE, backend="memory")) is None


def test_what_is_written_is_read_and_members_of_a_later_version_are_left_out(
    tmp_path: Path,
) -> None:
    path = tmp_path / "verified.json"
    path.write_text(json.dumps({**verification().to_json(), "more": 1}))

    assert read_verification(path) == verification()


def edit(**changed: Any) -> bytes:
    document = verification().to_json()
    document["tools"][0].update(changed)
    return json.dumps(document).encode()


@given(st.binary(max_size=300))
@example(b"{}")
@example(b"[]")
@example(b'{"format": "twice.tools-verification/1"}')
@example(edit(level="certain"))
@example(edit(verdict="fine"))
@example(edit(cases=[{}]))
@example(edit(runs="many"))
def test_bytes_that_are_no_verification_are_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("verified") / "a.json"
    path.write_bytes(data)

    with pytest.raises(UsageError, match="is no verification of tools"):
        read_verification(path)


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
