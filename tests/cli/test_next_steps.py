"""What is said to come next with sheets: read from the sheets, without a pass over the sources."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "specification" / "gate"))

from gatesystems import HERD, heads_at, laid, recorded

from twice.cli import code_facts, dispatch
from twice.cli.commands.spec.workspace import list_completing
from twice.specification.fill import fill_workspace
from twice.specification.tiers import Trait
from twice.specification.workspace import Workspace, open_workspace

THREADS = f"import threading\n\n{HERD}\n\nthreading.Thread(target=main)\n"


@pytest.fixture
def opened(tmp_path: Path) -> Workspace:
    """Make a workspace without answers about its traits, beside code that starts a thread."""
    heads = heads_at("M")
    for row in heads["00"]["traits"]:
        row["here"] = row["why"] = "?"
    laid(tmp_path, heads)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "herd.py").write_text(THREADS, encoding="utf-8")
    return open_workspace(tmp_path)


def test_status_runs_no_checker_over_the_sources(
    opened: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("the sources were read to word a line")

    monkeypatch.setattr(code_facts, "open_sources", refuse)

    assert dispatch(["spec", "status", "--json", "--project", str(opened.project)]) == 1
    assert (
        "write what is open: twice spec status --open"
        in json.loads(capsys.readouterr().out)["next"]
    )


def test_filling_reads_the_sources_all_the_same(opened: Workspace) -> None:
    found = fill_workspace(opened, read_sources=code_facts.read_sources)

    assert ("00", "traits") in {(each.sheet, each.key) for each in found.put_in}
    assert found.workspace.situation().traits[Trait.CONCURRENCY] is True


@pytest.mark.parametrize(("denied", "started"), [(True, True), (True, False), (False, True)])
def test_a_record_that_shows_what_00_denies_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], denied: bool, started: bool
) -> None:
    heads = heads_at("L")
    for row in heads["00"]["traits"]:
        row["here"] = row["here"] and not (denied and row["name"] == "concurrency")
    laid(tmp_path, heads)
    (tmp_path / "src").mkdir()
    thread = "    threading.Thread(target=len, args=([],)).start()\n" if started else ""
    source = f"import threading\n\n{HERD}".replace("    herd = run", f"{thread}    herd = run")
    (tmp_path / "src" / "herd.py").write_text(source, encoding="utf-8")
    recorded(tmp_path)

    code = dispatch(["spec", "status", "--json", "--project", str(tmp_path)])

    against = json.loads(capsys.readouterr().out)["against"]
    assert bool(against) is (denied and started)
    assert code == 1
    assert all(
        "00 says that there is no concurrency: a run started 1 thread" in each for each in against
    )


def test_filling_comes_next_where_a_file_beside_the_sheets_says_what_they_leave_open(
    tmp_path: Path,
) -> None:
    heads = heads_at("M")
    heads["02"]["audit"] = "?"
    laid(tmp_path, heads)

    assert next(iter(list_completing(open_workspace(tmp_path)))) == "twice spec fill"
