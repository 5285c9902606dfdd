"""What holds for every command: help, examples that work, pipes, bytes that do not wander."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "specification" / "gate"))

import asset_folder
import gatesystems

from programs import cli, environ
from small_system import build
from twice.cli import dispatch
from twice.cli.console import colour_verdict
from twice.cli.group import COMMANDS, Group, main_group
from twice.cli.options import refuse_together, refuse_without
from twice.cli.output import print_lines
from twice.cli.reference import page
from twice.errors import UsageError

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
MODULE = """
def main(run):
    for _ in run.ticks(run.config["ticks"]):
        pass
"""
TOOLS = """
from twice.tools import Context, Registry, tool


@tool("scatter.points", determinism="seeded")
def scatter(context: Context, count: int) -> list[float]:
    return [float(each) for each in context.rng("points").random(count)]


registry = Registry([scatter])
"""
TRAIN = """
def main(run):
    rng = run.rng("policy")
    run.track("policy", {"weight": 0.5})
    for _ in run.ticks(3):
        pass
    run.summary("reward", float(rng.normal()))
"""
SAVED = """
import json, os

weight, first = 0.5, 0
if os.path.exists("last.pt"):
    with open("last.pt") as file:
        weight, first = json.load(file)
for number in range(first, 12):
    weight = weight * 0.9 + number
    with open("last.pt.new", "w") as file:
        json.dump([weight, number + 1], file)
    os.replace("last.pt.new", "last.pt")
print(weight)
"""


def examples(name: str) -> list[str]:
    """The commands that a command's help shows."""
    group = main_group()
    command = group.get_command(click.Context(group), name)
    assert command is not None
    said = join_lines(str(command.help))
    return [row.strip() for row in said.splitlines() if row.startswith("  twice ")]


def test_no_example_is_wider_than_a_terminal() -> None:
    group = main_group()
    context = click.Context(group)
    found = [group, *(group.get_command(context, name) for name in COMMANDS)]
    for each in [*found[1:]]:
        if isinstance(each, Group):
            found += [each.get_command(context, action) for action in each.summaries]
    lines = [line for each in found if each is not None for line in str(each.help).splitlines()]

    # The help is indented by two.
    assert [line for line in lines if line.startswith("  ") and len(line) > 78] == []


def join_lines(said: str) -> str:
    """A command that goes on in the next line, as a shell reads it."""
    return re.sub(r"\\\n +", "", said)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_and_shows_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch([name, "--help"]) == 0
    said = join_lines(capsys.readouterr().out)

    assert said.startswith(f"Usage: twice {name}")
    assert "--json" in said or name in {"mcp", "view"}  # which serve JSON
    assert examples(name)
    assert all(example in said for example in examples(name))


@pytest.mark.heavy
@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_work(name: str, swarm: Path) -> None:
    (swarm / "package").mkdir()
    (swarm / "package" / "__init__.py").touch()
    (swarm / "package" / "module.py").write_text(MODULE)
    (swarm / "run.toml").write_text("ticks = 3\n")
    (swarm / "secrets.txt").write_text("in no record at all\n")
    (swarm / "script.py").write_text("import sys\nprint(sys.argv[1:])\n")
    (swarm / "train.py").write_text(SAVED if name == "resume-check" else TRAIN)
    (swarm / "app.py").write_text("async def main():\n    pass\n")
    for folder in ("runs", "archive"):
        (swarm / folder).mkdir()
    shutil.copy(swarm / "a.twice", swarm / "runs")
    (swarm / "my").mkdir()
    (swarm / "my" / "tools.py").write_text(TOOLS)
    (swarm / "points.json").write_text('{"count": 2}')
    where = _specified(swarm / "system", name) or swarm
    (where / "prose-sheets").mkdir()
    (where / "prose-sheets" / "09-gpu-determinism-config.md").write_text(
        "# GPU\n\nDriver: 550.54\n"
    )
    if name == "env":
        (where / "there.json").write_text(cli("env", "--float", "--json", cwd=where).stdout)
    for example in examples(name):
        words = [each for word in shlex.split(example)[1:] for each in _expand(word, where)]
        if name == "record":
            for each in swarm.glob("*.twice"):
                each.unlink()
        if "parquet" in words and not _has_pyarrow():
            continue
        # Servers, clusters, stores, ranks and a thousand runs have tests of their own.
        if name in {"view", "sweep"} or {"--http", "--on", "runs/a"} & {*words}:
            continue
        if any(word.startswith("s3://") for word in words):
            continue
        done = cli(*words, cwd=where, input="")
        assert done.returncode in {0, 1}, f"{example}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        if "--json" in words:
            document = json.loads(done.stdout)
            # What a tool answers is an envelope, which is a form of its own.
            assert "ok" in document or document["format"].startswith("twice.")


def _expand(word: str, folder: Path) -> list[str]:
    """As a shell does."""
    return sorted(each.name for each in folder.glob(word)) if "*" in word else [word]


def _specified(folder: Path, name: str) -> Path | None:
    """A system with a specification, or a folder with assets, for commands that work on one."""
    if name == "gate":
        return gatesystems.build(folder, "M").project
    if name == "asset":
        return asset_folder.build(folder)
    return build(folder) if name == "scaffold" else None


def _has_pyarrow() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


def test_the_reference_is_what_the_commands_say() -> None:
    said = "\n".join(page()) + "\n"

    assert REFERENCE.read_text(encoding="utf-8") == said, (
        "run: python -m twice.cli.reference > docs/reference/cli.md"
    )


@pytest.mark.integration
def test_a_reader_that_leaves_early_is_no_error(recorded_swarm: Path) -> None:
    shell = f"{shlex.quote(sys.executable)} -m twice show a.twice --snapshot 0 --json | head -c 10"
    done = subprocess.run(
        ["bash", "-c", shell],
        cwd=recorded_swarm, capture_output=True, text=True, env=environ(), check=False,
    )  # fmt: skip

    assert done.stdout == '{\n  "forma'
    assert done.stderr == ""


@pytest.mark.integration
@pytest.mark.parametrize(
    "words",
    [
        ("show", "a.twice"),
        ("show", "a.twice", "--tick", "120", "--json"),
        ("show", "b.twice", "--json"),
        ("ls",),
        ("replay", "a.twice", "--at", "3", "--json"),
        ("diagnose", "a.twice", "b.twice", "--no-lines", "--json"),
    ],
    ids=" ".join,
)
@pytest.mark.sample(2)
def test_the_same_bytes_come_out_under_every_hash_seed(
    words: tuple[str, ...], recorded_swarm: Path
) -> None:
    outputs = {
        cli(*words, cwd=recorded_swarm, env={"PYTHONHASHSEED": str(seed)}, input="").stdout
        for seed in (1, 2, 3)
    }

    assert len(outputs) == 1


@pytest.mark.integration
def test_nothing_but_the_document_is_on_standard_output(swarm: Path) -> None:
    done = cli("verify", "a.twice", "--json", cwd=swarm)

    assert done.stderr == ""
    assert json.loads(done.stdout)


@pytest.mark.integration
def test_a_result_that_finds_no_room_is_not_taken_as_given(swarm: Path) -> None:
    show = f"{shlex.quote(sys.executable)} -m twice show a.twice --json"

    def shell(text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", text],
            cwd=swarm, capture_output=True, text=True, env=environ(), check=False,
        )  # fmt: skip

    full = shell(f"ulimit -f 0; {show} > full.json")
    closed = shell(f"{show} >&-")

    assert full.returncode == 2
    assert full.stderr.startswith("E-OUTPUT-002  Standard output cannot be written"), full.stderr
    assert (closed.returncode, closed.stderr) == (0, "")


@pytest.mark.integration
def test_what_is_missing_or_wrong_is_named_with_its_source(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(MODULE)
    missing = cli("record", cwd=tmp_path)
    seeded = cli("record", "p.py:main", cwd=tmp_path, env={"TWICE_SEED": "seven"})

    assert "no program was given" in missing.stderr
    assert (seeded.returncode, seeded.stderr[:22]) == (2, "E-SEED-003  TWICE_SEED")


@pytest.mark.integration
def test_an_ascii_terminal_gets_escapes_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "é.txt").write_text("x")

    done = cli("ls", "-v", cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})

    assert done.returncode == 0
    assert "\\xe9.txt" in done.stderr


@pytest.mark.integration
def test_unknown_commands_and_options_are_one_error(recorded_swarm: Path) -> None:
    for words in (("shew",), ("show",), ("show", "a.twice", "--tock", 3), ("show", "a.twice", "x")):
        done = cli(*words, cwd=recorded_swarm)
        assert (done.returncode, done.stderr[:9]) == (2, "E-USE-001")
        assert done.stdout == ""


@pytest.mark.integration
def test_no_command_reads_as_wrong_use_and_help_as_help() -> None:
    assert cli().returncode == 2
    assert cli("--help").returncode == 0
    assert cli("--help").stdout == cli().stdout


@pytest.mark.parametrize("name", ["verify", "record", "check", "spec"])
def test_help_fits_a_narrow_terminal_and_breaks_no_word(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    helps = []
    for columns in ("40", "80"):
        monkeypatch.setenv("COLUMNS", columns)
        assert dispatch([name, "--help"]) == 0
        helps.append(join_lines(capsys.readouterr().out))
    narrow, wide = helps

    # An example is one command, and an option's choices are one word.
    plain = [row for row in narrow.splitlines() if not row.startswith(("    twice ", "  -"))]
    assert [row for row in plain if len(row) > 40] == []
    assert "".join(narrow.split()) == "".join(wide.split())


@pytest.mark.parametrize("surroundings", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_a_terminal_without_colours_gets_none(
    surroundings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert colour_verdict("PASS: a.twice") == "\033[1;32mPASS\033[0m: a.twice"

    for name, value in surroundings.items():
        monkeypatch.setenv(name, value)
    assert colour_verdict("PASS: a.twice") == "PASS: a.twice"


def test_a_command_of_another_distribution_is_listed_and_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "wander" not in _help(capsys)
    about = tmp_path / "wandering-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: wandering\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[twice.commands]\nwander = wandering:command\n")
    (tmp_path / "wandering.py").write_text(
        "import click\n\n@click.command()\ndef command():\n    print('afar')\n    return 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    assert "wander" in _help(capsys)
    assert (dispatch(["wander"]), capsys.readouterr().out) == (1, "afar\n")


def _help(capsys: pytest.CaptureFixture[str]) -> str:
    assert dispatch(["--help"]) == 0
    return capsys.readouterr().out


def test_completion_names_commands_and_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_TWICE_COMPLETE", "bash_complete")
    for words, at in (("twice ver", 1), ("twice verify --rest", 2)):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(at))
        assert dispatch([]) == 0

    assert capsys.readouterr().out.split() == ["plain,verify", "plain,--restores"]


def test_no_line_moves_a_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines(["\033[2Ja.twice", "two\tcolumns\r"])

    assert capsys.readouterr().out == "\\x1b[2Ja.twice\ntwo\tcolumns\\r\n"


def test_zero_is_a_value_that_was_given() -> None:
    with pytest.raises(UsageError, match="--tick and --snapshot were given together"):
        refuse_together({"--tick": 0, "--snapshot": 0}, "one of them")
    with pytest.raises(UsageError, match="--path was given without --tick or --snapshot"):
        refuse_without({"--path": "swarm"}, {"--tick": None, "--snapshot": None})
    refuse_without({"--path": "swarm"}, {"--tick": 0, "--snapshot": None})
