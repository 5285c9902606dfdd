"""A certificate counts for the tool, backend and profile that it was made of, whole, and for nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs import cli
from twice.tools import Registry, Session, negotiate
from twice.tools.determinism import Level
from twice.tools.plain import fingerprint
from twice.tools.scenes.tables import Tables, registry
from twice.tools.verification.certificates import (
    There,
    levels,
    read_certificates,
    write_certificates,
)
from twice.tools.verification.result import ToolVerification, Tried, Verdict, Verification

TOOLS = {each.name: each.fingerprint for each in registry}
PROFILE = {"version": "1"}
DROP = '{"table": "t"}'
ENVIRONMENT = {
    "os": {"system": "Linux"},
    "cpu": {"arch": "x86_64"},
    "python": {"version": "3.11.7"},
    "libraries": {"numpy": "2.4.6"},
}
SOURCES = {"tools.py": "sha256:tools", "drawing/lots.py": "sha256:lots"}
HERE = There(TOOLS, "tables", PROFILE, SOURCES, {"python": "3.11.7", "numpy": "2.4.6"})


def verification(level: Level = Level.PERTURBED, **changed: Any) -> Verification:
    tool = ToolVerification(
        "table.list",
        TOOLS["table.list"],
        "deterministic",
        changed.pop("verdict", Verdict.NO_DIFFERENCE),
        level,
        runs=5,
        cases=[Tried({}, "sha256:case", "declared", "", "sha256:result", "sha256:state")],
    )
    fields = {
        "registry": "tables",
        "fingerprint": registry.fingerprint,
        "backend": "tables",
        "profile": PROFILE,
        "environment": ENVIRONMENT,
        "sources": SOURCES,
        "tools": [tool],
        **changed,
    }
    return Verification(**fields)


def counted(folder: Path) -> tuple[dict[str, Level], list[str]]:
    found, said = read_certificates(folder)
    given_, more = levels(found, HERE)
    return given_, [*said, *more]


def test_a_certificate_gives_its_level(tmp_path: Path) -> None:
    write_certificates(tmp_path, verification())

    assert counted(tmp_path) == ({TOOLS["table.list"]: Level.PERTURBED}, [])


def edited(path: Path, **changed: Any) -> None:
    document = json.loads(path.read_text())
    document["tools"][0].update(changed)
    path.write_text(json.dumps(document))


def test_an_edited_one_counts_as_nothing(tmp_path: Path) -> None:
    (path,) = write_certificates(tmp_path, verification(Level.RERUN))
    edited(path, level="cross-host")

    given_, said = counted(tmp_path)

    assert given_ == {}
    assert "it was edited" in said[0]


def test_one_of_another_fingerprint_counts_as_nothing(tmp_path: Path) -> None:
    write_certificates(tmp_path, verification())
    found, _ = read_certificates(tmp_path)

    given_, said = levels(found, replace(HERE, tools={**TOOLS, "table.list": "sha256:new"}))

    assert given_ == {}
    assert "another fingerprint here" in said[0]


@pytest.mark.parametrize("changed", [{"backend": "memory"}, {"profile": {"version": "2"}}])
def test_one_of_another_backend_counts_as_nothing(tmp_path: Path, changed: dict[str, Any]) -> None:
    write_certificates(tmp_path, verification(**changed))

    given_, said = counted(tmp_path)

    assert given_ == {}
    assert "it was made on" in said[0]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"sources": {**SOURCES, "drawing/lots.py": "sha256:new"}}, "drawing/lots.py was changed"),
        ({"sources": {"tools.py": "sha256:tools"}}, "drawing/lots.py was changed"),
        ({"versions": {"python": "3.13.1", "numpy": "2.4.6"}}, "python was 3.11.7 then"),
        ({"versions": {"python": "3.11.7"}}, "numpy was 2.4.6 then, and is missing here"),
    ],
)
def test_one_of_other_code_counts_as_nothing(
    tmp_path: Path, changed: dict[str, Any], words: str
) -> None:
    write_certificates(tmp_path, verification())
    found, _ = read_certificates(tmp_path)

    given_, said = levels(found, replace(HERE, **changed))

    assert given_ == {}
    assert words in said[0]


@pytest.mark.heavy
def test_a_certificate_does_not_outlive_a_helper_of_the_tool(tmp_path: Path) -> None:
    (tmp_path / "helping.py").write_text("def helped() -> int:\n    return 1\n")
    (tmp_path / "helped.py").write_text(
        "from helping import helped\nfrom twice.tools import Registry, tool\n\n"
        "@tool('help', determinism='deterministic')\n"
        "def help_() -> int:\n    return helped()\n\n"
        "registry = Registry([help_])\n"
    )
    strict = ("--contract", '{"level": "perturbed"}', "--certificates", "there")
    call = ("tools", "call", "helped.py:registry", "help", *strict)
    cli("tools", "verify", "helped.py:registry", "--certificates", "there", cwd=tmp_path)
    before = cli(*call, cwd=tmp_path)
    (tmp_path / "helping.py").write_text("import os\n\ndef helped() -> int:\n    return 2\n")
    after = cli(*call, cwd=tmp_path)

    assert (before.returncode, after.returncode) == (0, 1)
    assert "helping.py was changed since" in after.stderr
    assert "nondeterministic_refused" in after.stdout


def test_an_exposed_tool_has_no_level_whatever_others_say(tmp_path: Path) -> None:
    write_certificates(tmp_path, verification())
    other = {**ENVIRONMENT, "os": {"system": "Other"}}
    write_certificates(
        tmp_path,
        verification(Level.DECLARED, verdict=Verdict.EXPOSED, environment=other),
    )

    given_, said = counted(tmp_path)

    assert given_ == {}
    assert "was exposed" in said[0]


@given(st.binary(max_size=300))
def test_no_bytes_make_reading_fail(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("certificates")
    (folder / "a.json").write_bytes(data)

    found, said = read_certificates(folder)

    assert (found, len(said)) == ([], 1)


@pytest.mark.parametrize("text", ["{}", "[]", "null", '{"format": "twice.tools-verification/1"}'])
def test_other_documents_are_no_certificates(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)

    assert counted(tmp_path)[0] == {}


def test_a_session_that_requires_a_level_takes_it_from_certificates(tmp_path: Path) -> None:
    write_certificates(tmp_path, verification())
    given_, _ = counted(tmp_path)
    backend = Tables()
    contract = negotiate({"level": "perturbed"}, registry, backend)

    without = Session(registry, backend, contract).call("table.list")
    with_it = Session(registry, backend, contract, levels=given_).call("table.list")

    assert without["error"]["code"] == "nondeterministic_refused"
    assert with_it["ok"]


@pytest.mark.heavy
def test_the_command_writes_what_calls_read(tmp_path: Path) -> None:
    strict = ("--contract", '{"level": "perturbed"}', "--certificates", "there")
    made = cli("tools", "verify", "tables", "table.list", "--certificates", "there", cwd=tmp_path)
    called = cli("tools", "call", "tables", "table.list", *strict, cwd=tmp_path)
    refused = cli("tools", "call", "tables", "table.drop", "--args", DROP, *strict, cwd=tmp_path)

    assert (made.returncode, called.returncode, refused.returncode) == (0, 0, 1)
    assert "twice tools verify" in refused.stdout


def elsewhere(folder: Path, **changed: Any) -> None:
    """Let a certificate be one of another host, or of one that saw something else."""
    (path,) = folder.iterdir()
    document = json.loads(path.read_text())
    document["environment"]["cpu"]["model"] = "another processor"
    document["tools"][0]["cases"][0].update(changed)
    del document["digest"]
    document["digest"] = fingerprint(document)
    path.write_text(json.dumps(document))
    path.rename(path.with_name("elsewhere.json"))


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("changed", "code", "level"),
    [({}, 0, "cross-host"), ({"result": "sha256:other"}, 1, "declared")],
)
def test_a_certificate_of_another_host_is_repeated_here(
    tmp_path: Path, changed: dict[str, Any], code: int, level: str
) -> None:
    command = ("tools", "verify", "tables", "table.list", "--json", "--certificates", "there")
    cli(*command, cwd=tmp_path)
    elsewhere(tmp_path / "there", **changed)
    again = cli(*command, cwd=tmp_path)
    (tool,) = json.loads(again.stdout)["tools"]

    assert (again.returncode, tool["level"]) == (code, level)
    assert [each["by"] for each in tool["exposures"]] == (["another host"] if code else [])


def test_cases_are_no_part_of_a_fingerprint() -> None:
    tool = registry.get("table.list")
    assert tool is not None
    assert "cases" not in tool.descriptor
    assert Registry([tool]).fingerprint
