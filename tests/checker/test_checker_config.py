"""What a project says in its pyproject.toml holds; what it says wrongly is one error."""

from __future__ import annotations

import pytest
from projects import CLOCK, LISTING, Project

OURS = 'format = "twice.catalogue/1"\n[{}.names]\n"ours.now" = ""\n'


def severities(project: Project, *arguments: str) -> list[tuple[str, str]]:
    return [(each["path"], each["severity"]) for each in project.findings(*arguments)]


def test_settings_hold_and_options_come_before_them(project: Project) -> None:
    project.write(a=LISTING, config='class = "statistical"\nfail-on = "low"\ntier = "L"\n')
    own = project.summary()
    given = project.summary("--class", "logical", "--fail-on", "medium")
    assert (own["class"], own["tier"], own["fail_on"]) == ("statistical", "L", "low")
    assert (given["class"], given["fail_on"]) == ("logical", "medium")


@pytest.mark.parametrize(
    ("config", "arguments", "rules"),
    [
        ("", "--select clock", ["clock"]),
        ("", "--select effects,concurrency", ["unsorted-listing", "clock"]),
        ("", "--ignore concurrency", ["clock"]),
        ('select = ["concurrency"]\n', "", ["unsorted-listing"]),
        ('ignore = ["clock"]\n', "--ignore unsorted-listing", []),
        ('per-file-ignores = {"inner/*" = ["clock"]}\n', "", ["unsorted-listing"]),
        ('per-file-ignores = {"inner/a.py" = ["concurrency"]}\n', "", ["clock"]),
        ('per-file-ignores = {"b.py" = ["concurrency"]}\n', "", ["unsorted-listing", "clock"]),
    ],
)
def test_rules_and_channels_are_selected_and_ignored(
    project: Project, config: str, arguments: str, rules: list[str]
) -> None:
    project.write(inner__a=f"{LISTING}{CLOCK}", config=config)
    assert project.rules(*arguments.split()) == rules


def test_zones_are_declared(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write(
        inner__a=LISTING, tests__b=LISTING, config='zones = {boundary = ["inner/"], core = ["tests"]}\n'
    )  # fmt: skip
    assert severities(project) == [("inner/a.py", "medium"), ("tests/b.py", "high")]
    monkeypatch.chdir(project.folder / "inner")
    assert severities(project) == [("a.py", "medium")]
    monkeypatch.chdir("/")
    assert [each for _, each in severities(project, str(project.folder / "inner"))] == ["medium"]


def test_files_are_excluded_unless_they_are_named(project: Project) -> None:
    project.write(a=LISTING, old__b=LISTING, old__c=LISTING, config='exclude = ["old"]\n')
    assert [path for path, _ in severities(project)] == ["a.py"]
    assert [path for path, _ in severities(project, "old/b.py", "a.py")] == ["a.py", "old/b.py"]
    project.write(c="")
    assert severities(project, "--exclude", "a.py") == []


def test_names_are_added_allowed_and_banned(project: Project) -> None:
    project.write(
        a="import ours\n\n\ndef now():\n    return ours.now()\n", b=CLOCK,
        config='catalogues = ["names.toml"]\nallow = ["time.time"]\n',
    )  # fmt: skip
    (project.folder / "names.toml").write_text(OURS.format("clock"))
    added = project.findings()
    ban = '{name = "ours.now", reason = "it lies", instead = "run.now", severity = "low"}'
    project.write(config=f"ban = [{ban}]\n")
    banned = project.findings()
    assert [(each["rule"], each["path"]) for each in added] == [("clock", "a.py")]
    assert [(each["rule"], each["severity"]) for each in banned] == [
        ("banned-name", "low"), ("clock", "medium"),
    ]  # fmt: skip
    assert "it lies; use run.now" in banned[0]["why"]


def test_a_banned_name_is_found_where_it_is_passed_on(project: Project) -> None:
    ban = 'ban = [{name = "uuid.uuid4", reason = "ids are counted"}]\nselect = ["banned-name"]\n'
    text = "import uuid\nfrom functools import partial\nmake = partial(f, uuid.uuid4)\nx = uuid.uuid4()\n"
    project.write(a=text, config=ban)
    found = project.findings()
    assert [(each["line"], each["severity"]) for each in found] == [(3, "high"), (4, "high")]


@pytest.mark.parametrize("severity", ["informational", "low", "medium", "high", "critical"])
def test_a_ban_weighs_what_it_says(project: Project, severity: str) -> None:
    ban = f'{{name = "uuid.uuid4", reason = "no", severity = "{severity}"}}'
    project.write(
        a="import uuid\nx = uuid.uuid4()\n", config=f'ban = [{ban}]\nselect = ["banned-name"]\n'
    )
    assert severities(project, "--min", "informational") == [("a.py", severity)]


def test_another_file_is_named(project: Project) -> None:
    project.write(a=LISTING, config='ignore = ["unsorted-listing"]\n')
    (project.folder / "strict.toml").write_text("[tool.twice.check]\n")
    assert project.rules() == []
    assert project.rules("--config", "strict.toml") == ["unsorted-listing"]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("clas = 'logical'", "E-CONFIG-003"),
        ("class = 'exact'", "one of bit-exact"),
        ("class = 3", "one of bit-exact"),
        ("tier = 'XXL'", "one of XS"),
        ("fail-on = ['high']", "one of informational"),
        ("exclude = 'old'", "a list of texts"),
        ("exclude = [3]", "a list of texts"),
        ("select = ['no-such-rule']", "no rule 'no-such-rule'"),
        ("per-file-ignores = {'a' = ['nothing']}", "no rule 'nothing'"),
        ("per-file-ignores = ['a']", "a table of patterns"),
        ("zones = ['core']", "a table with lists"),
        ("zones = {middle = ['a']}", "the zones core"),
        ("ban = [{name = 'x'}]", "name, reason"),
        ("ban = [{name = 'x', reason = 'y', why = 'z'}]", "name, reason"),
        ("ban = [{name = 'x', reason = 'y', severity = 'bad'}]", "one of informational"),
        ("ban = ['x']", "name, reason"),
        ("ban = 'x'", "a list of tables"),
        ("catalogues = ['nowhere.toml']", "cannot be read"),
        ("catalogues = ['pyproject.toml']", "Expected a catalogue"),
        ("catalogues = ['names.toml']", "has a group 'clokc'"),
        ("baseline = 3", "a path"),
        ("baseline = 'nowhere'", "cannot be read"),
        ("class = ", "is not TOML"),
        ("class = 'logical'\nclass = 'logical'", "is not TOML"),
    ],
)
def test_what_is_wrong_is_one_error_of_three_sentences(
    project: Project, config: str, words: str
) -> None:
    project.write(a=LISTING, config=config)
    (project.folder / "names.toml").write_text(OURS.format("clokc"))
    said = project.check("--no-cache")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("E-CONFIG-")
    assert words in said.err
    assert len(said.err.splitlines()) >= 3
    if "clokc" in words:
        assert "'clock'" in said.err


@pytest.mark.parametrize("key", ["baseline = '{}'", "catalogues = ['{}']"])
def test_a_strangers_project_names_no_file_outside(
    project: Project, key: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("home") / "environ"
    secret.write_text("TOKEN=hunter2")
    (project.folder / "link").symlink_to(secret)
    for named in (str(secret), "link"):
        project.write(a=LISTING, config=key.format(named))
        said = project.check("--no-cache")
        assert (said.code, said.out) == (2, "")
        assert said.err.startswith("E-CONFIG-001")
        assert "a file inside of" in said.err
        assert "hunter2" not in said.err


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        (b"\xff\xfe", (), "E-CONFIG-001"),
        (b"[tool]\ntwice = 3\n", (), "E-CONFIG-001"),
        (b"tool = 'twice'\n", (), "E-CONFIG-001"),
        (b"", ("--config", "nowhere.toml"), "E-CONFIG-001"),
        (b"", ("--select", "no-such-rule"), "no-such-rule"),
        (b"", ("--ignore", "no-such-rule"), "no-such-rule"),
    ],
)
def test_a_broken_pyproject_and_names_of_nothing_are_one_error(
    project: Project, content: bytes, arguments: tuple[str, ...], words: str
) -> None:
    project.write(a=LISTING)
    (project.folder / "pyproject.toml").write_bytes(content)
    said = project.check(*arguments)
    assert said.code == 2
    assert words in said.err


def test_what_fails_is_shown(project: Project) -> None:
    project.write(a="import time\n\n\ndef f():\n    print(time.time())\n")
    said = project.check("--json", "--fail-on", "informational")
    assert (said.code, said.rules) == (1, ["clock"])


def test_a_notebook_is_not_read_and_says_so(project: Project) -> None:
    (project.folder / "a.ipynb").write_text('{"cells": []}')
    said = project.check("a.ipynb", "--json")
    assert said.code == 2
    assert "notebook" in said.document["findings"][0]["message"]


@pytest.mark.parametrize("below", ["", "inner", "inner/deeper"])
def test_patterns_begin_at_the_projects_folder_wherever_the_check_was_asked_for(
    project: Project, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    project.write(project__inner__a=LISTING, project__inner__deeper__a=LISTING)
    folder = project.folder / "project"
    (folder / "pyproject.toml").write_text(
        '[tool.twice.check]\nzones = {boundary = ["inner/a.py"]}\nexclude = ["inner/deeper/a.py"]\n'
    )
    monkeypatch.chdir(folder / below)
    here = project.findings(folder)
    monkeypatch.chdir(project.folder)
    above = project.findings("project")
    assert [each["zone"] for each in here] == ["boundary"]
    assert [(each["path"], each["zone"]) for each in above] == [("project/inner/a.py", "boundary")]
    assert [each["fingerprint"] for each in here] == [each["fingerprint"] for each in above]
