"""What is taken out of sheets before anything runs, and evidence that is read from files."""

from __future__ import annotations

import json
import shutil
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from gatefacts import facts, good_heads
from gatesystems import COST, Heads, Kept, costs, laid
from hypothesis import given
from hypothesis import strategies as st

from twice.cli.commands.record import PredicateOptions, command, parse_predicate
from twice.errors import ClassRefused
from twice.foundation.determinism_class import Predicate
from twice.foundation.digests import Algorithm
from twice.specification.gate.evidence.context import EvidenceContext, SourceFacts, Unavailable
from twice.specification.gate.evidence.files import AuditReference, Costs, EncodingAnswers
from twice.specification.gate.evidence.runs import uses_numpy
from twice.specification.gate.model import CheckOutcome
from twice.specification.gate.plan import (
    find_algorithm,
    plan_recording,
    predicate_of,
    read_field,
)
from twice.specification.gate.runner import gather, run_gate
from twice.specification.scaffold.reader import SheetReader, record_arguments
from twice.specification.schema import SHEETS
from twice.specification.workspace import open_workspace


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("kept"))


def context_of(project: Path) -> EvidenceContext:
    workspace = open_workspace(project)
    return EvidenceContext(workspace, project / "scratch", lambda *_: SourceFacts(), lambda _: None)


def evidence(project: Path, name: str, heads: Heads) -> object:
    laid(project, heads)
    return gather(name, context_of(project))


def test_what_sheets_leave_open_gets_the_defaults_of_twice(tmp_path: Path) -> None:
    laid(tmp_path, {number: {} for number in SHEETS})
    made = plan_recording(open_workspace(tmp_path))

    assert (made["config"], made["env"], made["predicate"]) == ({}, {}, Predicate())
    assert (made["granularity"], str(made["cadence"]), made["strategy"]) == (
        "tick", "tick", "hybrid",
    )  # fmt: skip
    assert made["algorithm"] is Algorithm.BLAKE3


def test_a_system_that_gives_its_reason_is_asked_for_no_other_seed(tmp_path: Path) -> None:
    heads = good_heads("M")
    heads["02"]["seedless"] = "whoever calls it draws"

    assert evidence(tmp_path, "reseeded", heads) is None


@pytest.mark.parametrize(
    ("text", "algorithm"),
    [
        ("blake3 over the canonical form", Algorithm.BLAKE3),
        ("SHA256", Algorithm.SHA256),
        ("xxh3_128", Algorithm.XXH3_128),
        ("blake3 or sha256", None),
        ("a checksum", None),
        ("", None),
    ],
)
def test_a_digest_is_one_that_is_named_alone(text: str, algorithm: Algorithm | None) -> None:
    assert find_algorithm(text) is algorithm


_KEYS = st.text("abcxyz_", min_size=1)
_STEPS = st.tuples(_KEYS, st.lists(st.one_of(_KEYS, st.integers(0, 99))))


@given(_STEPS)
def test_a_field_is_read_as_reports_write_it(made: tuple[str, list[str | int]]) -> None:
    first, rest = made
    text = first + "".join(f"[{each!r}]" if isinstance(each, int) else f".{each}" for each in rest)

    assert read_field(text) == [first, *rest]


@given(st.text(max_size=12))
def test_no_text_makes_reading_a_field_fail(text: str) -> None:
    assert all(isinstance(each, (str, int)) for each in read_field(text))


@pytest.mark.parametrize("text", ["", "[0]", "a b", "a[", "a[-1]", "a..b"])
def test_what_names_no_field_is_none(text: str) -> None:
    assert read_field(text) == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"class": "logical", "measure": "abs", "epsilon": "1e-6"}, "1e-06"),
        ({"class": "logical", "measure": "ulp", "epsilon": "4"}, "4"),
        (
            {"class": "statistical", "summary": "reward", "test": "mean", "epsilon": "0.5",
             "seeds": 30, "power": "0.8"},
            "the means of 'reward' differ by less than 0.5",
        ),
        (
            {"class": "statistical", "summary": "reward", "test": "iqm", "epsilon": "0.5", "seeds": 30},
            "the interquartile means of 'reward' differ by less than 0.5 (bootstrap, alpha 0.05, power 0.8)",
        ),
        (
            {"class": "statistical", "summary": "reward", "test": "mann-whitney", "epsilon": "0.3", "seeds": 30},
            "the chance that one 'reward' exceeds another is less than 0.3 from 1/2 (Mann-Whitney, alpha 0.05",
        ),
        (
            {"class": "statistical", "summary": "reward", "test": "ks", "epsilon": "0.4", "seeds": 60},
            "the distributions of 'reward' are less than 0.4 apart (KS, alpha 0.05, power 0.8)",
        ),
        (
            {"subsystems": [{"name": "policy", "class": "statistical"}], "summary": "reward", "seeds": 30},
            "for 'policy', over 30 seeds each the means of 'reward'",
        ),
    ],
)  # fmt: skip
def test_every_class_becomes_the_predicate_that_is_executed(
    tmp_path: Path, values: dict[str, Any], words: str
) -> None:
    heads = good_heads("M")
    heads["01"].update(values)
    laid(tmp_path, heads)

    predicate = predicate_of(open_workspace(tmp_path).sheets["01"])

    assert words in predicate.sentence()
    assert Predicate.from_json(predicate.to_json()) == predicate


@pytest.mark.parametrize(
    "stated",
    [
        {"class": "logical", "measure": "abs", "epsilon": "1e-6"},
        {"class": "logical", "measure": "ulp", "epsilon": "4"},
        {"subsystems": [{"name": "policy", "class": "statistical"}], "summary": "reward",
         "test": "mean", "epsilon": "0.5", "seeds": 30, "power": "0.8"},
    ],
)  # fmt: skip
def test_the_class_of_sheet_01_is_the_one_that_its_runs_are_recorded_with(
    tmp_path: Path, stated: dict[str, Any]
) -> None:
    heads = good_heads("M")
    heads["01"].update(stated)
    laid(tmp_path, heads)
    workspace = open_workspace(tmp_path)
    arguments = record_arguments(SheetReader(workspace))
    given = command.make_context("record", [*arguments[1:]]).params
    promise = PredicateOptions(**{each.name: given[each.name] for each in fields(PredicateOptions)})

    assert parse_predicate(given["classes"], promise) == predicate_of(workspace.sheets["01"])


OF_POLICY = {"name": "policy", "class": "statistical"}


@pytest.mark.parametrize(
    "stated",
    [
        {"measure": "abs", "epsilon": "0"}, {"measure": "ulp", "epsilon": "0.5"}, {"measure": "rel"},
        {"subsystems": [OF_POLICY]},
        {"subsystems": [OF_POLICY, {**OF_POLICY, "name": "env"}], "summary": "reward", "seeds": 30},
        {"subsystems": [OF_POLICY], "summary": "reward", "seeds": 30, "test": "ks", "epsilon": "0.1"},
        {"subsystems": [OF_POLICY], "summary": "reward", "seeds": 30, "measure": "abs", "epsilon": "0.5"},
    ],
)  # fmt: skip
def test_what_makes_no_sense_makes_no_class(tmp_path: Path, stated: dict[str, Any]) -> None:
    heads = good_heads("M")
    heads["01"].pop("epsilon", None)
    heads["01"].update({"class": "logical", **stated})
    laid(tmp_path, heads)

    with pytest.raises(ClassRefused):
        predicate_of(open_workspace(tmp_path).sheets["01"])


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "twice.cost/2"}', "\x00"])
def test_costs_that_cannot_be_read_are_unavailable(tmp_path: Path, text: str) -> None:
    heads = good_heads("M")
    laid(tmp_path, heads)
    (tmp_path / COST).parent.mkdir(parents=True)
    (tmp_path / COST).write_text(text, encoding="utf-8")

    assert isinstance(evidence(tmp_path, "costs", heads), Unavailable)


@pytest.mark.integration
def test_costs_of_other_code_are_told_of(kept: Kept, tmp_path: Path) -> None:
    project = kept.system("M", (), tmp_path / "herd").project
    document = {**costs(project), "code": {"src/herd.py": "sha256:00"}}
    (project / COST).write_text(json.dumps(document), encoding="utf-8")

    found = evidence(project, "costs", good_heads("M"))

    assert isinstance(found, Costs)
    assert (found.changed, found.total_percent) == (("src/herd.py",), 12.5)


def test_code_of_a_name_that_no_file_can_have_is_other_code(tmp_path: Path) -> None:
    heads = good_heads("M")
    laid(tmp_path, heads)
    (tmp_path / COST).parent.mkdir(parents=True)
    document = {"format": "twice.cost/1", "code": {"a\0.py": "sha256:00"}}
    (tmp_path / COST).write_text(json.dumps(document), encoding="utf-8")

    found = evidence(tmp_path, "costs", heads)

    assert isinstance(found, Costs)
    assert found.changed == ("a\0.py",)


@pytest.mark.parametrize("total", ["NaN", "Infinity", "true", '"12"', "null", "1" + "0" * 400])
def test_a_total_that_is_no_number_is_none(tmp_path: Path, total: str) -> None:
    heads = good_heads("M")
    laid(tmp_path, heads)
    (tmp_path / COST).parent.mkdir(parents=True)
    (tmp_path / COST).write_text(
        f'{{"format": "twice.cost/1", "total_percent": {total}, "result": "??"}}', encoding="utf-8"
    )

    found = evidence(tmp_path, "costs", heads)

    assert isinstance(found, Costs)
    assert (found.total_percent, found.code, found.program, found.result) == (None, (), "", "")


ASIDE = """
    import threading
    aside = threading.Thread(target=lambda: None)
    aside.start()
    aside.join()
    with open("prices.csv") as file:
        file.read()
    run.track("flock", herd)
"""


@pytest.mark.integration
def test_what_a_run_did_aside_is_told_of(kept: Kept, tmp_path: Path) -> None:
    system = kept.system("M", (), tmp_path / "herd")
    source = system.project / "src" / "herd.py"
    text = source.read_text(encoding="utf-8")
    end = '"weather")))\n' if '"weather")))\n' in text else 'python("weather")))\n'
    source.write_text(text.replace(end, end + ASIDE, 1), encoding="utf-8")
    (system.project / "prices.csv").write_text("1\n", encoding="utf-8")
    told: dict[str, Any] = {}

    def gathers(kind: str, context: EvidenceContext) -> object:
        told[kind] = gather(kind, context)
        return told[kind]

    report = run_gate(
        system.project, lambda *_: SourceFacts(), date(2026, 1, 1), only=(11,), gathers=gathers
    )

    assert told["trial"].ending["lineages"] == {"main/thread": 1}
    assert told["trial"].read == ("prices.csv",)
    assert told["trial"].ending["tracked_twice"] == [["herd", "flock"]]
    assert report.checks[0].outcome is CheckOutcome.FAIL
    assert "prices.csv" in report.inputs


def test_a_scaffold_that_was_edited_is_told_of(tmp_path: Path) -> None:
    orders = Path(__file__).parents[3] / "examples" / "systems" / "orders"
    project = Path(shutil.copytree(orders, tmp_path / "orders"))
    before = gather("laid", context_of(project))
    seeds = project / "determinism" / "seeds.py"
    seeds.write_text(seeds.read_text("utf-8").replace("import", "import  ", 1), encoding="utf-8")
    scope = next((project / "determinism-and-replay").glob("00-*"))
    scope.write_text(
        scope.read_text("utf-8").replace('program: "orders.py:main"', 'program: "orders.py:other"'),
        encoding="utf-8",
    )

    after = gather("laid", context_of(project))

    assert isinstance(before, tuple)
    assert isinstance(after, tuple)
    assert [each for each in before if not each.holds] == []
    assert {each.path for each in after if each.state == "edited"} == {"determinism/seeds.py"}
    assert any(each.moved and not each.holds for each in after)


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("https://example.org/audit#encoding", AuditReference(None)),
        ("audit-pipelines:canonical-encoding", AuditReference(None)),
        ("docs/none.md", AuditReference(there=False)),
        ("docs/audit.md#encoding", AuditReference(there=True)),
    ],
)
def test_a_reference_is_looked_up(tmp_path: Path, reference: str, found: AuditReference) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "audit.md").write_text("how it is encoded", encoding="utf-8")
    heads = good_heads("M")
    heads["04"]["audit_encoding"] = reference

    assert evidence(tmp_path, "handoff", heads) == found


@pytest.mark.integration
def test_a_program_that_does_not_end_well_is_no_trial(kept: Kept, tmp_path: Path) -> None:
    system = kept.system("M", (), tmp_path / "herd")
    source = system.project / "src" / "herd.py"
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace("weather.step()", "raise ValueError('rain')"), encoding="utf-8")

    report = run_gate(system.project, lambda *_: SourceFacts(), date(2026, 1, 1), only=(4, 5))

    assert [each.outcome for each in report.checks] == [CheckOutcome.BLOCKED, CheckOutcome.BLOCKED]
    assert "did not run to its end: builtins.ValueError: rain" in report.checks[0].reason


@pytest.mark.integration
def test_a_stream_that_is_taken_twice_fails_isolation(kept: Kept, tmp_path: Path) -> None:
    system = kept.system("M", (), tmp_path / "herd")
    source = system.project / "src" / "herd.py"
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace('python("weather")', 'numpy("herd")'), encoding="utf-8")

    report = run_gate(system.project, lambda *_: SourceFacts(), date(2026, 1, 1), only=(4, 5))

    assert [each.outcome for each in report.checks] == [CheckOutcome.FAIL, CheckOutcome.BLOCKED]
    assert "The stream 'herd' was taken before" in report.checks[0].reason


def test_only_what_a_wanted_check_looks_at_is_gathered(tmp_path: Path) -> None:
    asked: list[str] = []
    project = tmp_path
    facts(project)

    run_gate(
        project,
        lambda *_: SourceFacts(),
        date(2026, 1, 1),
        only=(8, 10),
        gathers=lambda kind, _: asked.append(kind) or Unavailable("not made here"),
    )

    assert asked == ["code", "trial", "vector", "handoff"]


@pytest.mark.parametrize(
    ("kind", "draws", "imported", "source", "used"),
    [
        ("numpy", 0, ["mkl", "numpy", "twice"], "import math", False),
        ("python", 3, ["numpy"], "from .numpy import a", False),
        ("python", 3, ["numpy"], "def broken(:", False),
        ("numpy", 3, ["numpy"], "", True),
        ("numpy", None, ["numpy"], "", True),
        ("python", 3, ["numpy", "scipy"], "", True),
        ("python", 3, ["numpy"], "def f():\n    import os, numpy.linalg as la", True),
        ("python", 3, ["numpy"], "from numpy import sin", True),
    ],
)
def test_a_run_uses_numpy_that_draws_from_it_imports_it_or_loads_what_counts_by_it(
    tmp_path: Path, kind: str, draws: int | None, imported: list[str], source: str, used: bool
) -> None:
    (tmp_path / "a.py").write_text(source, encoding="utf-8")
    ending = {"streams": {"a": {"kind": kind, "draws": draws}}, "imported": imported}

    assert uses_numpy(ending, [tmp_path / "a.py", tmp_path / "gone.py"]) is used


@pytest.mark.parametrize("value", ['{"a": NaN}', "[Infinity]", '{"a": 1'])
def test_what_is_no_json_has_no_digest(value: str, tmp_path: Path) -> None:
    heads = good_heads("M")
    heads["11"]["vectors"] = [{"value": value, "digest": f"sha256:{'0' * 64}"}]

    answers = evidence(tmp_path, "encoded", heads)

    assert isinstance(answers, EncodingAnswers)
    assert answers.vectors[value] == ()
