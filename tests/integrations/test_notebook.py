"""Notebooks: results show themselves, and a cell is recorded as a program that verifies later."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import twice
from twice.diagnosis.divergence import (
    Attribution,
    Divergence,
    ExtraRead,
    OperationFound,
    Result,
)
from twice.diagnosis.log_comparison import PointRef
from twice.diagnosis.vary.report import FactorResult, Variation
from twice.errors import (
    ConfigKeyUnused,
    OutputExists,
    ProgramNotFound,
    SeedMissing,
    SeedRefused,
    TwiceError,
    UsageError,
)
from twice.foundation.channels import Channel
from twice.foundation.comparison import FieldDifference
from twice.foundation.determinism_class import Predicate
from twice.replayer.outcome import Failure
from twice.replayer.verification import Verification
from twice.specification.gate.model import CheckOutcome, CheckResult
from twice.specification.gate.report import GateReport

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "notebooks.md"
HOSTILE = "<script>alert(1)</script>\x1b[31m"
COUNTS = {"evaluated": 3, "passed": 3, "failed": 0, "within_tolerance": 0}
EQUAL = Verification(
    path=Path("a.twice"), run_id="1", predicate=Predicate(), subsystems=(), counts=COUNTS
)
FAILED = replace(EQUAL, failure=Failure(2, 1, HOSTILE, (HOSTILE,), HOSTILE, "2", "walk.py:7"))
LINE = OperationFound("walk.py", 7, HOSTILE, HOSTILE, "x", "1", HOSTILE, 0.95)
WALK = """
def main(run):
    place = run.track("place", {"x": 0})
    for _ in run.ticks(run.config["days"]):
        place["x"] += 1
"""


def divergence(result: Result) -> Divergence:
    return Divergence(
        "a.twice",
        HOSTILE,
        result,
        Predicate(),
        ["walk"],
        compare_point=PointRef(4, 3, "tick"),
        components=[HOSTILE],
        fields=[FieldDifference(f"walk.{HOSTILE}", "value", "1.5", HOSTILE)],
        operation=LINE,
        reads=[ExtraRead(HOSTILE)] if result == "extra-read" else [],
        attribution=[Attribution(Channel.EFFECTS, 0.9, (HOSTILE,))],
    )


def variation(result: Any) -> Variation:
    found = divergence("localised") if result == "differs" else None
    return Variation(HOSTILE, [FactorResult("hash seed", "2", result, HOSTILE, found)])


def gate(outcome: CheckOutcome) -> GateReport:
    return GateReport(HOSTILE, "M", [CheckResult(3, "Seeds", outcome, (HOSTILE,), HOSTILE)], {})


RESULTS = [
    (EQUAL, "PASS", 0),
    (FAILED, "FAIL", 1),
    (replace(EQUAL, not_judged=[HOSTILE]), "UNKNOWN", 2),
    (replace(EQUAL, is_torn=True), "PARTIAL", 2),
    (divergence("same"), "same", 0),
    (divergence("within-tolerance"), "within-tolerance", 0),
    (divergence("extra-read"), "extra-read", 0),
    (divergence("localised"), "localised", 1),
    (replace(divergence("candidates"), operation=None, candidates=[LINE]), "candidates", 1),
    (divergence("unlocalised"), "unlocalised", 1),
    (divergence("non-reproducing"), "non-reproducing", 2),
    (divergence("not-same-input"), "not-same-input", 2),
    (variation("same"), "PASS", 0),
    (variation("differs"), "FAIL", 1),
    (variation("could-not-tell"), "UNKNOWN", 2),
    (gate(CheckOutcome.PASS), "PASS", 0),
    (gate(CheckOutcome.FAIL), "FAIL", 1),
    (gate(CheckOutcome.BLOCKED), "BLOCKED", 2),
]


@pytest.mark.parametrize(("result", "word", "code"), RESULTS, ids=lambda each: str(each)[:20])
def test_every_verdict_shows_itself(result: Any, word: str, code: int) -> None:
    page = result._repr_html_()

    assert f">{word}</strong>" in page
    assert result.exit_code == code
    assert ("#1f7a4d", "#c8362b", "#8a5c00")[code] in page
    assert "<script" not in page
    assert "\x1b" not in page


def test_a_divergence_shows_line_values_and_channel() -> None:
    page = divergence("localised")._repr_html_()

    assert "walk.py:7 in " in page
    assert re.search(r"walk\..*\(value\)</th><td [^>]*>1\.5</td>", page)
    assert "effects (confidence 90%)" in page


class Shell:
    """As much of IPython as the extension uses."""

    def __init__(self) -> None:
        self.user_ns: dict[str, object] = {}

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        assert (kind, name) == ("cell", "twice")
        self.run = function


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    made = Shell()
    twice.load_ipython_extension(made)
    return made


@pytest.mark.parametrize(
    ("line", "cell", "error", "said"),
    [
        ("", WALK, SeedMissing, "--seed 42"),
        ("--seed x", WALK, SeedRefused, "is not an integer"),
        ("--seed 7 --sed 8", WALK, UsageError, "unrecognized arguments: --sed 8"),
        ("--seed 7 --set 'a", WALK, UsageError, "no closing quotation"),
        ("--seed 7 --as 1a", WALK, UsageError, "1a is not the name of a variable"),
        ("--seed 7 --set days", WALK, TwiceError, "is not a key and a value"),
        ("--seed 7", "\n!ls\n", ProgramNotFound, "line 3 is not Python"),
        ("--seed 7 -o there.twice", WALK, OutputExists, "--force"),
    ],
)
def test_a_mistake_is_one_clear_error(
    shell: Shell, line: str, cell: str, error: type[TwiceError], said: str
) -> None:
    Path("there.twice").write_bytes(b"")
    with pytest.raises(error, match=re.escape(said)) as caught:
        shell.run(line, cell)

    assert "\n".join(caught.value._render_traceback_()) == str(caught.value)
    assert [*Path().glob("*.twice")] == [Path("there.twice")]


@pytest.mark.integration
def test_a_cell_is_verified_after_it_was_edited(shell: Shell, tmp_path: Path) -> None:
    first = shell.run("--seed 7 --set days=3 --as walk", WALK)
    second = shell.run("--seed 7 --set days=3 --as other", WALK.replace("+= 1", "+= 2"))

    assert shell.user_ns == {"walk": first, "other": second}
    assert (first.path, first.ticks) == (Path("walk.twice"), 3)
    assert str(first.setup.program).startswith("__twice__/cell_")
    assert [twice.verify(each).result for each in ("walk.twice", "other.twice")] == ["PASS", "PASS"]
    assert len([*tmp_path.glob("__twice__/cell_*.py")]) == 2


@pytest.mark.integration
def test_a_script_imports_from_beside_the_notebook(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beside.py").write_text("SIZE = 3\n", "utf-8")
    with shell.run("--seed 7 -o a.twice", "import beside\nprint(__name__, beside.SIZE)\n") as made:
        assert made.printed() == (b"__main__ 3\n", b"")

    assert twice.verify("a.twice").result == "PASS"
    (tmp_path / "other" / "__twice__").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "other")  # where cells of another notebook are
    assert twice.verify(tmp_path / "a.twice").result == "PASS"


@pytest.mark.integration
def test_a_variable_of_the_notebook_is_named_where_it_is_missing(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["size"] = 3
    made = shell.run("--seed 7 -o a.twice", "print(size)\n")

    assert made.ending["how"] == "exception"
    assert "size is a variable of the notebook" in capsys.readouterr().err
    assert "builtins.NameError: name &#x27;size&#x27; is not defined" in made._repr_html_()


@pytest.mark.integration
def test_a_key_that_is_never_read_is_an_error(shell: Shell) -> None:
    with pytest.raises(ConfigKeyUnused, match="never read the configuration key dais"):
        shell.run("--seed 7 --set days=3 --set dais=4", WALK)


def read_cells() -> Iterator[str]:
    """Read the cells of the guide, in their order."""
    text = GUIDE.read_text("utf-8")
    return iter(re.findall(r"^```ipython\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


def run_cells(sources: Iterable[str], folder: Path) -> list[Any]:
    """Run a notebook to its end, whatever fails, and return its outputs."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    cells = [nbformat.v4.new_code_cell(each) for each in sources]
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(
        nbformat.v4.new_notebook(cells=cells), resources=resources, allow_errors=True
    ).execute()
    return [each for cell in cells for each in cell.outputs]


@pytest.mark.heavy  # a kernel of Jupyter, which is a process with sockets of its own
def test_the_guide_is_a_notebook_that_runs(tmp_path: Path) -> None:
    outputs = run_cells(read_cells(), tmp_path)
    pages = [each.data["text/html"] for each in outputs if "text/html" in each.get("data", {})]
    errors = [each for each in outputs if each.output_type == "error"]

    verdicts = [re.findall(r">([^<>]+)</strong>", each)[0] for each in pages]
    assert verdicts == ["completed", "PASS", "completed", "localised"], outputs
    assert [each.ename for each in errors] == ["OutputExists"]
    shown = "\n".join(errors[0].traceback)
    assert f"\n```text\n{shown}\n```\n" in GUIDE.read_text("utf-8")


@pytest.mark.heavy  # a kernel, as above
def test_a_kernel_shows_what_a_cell_prints_and_fills_in_variables(tmp_path: Path) -> None:
    outputs = run_cells(
        [
            "%load_ext twice\ndays = 3",
            "%%twice --seed 7 -o a.twice\nprint('hello from a cell')",
            "%%twice --seed 7 --set days={days} --as walk" + WALK,
            "walk.ticks",
            "%%twice --seed 7 -o b.twice\nprint(days)",
            "%%twice --sed 7\npass",
        ],
        tmp_path,
    )
    printed = {each.name: "" for each in outputs if each.output_type == "stream"}
    for each in outputs:
        if each.output_type == "stream":
            printed[each.name] += each.text

    assert "hello from a cell" in printed["stdout"]
    assert "days is a variable of the notebook" in printed["stderr"]
    assert [each.data["text/plain"] for each in outputs if "data" in each][2] == "3"
    assert [each.traceback[0] for each in outputs if each.output_type == "error"] == [
        "E-USE-001  %%twice: unrecognized arguments: --sed 7."
    ]
