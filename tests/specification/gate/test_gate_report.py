"""The report: the same bytes for the same facts, stale when anything that it rests on moved."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from gatefacts import facts
from gatesystems import Kept

from twice.cli.code_facts import read_code
from twice.errors import UsageError
from twice.specification.errors import GateUnfinished, SheetRefused
from twice.specification.gate.checks import CHECKS
from twice.specification.gate.evidence.context import EvidenceContext, Unavailable
from twice.specification.gate.model import CheckOutcome, CheckResult
from twice.specification.gate.report import GateReport, GateResult, list_lines
from twice.specification.gate.runner import judge, read_report, run_gate, write_report
from twice.specification.gate.staleness import digest_inputs
from twice.specification.location import FOLDER
from twice.specification.lock import Owed, read_lock
from twice.specification.workspace import open_workspace

TODAY = date(2026, 1, 1)
CHEAP = (1, 2, 9)


def report_of(project: Path) -> GateReport:
    known = facts(project)
    return GateReport("herd", "M", [judge(each, known) for each in CHECKS], {"a.md": "blake3:00"})


def one(outcome: CheckOutcome) -> GateReport:
    return GateReport("herd", "M", [CheckResult(3, "Seed lineage", outcome, (), "why")], {})


@pytest.mark.parametrize(
    ("outcome", "result", "code"),
    [
        (CheckOutcome.PASS, GateResult.PASS, 0),
        (CheckOutcome.NA, GateResult.PASS, 0),
        (CheckOutcome.WAIVED, GateResult.PASS, 0),
        (CheckOutcome.FAIL, GateResult.FAIL, 1),
        (CheckOutcome.BLOCKED, GateResult.BLOCKED, 2),
    ],
)
def test_the_exit_code_follows_from_the_outcomes(
    outcome: CheckOutcome, result: GateResult, code: int
) -> None:
    assert (one(outcome).result, one(outcome).exit_code) == (result, code)
    assert replace(one(outcome), moved=("a",)).exit_code == 2


def test_equal_facts_give_equal_bytes(tmp_path: Path) -> None:
    first, second = report_of(tmp_path / "a"), report_of(tmp_path / "b")

    assert first.to_text() == second.to_text()
    assert first.to_markdown() == second.to_markdown()
    assert str(tmp_path) not in first.to_text() + first.to_markdown()


def test_a_report_comes_back_as_it_was_written(tmp_path: Path) -> None:
    report = report_of(tmp_path)

    assert GateReport.from_json(json.loads(report.to_text())).to_text() == report.to_text()


def test_passes_are_named_with_what_was_seen(tmp_path: Path) -> None:
    report = report_of(tmp_path)

    assert all(each.evidence for each in report.checks if each.outcome is CheckOutcome.PASS)
    assert all(each.reason for each in report.checks if each.outcome is not CheckOutcome.PASS)
    assert len(list(list_lines(report))) == 17
    assert report.to_markdown().startswith("# Gate: PASS\n")
    assert "| 4 RNG isolation | pass |" in report.to_markdown()


def test_what_the_report_says_of_a_pipe_stays_in_its_cell() -> None:
    report = GateReport(
        "herd", "M", [CheckResult(3, "Seed lineage", CheckOutcome.FAIL, (), "a|b <c>")], {}
    )

    assert "a\\|b &lt;c>" in report.to_markdown()


def test_control_characters_stay_out_of_the_page() -> None:
    report = GateReport(
        "herd", "M", [CheckResult(3, "Seed lineage", CheckOutcome.FAIL, (), "a\x1b[31m\nb")], {}
    )

    assert "\x1b" not in report.to_markdown()
    assert "a\\\\x1b[31m\\\\nb" in report.to_markdown()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("kept"))


@pytest.fixture(scope="module")
def gated_once(kept: Kept, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a project with a report: three cheap checks that ran, the others as they would pass."""
    project = kept.system("M", (), tmp_path_factory.mktemp("gated") / "herd").project
    report = run_gate(project, read_code, TODAY, only=CHEAP)
    ran = {each.id: each for each in report.checks}
    others = {
        each.id: CheckResult(each.id, each.title, CheckOutcome.PASS, ("seen",), "")
        for each in CHECKS
    }
    whole = [ran.get(number, others[number]) for number in sorted(others)]
    write_report(replace(report, checks=whole), open_workspace(project))
    return project


@pytest.fixture
def gated(gated_once: Path, tmp_path: Path) -> Path:
    """Copy it, to be changed; a report is valid wherever its project lies."""
    return Path(shutil.copytree(gated_once, tmp_path / "herd", symlinks=True))


@pytest.mark.integration
@pytest.mark.parametrize(("number", "outcome"), [(9, "na"), (9, "waived"), (17, "waived")])
def test_a_report_that_excuses_what_nothing_excuses_is_none(
    gated: Path, number: int, outcome: str
) -> None:
    path = gated / FOLDER / "evidence" / "gate.json"
    said = json.loads(path.read_bytes())
    said["checks"][number - 1]["outcome"] = outcome
    path.write_text(json.dumps(said), encoding="utf-8")

    with pytest.raises(GateUnfinished, match=f"{outcome.replace('na', 'n/a')} of check {number}"):
        read_report(gated, TODAY)


@pytest.mark.integration
def test_code_that_is_edited_while_the_gate_runs_leaves_no_report(
    kept: Kept, tmp_path: Path
) -> None:
    project = kept.system("M", (), tmp_path / "herd").project

    def edited(what: str) -> None:
        (project / "src" / "herd.py").write_text("def main(run): pass\n", encoding="utf-8")

    with pytest.raises(GateUnfinished, match=r"herd\.py changed while the gate ran"):
        run_gate(project, read_code, TODAY, only=(3,), doing=edited, gathers=_told_only)


@pytest.mark.parametrize("text", ["changed: true\n---\n", "", None])
def test_a_sheet_that_is_saved_while_the_gate_runs_leaves_no_report(
    tmp_path: Path, text: str | None
) -> None:
    facts(tmp_path)
    sheet = tmp_path / FOLDER / "05-divergence-protocol.md"

    def saved(what: str) -> None:
        old = sheet.read_text(encoding="utf-8")
        sheet.write_text(old.replace("a year", "a month") if text is None else text, "utf-8")

    with pytest.raises(
        GateUnfinished, match=r"determinism-and-replay.* changed while the gate ran"
    ):
        run_gate(tmp_path, read_code, TODAY, only=(3,), doing=saved, gathers=_told_only)


def _told_only(kind: str, context: EvidenceContext) -> Unavailable:
    """Say what is being done, and run nothing."""
    context.doing(kind)
    return Unavailable("not run")


def _appended(path: str, text: str) -> Callable[[Path], None]:
    def change(project: Path) -> None:
        with (project / path).open("a", encoding="utf-8") as file:
            file.write(text)

    return change


def test_a_report_stands_until_something_moves(gated: Path) -> None:
    assert read_report(gated, TODAY).moved == ()
    assert read_report(gated, TODAY).exit_code == 0

    (gated / "README.md").write_text("not looked at", encoding="utf-8")
    _appended(f"{FOLDER}/03-rng-isolation-spec.md", "\n## Notes\n\nWhat decides nothing.\n")(gated)

    assert read_report(gated, TODAY).moved == ()


@pytest.mark.parametrize(
    "path",
    [
        f"{FOLDER}/03-rng-isolation-spec.md",
        f"{FOLDER}/evidence/vector.twice",
        f"{FOLDER}/evidence/cost.json",
        "src/herd.py",
        "tests/test_laws.py",
    ],
)
def test_a_report_is_stale_when_what_it_rests_on_moved(gated: Path, path: str) -> None:
    _appended(path, "More.\n" if path.endswith(".md") else "\n")(gated)

    report = read_report(gated, TODAY)

    assert report.moved == (path,)
    assert report.exit_code == 2
    assert report.to_json()["stale"] is True


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "tests/conftest.py",
        "pytest.ini",
        "tests/tox.ini",
        "tests/examples/counterexamples.jsonl",
        "tests/__twice__/test_laws.a.twice",
    ],
)
def test_a_report_is_stale_when_something_new_settles_what_is_tested(
    gated: Path, path: str
) -> None:
    (gated / path).parent.mkdir(exist_ok=True)
    (gated / path).write_text("\n", encoding="utf-8")

    assert read_report(gated, TODAY).moved == (path,)


def test_a_report_rests_on_what_running_told_of(gated: Path) -> None:
    (gated / "prices.csv").write_text("1\n", encoding="utf-8")
    kept = read_report(gated, TODAY)
    lock = read_lock(gated / FOLDER / "spec.lock")
    seen = digest_inputs(open_workspace(gated), lock, ("prices.csv",))
    write_report(replace(kept, inputs=seen), open_workspace(gated))
    assert read_report(gated, TODAY).moved == ()

    (gated / "prices.csv").write_text("2\n", encoding="utf-8")

    assert read_report(gated, TODAY).moved == ("prices.csv",)


def test_a_report_that_names_what_no_file_can_be_called_is_stale(gated: Path) -> None:
    kept = read_report(gated, TODAY)
    write_report(replace(kept, inputs={**kept.inputs, "a\0": "blake3:00"}), open_workspace(gated))

    assert read_report(gated, TODAY).moved == ("a\0",)


@pytest.mark.integration
def test_a_waiver_that_ended_makes_the_report_stale(kept: Kept, tmp_path: Path) -> None:
    project = kept.system("M", (), tmp_path / "herd")
    project.heads["13"]["budget_percent"] = 5
    project.rewritten()
    digest = str(open_workspace(project.project).sheets["13"].digest())
    project.heads["13"]["waivers"] = [
        {"check": 17, "owner": "herd team", "reason": "argued about", "permits": "a slower run",
         "reactivate": "later", "until": "2026-06-30", "digest": digest}
    ]  # fmt: skip
    project.rewritten()
    report = run_gate(project.project, read_code, TODAY, only=(17,))
    assert [each.outcome for each in report.checks] == [CheckOutcome.WAIVED]
    others = [CheckResult(each.id, each.title, CheckOutcome.PASS, ("seen",), "") for each in CHECKS]
    write_report(
        replace(report, checks=[*others[:16], *report.checks]),
        open_workspace(project.project),
    )

    holds = read_report(project.project, date(2026, 6, 30))
    over = read_report(project.project, date(2026, 7, 1))

    assert (holds.moved, holds.exit_code) == ((), 0)
    assert over.moved == ("the waiver of check 17, which ended on 2026-06-30",)
    assert over.exit_code == 2


def test_a_lock_that_owes_moves_the_report(gated: Path) -> None:
    path = gated / FOLDER / "spec.lock"
    owed = Owed("06", "05", "05.compare-points", "it emits them", breaks=False)
    path.write_text(replace(read_lock(path), owed=(owed,)).text(), encoding="utf-8")

    assert read_report(gated, TODAY).moved == (f"{FOLDER}/spec.lock",)


def test_a_waiver_moves_the_report(gated: Path) -> None:
    path = gated / FOLDER / "13-cost-of-determinism.md"
    rows = "".join(
        f'{start}{key}: "{value}"\n'
        for start, key, value in [
            ("    ", "owner", "herd team"), ("    ", "reason", "argued"), ("    ", "permits", "much"),
            ("    ", "reactivate", "later"), ("    ", "until", "2026-06-30"),
            ("    ", "digest", f"blake3:{'0' * 64}"),
        ]
    )  # fmt: skip
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("\n---\n\n#", f"\nwaivers:\n  - check: 17\n{rows}---\n\n#"), encoding="utf-8"
    )

    assert read_report(gated, TODAY).moved == (f"{FOLDER}/13-cost-of-determinism.md",)


def test_consolidating_moves_no_report(gated: Path) -> None:
    path = gated / FOLDER / "99-determinism-and-replay-specification.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('gate: "?"', 'gate: "evidence/gate.json"'), encoding="utf-8")

    assert read_report(gated, TODAY).moved == ()


def test_looking_at_a_report_executes_nothing(gated: Path) -> None:
    source = gated / "src" / "herd.py"
    source.write_text("raise SystemExit('executed')\n", encoding="utf-8")

    assert read_report(gated, TODAY).moved == ("src/herd.py",)


def test_without_a_report_there_is_one_error(kept: Kept, tmp_path: Path) -> None:
    project = kept.system("M", (), tmp_path / "herd").project

    with pytest.raises(
        GateUnfinished, match=r"There is no determinism-and-replay/evidence/gate\.json"
    ):
        read_report(project, TODAY)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"format": "twice.gate/9"}', "\x00"])
def test_a_report_that_is_none_is_one_error(gated: Path, text: str) -> None:
    (gated / FOLDER / "evidence" / "gate.json").write_text(text, encoding="utf-8")

    with pytest.raises(GateUnfinished, match="is no report of a gate"):
        read_report(gated, TODAY)


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("checks", [], "it holds the checks none, not 1 to 17"),
        ("result", "FAIL", "it says FAIL, and its checks give PASS"),
        ("tier", "XL", "it is of 'herd' at tier XL"),
        ("component", "zzz", "it is of 'zzz'"),
    ],
)
def test_a_report_that_is_not_a_whole_one_of_this_system_is_refused(
    gated: Path, key: str, value: object, what: str
) -> None:
    path = gated / FOLDER / "evidence" / "gate.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), key: value}), encoding="utf-8")

    with pytest.raises(GateUnfinished, match=what):
        read_report(gated, TODAY)


def test_a_report_of_some_checks_is_no_report_of_a_gate(gated: Path) -> None:
    write_report(run_gate(gated, read_code, TODAY, only=CHEAP), open_workspace(gated))

    with pytest.raises(GateUnfinished, match="it holds the checks 1, 2, 9, not 1 to 17"):
        read_report(gated, TODAY)


def test_a_check_that_there_is_not_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no check 18"):
        run_gate(tmp_path, read_code, TODAY, only=(18,))


def test_a_sheet_that_cannot_be_read_stops_the_gate_and_keeps_the_report(gated: Path) -> None:
    kept = (gated / FOLDER / "evidence" / "gate.json").read_bytes()
    sheet = gated / FOLDER / "05-divergence-protocol.md"
    sheet.write_text(
        sheet.read_text(encoding="utf-8").replace("granularity:", "granlarity:"), encoding="utf-8"
    )

    with pytest.raises(SheetRefused, match=r"05-divergence-protocol\.md:9: the key 'granlarity'"):
        run_gate(gated, read_code, TODAY, only=CHEAP)

    assert (gated / FOLDER / "evidence" / "gate.json").read_bytes() == kept
