"""A coding agent's whole way through the server, and everything that a client can do wrong.

Every call is a process of ``twice``, because what a program does must not reach the server.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")

from mcp import MCPError
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import INVALID_PARAMS, ElicitRequestParams, ElicitResult, ListRootsResult, Root

from tiers import sampled
from twice.agent.resources import address_of_record
from twice.agent.roots import Roots
from twice.agent.server import AgentServer

pytestmark = pytest.mark.integration

ANTS = """
import random

draw = random.Random(11)
hungry = {"elm", "oak", "birch", "hazel", "rowan"}
larder = 60
for nest in hungry:
    given = min(draw.randrange(5, 25), larder)
    larder -= given
    print(nest, given)
"""
ENDLESS = "import time\nopen('begun', 'w').close()\ntime.sleep(1e6)\n"
STUBBORN = f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{ENDLESS}"
LOUD = "print('x' * 100_000_000)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with programs."""
    texts = {"ants": ANTS, "endless": ENDLESS, "stubborn": STUBBORN, "loud": LOUD}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def server_at(project: Path, *, may_execute: bool = True) -> Any:
    return AgentServer(Roots((project.resolve(),)), may_execute=may_execute).build()


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for another process."""
    while not is_so():  # noqa: ASYNC110  (another process is waited for)
        await anyio.sleep(0.02)


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool; the answer is one document, as text and as structure."""
    result = await client.call_tool(tool, arguments)
    document: dict[str, Any] | None = result.structured_content
    assert document is not None
    assert json.loads(result.content[0].text) == document  # type: ignore[union-attr]
    assert result.is_error is not document["ok"]
    return document


def test_a_bug_is_found_corrected_and_proven(project: Path) -> None:
    async def work() -> None:
        async with Client(server_at(project)) as client:
            recorded = await call(client, "record", program="ants.py", seed=1)
            verified = await call(client, **recorded["next"][0]["arguments"], tool="verify")
            assert verified["result"] == "PASS"
            varied = await call(client, "vary", program="ants.py", factors=["hash seed"])
            assert varied["headline"] == "FAIL: depends on hash seed (ants.py:7)"
            assert varied["answer"]["depends_on"][0]["operation"]["line"] == 7
            text = (project / "ants.py").read_text().replace("in hungry", "in sorted(hungry)")
            (project / "ants.py").write_text(text)
            proven = await call(client, "vary", program="ants.py", factors=["hash seed"])
            assert proven["result"] == "PASS"
            refused = await call(client, "verify", record="ants-1.twice")
            assert refused["error"]["id"] == "E-PROGRAM-004"
            (listed,) = (await client.list_resources()).resources
            assert listed.name.endswith("ants-1.twice")
            shown = (await client.read_resource(recorded["more"])).contents[0]
            assert json.loads(shown.text)["points"] == 2  # type: ignore[union-attr]

    anyio.run(work)


def test_a_server_that_looks_runs_nothing(project: Path) -> None:
    async def work() -> None:
        async with Client(server_at(project, may_execute=False)) as client:
            refused = await call(client, "record", program="endless.py")
            assert refused["error"]["id"] == "E-AGENT-002"
            assert "twice agent install --allow-run" in refused["error"]["remedy"]
            found = await call(client, "check", paths=["ants.py"])
            assert found["answer"]["findings"][0]["rule"] == "set-order"
            reviewed = await call(client, "review", paths=["ants.py"])
            assert reviewed["result"] == "broken"
            nothing = await call(client, "spec")
            assert nothing["error"]["id"].startswith("E-")

    anyio.run(work)
    assert not (project / "begun").exists()


def test_a_run_that_never_ends_is_ended(project: Path) -> None:
    async def work() -> dict[str, Any]:
        async with Client(server_at(project)) as client:
            return await call(client, "record", program="endless.py", timeout_s=2)

    assert anyio.run(work)["error"]["id"] == "E-AGENT-004"
    assert _list_processes(project) == []


def test_a_call_that_is_given_up_leaves_no_process(project: Path) -> None:
    async def work() -> None:
        async with Client(server_at(project)) as client:
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: call(client, "record", program="endless.py"))
                await until((project / "begun").exists)
                group.cancel_scope.cancel()
            listed = await call(client, "records")
            assert listed["ok"]

    anyio.run(work)
    assert _list_processes(project) == []


@pytest.mark.heavy
def test_a_program_that_prints_100_megabytes_gives_a_short_answer(project: Path) -> None:
    async def work() -> dict[str, Any]:
        async with Client(server_at(project)) as client:
            return await call(client, "record", program="loud.py")

    assert anyio.run(work)["result"] == "completed"


@pytest.mark.parametrize("program", sampled(["endless", "stubborn"], {"endless"}))
def test_a_server_that_is_killed_takes_its_commands_with_it(project: Path, program: str) -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "twice", "mcp", "--root", str(project), "--allow-run"],
        env=dict(os.environ),
    )

    async def record(client: Client) -> None:
        with suppress(Exception):  # the connection breaks, which must not end the wait below
            await call(client, "record", program=f"{program}.py")

    async def work() -> None:
        async with Client(stdio_client(parameters)) as client:
            async with anyio.create_task_group() as group:
                group.start_soon(record, client)
                await until((project / "begun").exists)
                (served,) = _list_processes(project, "mcp")
                os.kill(served, signal.SIGKILL)
                await until(lambda: not _list_processes(project))
                group.cancel_scope.cancel()

    with suppress(BaseExceptionGroup, MCPError):
        anyio.run(work)
    anyio.run(until, lambda: not _list_processes(project))  # if the client ended before it
    assert _list_processes(project) == []


@pytest.mark.parametrize("mode", sampled(["auto", "legacy"], {"auto"}))
def test_a_record_from_elsewhere_needs_the_users_consent(
    mode: Any,
    project: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def answering(action: str, **content: bool) -> Any:
        async def elicit(context: Any, params: ElicitRequestParams) -> ElicitResult:
            del context
            asked.append(params.message)
            return ElicitResult(action=action, content=dict(content))  # type: ignore[arg-type]

        return elicit

    async def work() -> list[str]:
        async with Client(server_at(project)) as client:
            await call(client, "record", program="ants.py", out="a.twice")
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("elsewhere")))
        results = []
        for elicit in (None, answering("decline"), answering("accept", run=True)):
            async with Client(server_at(project), elicitation_callback=elicit, mode=mode) as client:
                said = await call(client, "verify", record="a.twice")
                results.append(said["result"] if said["ok"] else said["error"]["id"])
        return results

    assert anyio.run(work) == ["E-TRUST-001", "E-TRUST-001", "PASS"]
    assert len(asked) == 2


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_roots_of_the_client_are_kept(mode: Any, project: Path) -> None:
    async def give(context: Any) -> ListRootsResult:
        del context
        return ListRootsResult(roots=[Root.model_validate({"uri": (project / "inner").as_uri()})])

    async def work() -> None:
        (project / "inner").mkdir()
        async with Client(server_at(project), list_roots_callback=give, mode=mode) as client:
            refused = await call(client, "check", paths=["../ants.py"])
            assert refused["error"]["id"] == "E-AGENT-001"

    anyio.run(work)


@pytest.mark.parametrize(
    ("mode", "is_listed_alone"),
    [
        pytest.param("legacy", True, marks=pytest.mark.heavy),
        ("auto", False),
    ],
)
def test_a_record_is_read_in_granted_folders_alone_wherever_it_is_listed(
    mode: Any, is_listed_alone: bool, project: Path
) -> None:
    inner = project / "inner"
    granted = inner

    async def give(context: Any) -> ListRootsResult:
        del context
        return ListRootsResult(roots=[Root.model_validate({"uri": granted.as_uri()})])

    async def work() -> None:
        nonlocal granted
        async with Client(server_at(project)) as client:
            await call(client, "record", program="ants.py", out="a.twice")
        inner.mkdir()
        shutil.copy(project / "a.twice", inner / "a.twice")
        server = AgentServer(Roots((project, inner)), may_execute=False).build()
        async with Client(server, list_roots_callback=give, mode=mode) as client:
            *others, last = [each.uri for each in (await client.list_resources()).resources]
            assert last == address_of_record(f"{inner}/a.twice")
            assert (await client.read_resource(last)).contents
            assert others == ([] if is_listed_alone else [address_of_record(f"{project}/a.twice")])
            for each in others:
                with pytest.raises(MCPError, match=r"leads to .*/a\.twice"):
                    await client.read_resource(each)
            granted = project.parent
            assert (await client.read_resource(last)).contents
            granted = project.parent / "elsewhere"
            with pytest.raises(MCPError, match="The client's root"):
                await client.read_resource(last)
            if is_listed_alone:
                with pytest.raises(MCPError, match="The client's root"):
                    await client.list_resources()

    anyio.run(work)


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("twice://record/none.twice", "cannot be opened"),
        ("twice://record/..%2Fa.twice", "leads to"),
        ("twice://sheet/none.md", "cannot be read"),
        ("twice://rule/none", "no rule 'none'"),
    ],
)
def test_a_resource_that_cannot_be_read_is_an_error_and_no_text(
    uri: str, said: str, project: Path
) -> None:
    async def work() -> None:
        async with Client(server_at(project)) as client:
            with pytest.raises(MCPError, match=said) as refused:
                await client.read_resource(uri)
            assert refused.value.error.code == INVALID_PARAMS

    anyio.run(work)


def test_two_clients_at_once_are_answered_each(project: Path) -> None:
    server = server_at(project)

    async def work() -> None:
        async with (
            Client(server) as one,
            Client(server) as other,
            anyio.create_task_group() as group,
        ):
            told: dict[int, dict[str, Any]] = {}

            async def ask(number: int, client: Client) -> None:
                told[number] = await call(client, "check", paths=["ants.py"])

            group.start_soon(ask, 1, one)
            group.start_soon(ask, 2, other)
        assert told[1]["answer"] == told[2]["answer"]
        assert told[1]["more"] != told[2]["more"]

    anyio.run(work)


def _list_processes(project: Path, *words: str) -> list[int]:
    """Processes of commands, and of the programs that they execute, that run below a folder."""
    words = words or ("twice.cli.with_parent", "twice.recorder")
    found = []
    for name in os.listdir("/proc"):
        try:
            command = Path(f"/proc/{name}/cmdline").read_bytes().decode()
            where = os.readlink(f"/proc/{name}/cwd")
        except (OSError, UnicodeDecodeError):
            continue
        is_here = where == str(project) or str(project) in command
        if name.isdecimal() and is_here and {*words} & {*command.split("\0")}:
            found.append(int(name))
    return found
