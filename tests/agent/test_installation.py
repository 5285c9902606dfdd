"""Installing the agent pack: what it writes, what it leaves, and that nothing is half done."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from twice.agent import installation
from twice.agent.installation import LOCK, apply_install, find_targets, plan_install
from twice.agent.pack import Target, render_pack
from twice.cli import dispatch
from twice.errors import ConfigError, OutputUnwritable, UsageError

SERVER = {"command": "twice", "args": ["mcp", "--root", "."]}
RUNNING = {"command": "twice", "args": ["mcp", "--root", ".", "--allow-run"]}
SETTINGS = {
    Target.CLAUDE: ".mcp.json",
    Target.CURSOR: ".cursor/mcp.json",
    Target.GEMINI: ".gemini/settings.json",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p").mkdir()
    monkeypatch.chdir(tmp_path / "p")
    return tmp_path / "p"


def install(project: Path, *targets: Target, uninstalls: bool = False) -> dict[str, str]:
    plan = plan_install(project, targets, uninstalls=uninstalls)
    apply_install(plan)
    return {each.path: each.action.value for each in plan.changes}


def content(project: Path) -> dict[str, bytes | None]:
    return {
        str(each.relative_to(project)): each.read_bytes() if each.is_file() else None
        for each in project.rglob("*")
    }


@pytest.mark.parametrize("target", Target)
def test_everything_is_written_once_and_removed_without_a_trace(
    project: Path, target: Target
) -> None:
    (project / "AGENTS.md").write_text("# Ours\n\nBuild with make.\n", encoding="utf-8")
    (project / ".claude").mkdir()
    before = content(project)

    install(project, target)

    for path, text in render_pack(target).items():
        assert (project / path).read_text(encoding="utf-8") == text
    agents = (project / "AGENTS.md").read_text(encoding="utf-8")
    assert agents.startswith("# Ours\n\nBuild with make.\n\n<!-- twice: begin -->\n")
    assert not plan_install(project, [target]).is_changing
    install(project, uninstalls=True)
    assert content(project) == before


@pytest.mark.parametrize(("target", "path"), SETTINGS.items())
def test_json_settings_of_the_user_are_merged(project: Path, target: Target, path: str) -> None:
    mine = {"theme": "dark", "mcpServers": {"other": {"command": "x"}}}
    (project / path).parent.mkdir(exist_ok=True)
    text = json.dumps(mine, indent=4) + "\n"
    (project / path).write_text(text, encoding="utf-8")

    install(project, target)

    after = json.loads((project / path).read_text(encoding="utf-8"))
    assert after == {"theme": "dark", "mcpServers": {"other": {"command": "x"}, "twice": SERVER}}
    install(project, uninstalls=True)
    assert (project / path).read_text(encoding="utf-8") == text


def test_toml_settings_of_the_user_are_merged(project: Path) -> None:
    text = 'model = "x"\n\n[mcp_servers.other]\ncommand = "y"\n'
    (project / ".codex").mkdir()
    (project / ".codex/config.toml").write_text(text, encoding="utf-8")

    install(project, Target.CODEX)

    after = tomllib.loads((project / ".codex/config.toml").read_text(encoding="utf-8"))
    assert after["mcp_servers"] == {"other": {"command": "y"}, "twice": SERVER}
    install(project, uninstalls=True)
    assert (project / ".codex/config.toml").read_text(encoding="utf-8") == text


def test_the_server_runs_programs_only_while_the_user_says_so(project: Path) -> None:
    def entries() -> tuple[object, object]:
        claude = json.loads((project / ".mcp.json").read_text(encoding="utf-8"))
        codex = tomllib.loads((project / ".codex/config.toml").read_text(encoding="utf-8"))
        return claude["mcpServers"]["twice"], codex["mcp_servers"]["twice"]

    for_both = ["agent", "install", "--for", "claude", "--for", "codex"]
    assert dispatch([*for_both, "--for", "cursor", "--allow-run"]) == 0
    assert entries() == (RUNNING, RUNNING)
    assert dispatch(["agent", "install", "--uninstall", "--for", "cursor"]) == 0
    assert entries() == (RUNNING, RUNNING)
    assert dispatch(for_both) == 0
    assert entries() == (SERVER, SERVER)


@pytest.mark.parametrize(
    ("target", "path", "text"),
    [
        (Target.CLAUDE, ".mcp.json", '{"mcpServers": {"twice": {"command": "mine"}}}'),
        (Target.CODEX, ".codex/config.toml", '[mcp_servers.twice]\ncommand = "mine"\n'),
        (Target.GENERIC, "skills/twice-determinism/SKILL.md", "mine\n"),
    ],
)
def test_content_that_was_there_is_left_and_listed(
    project: Path, target: Target, path: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_text(text, encoding="utf-8")

    code = dispatch(["agent", "install", "--for", str(target)])

    assert code == 1
    assert f"edited  {path}" in capsys.readouterr().out
    assert (project / path).read_text(encoding="utf-8") == text
    assert dispatch(["agent", "install", "--uninstall"]) == 0
    assert [each for each in content(project).values() if each is not None] == [text.encode()]


def test_a_changed_file_survives_update_and_removal(project: Path) -> None:
    install(project, Target.CLAUDE)
    changed = project / ".claude/commands/verify-replay.md"
    changed.write_text("my own\n", encoding="utf-8")

    assert install(project, Target.CLAUDE)[".claude/commands/verify-replay.md"] == "edited"
    assert install(project, uninstalls=True)[".claude/commands/verify-replay.md"] == "edited"
    assert changed.read_text(encoding="utf-8") == "my own\n"
    assert not (project / LOCK).exists()
    assert not (project / ".claude/agents").exists()


def test_a_file_of_an_older_version_is_updated_or_removed(project: Path) -> None:
    install(project, Target.GENERIC)
    old = project / "skills/old/SKILL.md"
    old.parent.mkdir()
    old.write_text("old\n", encoding="utf-8")
    stale = project / "skills/verify-replay/SKILL.md"
    stale.write_text("old\n", encoding="utf-8")
    lock = json.loads((project / LOCK).read_text(encoding="utf-8"))
    entry = {"digest": installation._digest("old\n"), "made": "file"}
    lock["files"] |= dict.fromkeys(("skills/old/SKILL.md", "skills/verify-replay/SKILL.md"), entry)
    (project / LOCK).write_text(json.dumps(lock), encoding="utf-8")

    actions = install(project, Target.GENERIC)

    assert actions["skills/verify-replay/SKILL.md"] == "update"
    assert actions["skills/old/SKILL.md"] == "remove"
    assert not old.exists()


def test_one_agent_is_removed_and_the_other_stays(project: Path) -> None:
    install(project, Target.CLAUDE, Target.CURSOR)

    install(project, Target.CLAUDE, uninstalls=True)

    assert not (project / ".claude").exists()
    assert not (project / ".mcp.json").exists()
    assert (project / ".cursor/mcp.json").is_file()
    agents = (project / "AGENTS.md").read_text(encoding="utf-8")
    assert ".cursor/skills" in agents
    assert ".claude/skills" not in agents


def test_windows_line_ends_are_no_change_of_the_user(project: Path) -> None:
    install(project, Target.GENERIC)
    for path in ("AGENTS.md", "skills/verify-replay/SKILL.md"):
        data = (project / path).read_bytes().replace(b"\n", b"\r\n")
        (project / path).write_bytes(data)

    assert set(install(project, Target.GENERIC).values()) == {"same"}
    install(project, uninstalls=True)
    assert content(project) == {}


def test_agents_are_found_by_their_folders(project: Path) -> None:
    assert find_targets(project) == [Target.GENERIC]
    (project / ".cursor").mkdir()
    (project / "GEMINI.md").touch()
    assert find_targets(project) == [Target.CURSOR, Target.GEMINI]


def test_a_dry_run_writes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["agent", "install", "--dry-run", "--json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["changed"] is False
    assert {"path": "AGENTS.md", "action": "add"} in document["files"]
    assert content(project) == {}


BAD = [
    ("AGENTS.md", "<!-- twice: begin -->\nhalf\n", ConfigError, "mark"),
    ("AGENTS.md", "<!-- twice: end -->\n<!-- twice: begin -->\n", ConfigError, "not in order"),
    ("AGENTS.md", b"\xff\xfe", ConfigError, "cannot be read"),
    (".mcp.json", '{"a": 1, // no\n}', ConfigError, "JSON without comments"),
    (".mcp.json", "[]", ConfigError, "not an object"),
    (".mcp.json", '{"mcpServers": []}', ConfigError, "not an object"),
    (".codex/config.toml", "= 1\n", ConfigError, "TOML"),
    (".codex/config.toml", "mcp_servers = {}\n", ConfigError, "TOML"),
    (".claude", "a file\n", ConfigError, "cannot be read"),
    (LOCK, "{}", ConfigError, "no lock|not a lock"),
    (LOCK, '{"format": "twice.agent-lock/9"}', ConfigError, "twice.agent-lock/9"),
    (
        LOCK,
        '{"format": "twice.agent-lock/1", "targets": [], "folders": ["../x"], "files": {}}',
        ConfigError,
        "leaves the project",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("path", "data", "kind", "words"), BAD)
def test_a_bad_start_is_one_error_and_changes_nothing(
    project: Path, path: str, data: str | bytes, kind: type[Exception], words: str
) -> None:
    file = project / path
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    before = content(project)

    with pytest.raises(kind, match=words):
        install(project, Target.CLAUDE, Target.CODEX)

    assert content(project) == before


@pytest.mark.parametrize("path", ["AGENTS.md", ".claude", ".claude/skills", LOCK])
def test_a_link_that_leads_outside_is_refused(project: Path, path: str) -> None:
    outside = project.parent / "outside"
    outside.mkdir()
    (project / path).parent.mkdir(exist_ok=True)
    (project / path).symlink_to(outside)

    with pytest.raises(UsageError, match="outside of the project"):
        install(project, Target.CLAUDE)

    assert [*outside.iterdir()] == []


def test_a_link_inside_of_the_project_is_followed(project: Path) -> None:
    (project / "CLAUDE.md").write_text("# Ours\n", encoding="utf-8")
    (project / "AGENTS.md").symlink_to("CLAUDE.md")

    install(project, Target.CLAUDE)

    assert (project / "AGENTS.md").is_symlink()
    assert "twice: begin" in (project / "CLAUDE.md").read_text(encoding="utf-8")


def test_a_failed_write_is_undone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "AGENTS.md").write_text("# Ours\n", encoding="utf-8")
    before = content(project)
    real = installation.write

    def fail_late(path: Path, data: bytes) -> None:
        if path.name == "replay-debugger.md":
            raise OutputUnwritable("The disk is full.", "Expected room.", "Make room.")
        real(path, data)

    monkeypatch.setattr(installation, "write", fail_late)

    with pytest.raises(OutputUnwritable):
        install(project, Target.CLAUDE)

    assert content(project) == before


def test_folders_are_counted_and_a_dry_run_names_every_file(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["agent", "install", "--for", "claude", "--dry-run"]) == 0
    assert "add  .claude/commands/verify-replay.md\n" in capsys.readouterr().out
    assert dispatch(["agent", "install", "--for", "claude"]) == 0
    count = sum(each.is_file() for each in (project / ".claude").rglob("*"))
    assert capsys.readouterr().out.splitlines()[:2] == [
        f"add  .claude: {count} files",
        "add  .mcp.json",
    ]
