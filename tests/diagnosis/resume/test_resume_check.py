"""Programs that are killed and resumed: processes, because one is killed and the other begins anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from namespace_probes import probe_world
from twice.diagnosis.resume.check import check_resume
from twice.errors import CheckpointNotWritten, CheckpointThere, CheckpointUnused, ProgramFailed
from twice.recorder.program_spec import parse_program

pytestmark = pytest.mark.integration

WALK = """
import json, os, random, sys

rng, x, total, first = random.Random(3), 0.0, 0.0, 0
if os.path.exists("walk.json"):
    kept = json.load(open("walk.json"))
    x, first = kept["x"], kept["round"]
    total = kept.get("total", total)
    if "rng" in kept:
        version, words, gauss = kept["rng"]
        rng.setstate((version, tuple(words), gauss))
for round in range(first, 8):
    x += rng.gauss(0, 1)
    total = total + x
    kept = {"x": x, "round": round + 1, "total": total, "rng": rng.getstate()}
    for name in sys.argv[1:]:
        del kept[name]
    with open("walk.json.new", "w") as file:
        json.dump(kept, file)
    os.replace("walk.json.new", "walk.json")
    print(round, x)
print(total)
"""


def script(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str = WALK) -> str:
    (folder / "walk.py").write_text(source, "utf-8")
    monkeypatch.chdir(folder)
    return "walk.py"


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    return parse_program(script(folder, monkeypatch), arguments=arguments)


def test_a_checkpoint_that_holds_everything_resumes_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = check_resume(script(tmp_path, monkeypatch), seed=1, at=2)

    assert report.result == "same"
    assert [(each.at, each.checkpoint) for each in report.points] == [
        (1, "walk.json"),
        (7, "walk.json"),
    ]
    assert report.checkpoint == ["walk.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["walk.py"]


@pytest.mark.parametrize(
    ("left_out", "named"),
    [("rng", "rng"), ("total", "variable total")],
    ids=["generator", "variable"],
)
@pytest.mark.sample(1)
def test_the_field_that_is_missing_is_named_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left_out: str, named: str
) -> None:
    report = check_resume(program(tmp_path, monkeypatch, left_out), seed=1, at=1)

    [point] = report.points
    assert (point.result, point.missing) == ("differs", [named])
    assert report.to_json()["points"][0]["missing"] == [named]
    assert f"lacks {named}" in report.to_text().splitlines()[0]


def test_a_program_that_never_resumes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = "for n in range(3):\n    open('a.txt', 'w').write(str(n))\n"

    with pytest.raises(CheckpointUnused, match=r"a\.txt"):
        check_resume(script(tmp_path, monkeypatch, never), seed=1)


def test_a_program_that_writes_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckpointNotWritten):
        check_resume(script(tmp_path, monkeypatch, "print(1)"), seed=1)


def test_a_checkpoint_that_is_there_already_is_refused_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "walk.json").write_text('{"x": 1.0, "round": 2}', "utf-8")

    with pytest.raises(CheckpointThere, match=r"walk\.json"):
        check_resume(script(tmp_path, monkeypatch), seed=1)
    assert (tmp_path / "walk.json").read_text("utf-8") == '{"x": 1.0, "round": 2}'


def test_a_program_that_fails_by_itself_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ProgramFailed, match="no such data"):
        check_resume(script(tmp_path, monkeypatch, "raise SystemError('no such data')"), seed=1)


ANEW = """
import json, os

if os.path.exists("kept.json"):
    json.load(open("kept.json"))
x = 0
for number in range(6):
    x += number
    with open("kept.json", "w") as file:
        json.dump(x, file)
"""


@pytest.mark.heavy
def test_a_program_that_reads_its_checkpoint_and_begins_anew_shows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = check_resume(script(tmp_path, monkeypatch, ANEW), seed=1, at=1)

    assert (report.result, report.exit_code) == ("unknown", 2)
    assert "began anew" in report.points[0].reason


DRAWN = WALK.replace("print(total)", "print(total, os.urandom(32).hex())")


@pytest.mark.heavy
def test_a_program_that_differs_from_itself_gets_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = check_resume(script(tmp_path, monkeypatch, DRAWN), seed=1, at=1)

    assert report.result == "unknown"
    assert "two runs that nobody stops differ already" in report.points[0].reason
    assert "--ignore-output REGEX" in report.points[0].reason


OUTWARD = WALK.replace(
    '"walk.json"', 'os.path.join(os.path.dirname(os.path.abspath(__file__)), "walk.json")'
).replace(
    "import json, os, random, sys", "import json, os, random, sys\nopen('../data.txt').read()"
)


@pytest.mark.heavy
def test_paths_are_what_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data.txt").write_text("1", "utf-8")
    folder = tmp_path / "work"
    folder.mkdir()

    if not probe_world().available:
        with pytest.raises(ProgramFailed, match=r"data\.txt"):
            check_resume(script(folder, monkeypatch, OUTWARD), seed=1, at=1)
        return
    report = check_resume(script(folder, monkeypatch, OUTWARD), seed=1, at=1)

    assert report.result == "same"
    assert [path.name for path in folder.iterdir()] == ["walk.py"]


SHARDS = WALK.replace(
    "rng, x,",
    "for shard in range(4):\n    open(f'shard-{shard}.txt', 'w').write(str(shard))\nrng, x,",
    1,
)


@pytest.mark.heavy
def test_a_loop_that_writes_other_files_is_not_taken_for_the_one_of_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = parse_program(script(tmp_path, monkeypatch, SHARDS), arguments=("rng",))
    report = check_resume(named, seed=1, at=1)

    assert [each.missing for each in report.points] == [["rng"]]


NETWORK = """
import os, sys, torch
torch.manual_seed(3)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
optimiser, first = torch.optim.Adam(net.parameters()), 0
if os.path.exists("net.pt"):
    kept = torch.load("net.pt", weights_only=True)
    net.load_state_dict(kept["net"])
    optimiser.load_state_dict(kept["optimiser"])
    first = kept["step"]
    if "rng" in kept:
        torch.set_rng_state(kept["rng"])
for step in range(first, 6):
    loss = net(torch.full((2, 4), float(step))).square().mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    kept = {"net": net.state_dict(), "optimiser": optimiser.state_dict(), "step": step + 1, "rng": torch.get_rng_state()}
    for name in sys.argv[1:]:
        del kept[name]
    torch.save(kept, "net.pt.new")
    os.replace("net.pt.new", "net.pt")
print(float(loss))
"""


@pytest.mark.heavy
@pytest.mark.parametrize(("left_out", "result"), [((), "same"), (("rng",), "differs")])
def test_a_network_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left_out: tuple[str, ...], result: str
) -> None:
    pytest.importorskip("torch")
    named = parse_program(script(tmp_path, monkeypatch, NETWORK), arguments=left_out)
    report = check_resume(named, seed=1, at=1)

    (point,) = report.points
    assert (report.result, any("Error" in each.where for each in point.differences)) == (
        result,
        False,
    )
