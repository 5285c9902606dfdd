"""Sheet 13 remembers: check 17 fails once a day, a version or a figure brings the costs up again."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from gatefacts import BLOCKED, FAIL, PASS, TODAY, facts, good_heads, judged
from gatesystems import Heads, laid
from sheets_written import artifact

from twice.cli import dispatch
from twice.cli.code_facts import read_sources
from twice.specification.errors import SheetRefused
from twice.specification.fill import fill_workspace
from twice.specification.front_matter import Value
from twice.specification.gate.checks import CHECKS
from twice.specification.gate.checks.costs import find_due
from twice.specification.gate.evidence.context import EvidenceContext, SourceFacts
from twice.specification.gate.evidence.files import gather_installed
from twice.specification.gate.report import GateReport
from twice.specification.gate.runner import judge, read_report, write_report
from twice.specification.gate.staleness import digest_inputs
from twice.specification.library_defaults import find_defaults
from twice.specification.workspace import Workspace, open_workspace

AGAIN = "measure again and choose the cadence anew"
RELAXED = {
    "rule": "files",
    "part": "warm-up",
    "why": "nothing is read there",
    "until": "2026-01-01",
}


def remembering(**rows: Any) -> Heads:
    heads = good_heads("M")
    heads["13"].update(rows)
    return heads


def trigger(**columns: object) -> Heads:
    return remembering(reevaluate=[{**columns, "do": AGAIN}])


@pytest.mark.parametrize(
    ("heads", "told"),
    [
        (trigger(by="2025-12-31"), f"the costs were to be looked at again by 2025-12-31: {AGAIN}"),
        (trigger(library="torch", version="2.9.0"), "torch was 2.9.0 when the costs were decided, and is 2.9.1"),
        (trigger(library="jax", version="0.4.1"), "jax was 0.4.1 when the costs were decided, and is not installed"),
        (trigger(over_percent=12), "a recorded run is 12.5 % slower, over 12 %"),
        (
            remembering(relaxations=[{**RELAXED, "until": "2025-12-31"}]),
            "files was relaxed for warm-up until 2025-12-31: hold it again",
        ),
    ],
)  # fmt: skip
def test_a_trigger_that_passed_fails_with_what_to_do(
    tmp_path: Path, heads: Heads, told: str
) -> None:
    found = judged(tmp_path, 17, heads=heads, installed={"torch": "2.9.1", "jax": ""})

    assert (found.outcome, len(found.faults)) == (FAIL, 1)
    assert told in found.reason
    assert "13-cost-of-determinism.md:" in found.reason


@pytest.mark.parametrize(
    "heads",
    [
        trigger(by=TODAY.isoformat()),
        trigger(library="torch", version="2.9.1"),
        trigger(over_percent=13),
        trigger(by="?"),
        remembering(relaxations=[RELAXED]),
        remembering(relaxations=[], libraries=[], reevaluate=[]),
        good_heads("M"),
    ],
)
def test_nothing_fails_before_its_trigger_or_without_one(tmp_path: Path, heads: Heads) -> None:
    assert judged(tmp_path, 17, heads=heads, installed={"torch": "2.9.1"}).outcome is PASS


def test_a_version_that_nobody_looked_at_is_no_pass(tmp_path: Path) -> None:
    found = judged(tmp_path, 17, heads=trigger(library="torch", version="2.9.1"))

    assert found.outcome is BLOCKED


def test_a_kept_report_no_longer_holds_once_a_day_went_by(tmp_path: Path) -> None:
    known = facts(tmp_path, heads=trigger(by="2026-06-30"), installed={})
    checks = [judge(each, known) for each in CHECKS]
    inputs = digest_inputs(known.workspace, known.lock)
    write_report(GateReport("herd", "M", checks, inputs), known.workspace)

    assert read_report(tmp_path, date(2026, 6, 30)).moved == ()
    (moved,) = read_report(tmp_path, date(2026, 7, 1)).moved
    assert moved.startswith("13.reevaluate: the costs were to be looked at again by 2026-06-30")


def test_days_are_told_without_any_measurement(tmp_path: Path) -> None:
    laid(tmp_path, trigger(by="2025-12-31"))
    sheet = open_workspace(tmp_path).sheets["13"]

    assert [key for key, _ in find_due(sheet, TODAY)] == ["reevaluate"]
    assert list(find_due(sheet, date(2025, 12, 31))) == []


def test_the_installed_versions_are_those_of_this_environment(tmp_path: Path) -> None:
    rows = [{"library": name, "version": "1.0", "do": AGAIN} for name in ("pytest", "no-such-one")]
    laid(tmp_path, remembering(reevaluate=rows))
    read = EvidenceContext(
        open_workspace(tmp_path), tmp_path / "scratch", lambda *_: SourceFacts(), lambda _: None
    )

    assert gather_installed(read) == {"pytest": pytest.__version__, "no-such-one": ""}


@pytest.mark.parametrize(
    ("key", "row", "told"),
    [
        ("reevaluate", {"by": "next year", "do": AGAIN}, "by in item 1 of reevaluate is 'next year'"),
        ("reevaluate", {"do": AGAIN}, "item 1 of reevaluate has none of by, library with version, over_percent"),
        ("reevaluate", {"library": "torch", "do": AGAIN}, "item 1 of reevaluate has library"),
        ("reevaluate", {"by": "2027-01-31", "over_percent": 5, "do": AGAIN}, "has by and over_percent"),
        ("reevaluate", {"over_percent": "a lot", "do": AGAIN}, "over_percent in item 1 of reevaluate is 'a lot'"),
        ("relaxations", {**RELAXED, "until": "soon"}, "until in item 1 of relaxations is 'soon'"),
        ("relaxations", {**RELAXED, "rule": "snapshot"}, "relaxations relax 'snapshot', and there is no such rule"),
    ],
)  # fmt: skip
def test_a_row_that_makes_no_sense_is_one_error_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str, row: dict[str, Any], told: str
) -> None:
    laid(tmp_path, remembering(**{key: [row]}))

    with pytest.raises(SheetRefused) as refused:
        dispatch(["spec", "status", "--project", str(tmp_path)])

    assert told in refused.value.happened
    assert refused.value.happened.count("13-cost-of-determinism.md:") == 1


@pytest.mark.parametrize("rule", ["digest", "prices rounded", "?"])
def test_a_rule_of_twice_and_one_of_the_system_can_be_relaxed(tmp_path: Path, rule: str) -> None:
    own = ["prices rounded: nothing can measure it"]
    laid(tmp_path, remembering(unmeasured=own, relaxations=[{**RELAXED, "rule": rule}]))

    assert open_workspace(tmp_path).rows("13", "relaxations")


@pytest.mark.parametrize(
    ("tier", "asked"),
    [("XS", set()), ("S", {"libraries"}), ("M", {"libraries", "reevaluate", "relaxations"})],
)
def test_a_key_that_is_absent_is_asked_for_at_its_tier_and_fails_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tier: str, asked: set[str]
) -> None:
    heads = good_heads("M")
    heads["00"]["tier"] = heads["01"]["tier"] = tier
    laid(tmp_path, heads)

    dispatch(["spec", "status", "--json", "--project", str(tmp_path)])

    status = json.loads(capsys.readouterr().out)
    assert {note.split()[1] for note in status["notes"] if note.startswith("13 ")} == asked
    (costs,) = (each for each in status["sheets"] if each["sheet"] == "13")
    assert costs["open"] == []


SOURCE = "import sklearn.cluster\nfrom torch import nn\nimport json\n"


def test_imported_libraries_are_proposed_and_people_decide(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE, encoding="utf-8")
    said: dict[str, dict[str, Value]] = {"00": {"sources": ["a.py"]}, "13": {}}
    sheets = {number: artifact(number, values) for number, values in said.items()}

    filled = fill_workspace(Workspace(tmp_path, sheets), read_sources=read_sources).workspace

    rows = filled.sheets["13"].head.entries["libraries"].value
    assert [(row["library"], row["decided"]) for row in rows] == [
        ("scikit-learn", "?"),
        ("torch", "?"),
    ]
    assert rows[1]["source"] == "https://docs.pytorch.org/docs/stable/notes/randomness.html"


def test_what_somebody_decided_stays_when_the_code_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE, encoding="utf-8")
    own: list[dict[str, object]] = [
        {"library": "torch", "default": "is off", "decided": "set in main"}
    ]
    said: dict[str, dict[str, Any]] = {"00": {"sources": ["a.py"]}, "13": {"libraries": own}}
    sheets = {number: artifact(number, values) for number, values in said.items()}

    filled = fill_workspace(Workspace(tmp_path, sheets), read_sources=read_sources).workspace

    assert filled.rows("13", "libraries") == own


def test_every_row_of_the_catalogue_is_whole_and_names_its_page() -> None:
    rows = list(find_defaults(EVERYTHING))

    assert len(rows) >= 15
    assert all({*row} == {"library", "default", "set", "source"} for row in rows)
    assert all(row["source"].startswith("https://") for row in rows)
    assert not list(find_defaults(["json", "scikit-learn"])), "imported is sklearn"


class _Everything:
    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)


EVERYTHING: Any = _Everything()
