from __future__ import annotations

import json
from pathlib import Path

import pytest

from programs import cli, recorded, write
from twice.foundation.determinism_class import Predicate

VERIFICATION_KEYS = {
    "format", "result", "classes", "axis", "scope", "compare_points", "first_failure",
    "environment", "effects", "caveats", "next",
}  # fmt: skip
DIVERGENCE_KEYS = {
    "format", "result", "classes", "input_differences", "compare_point", "last_agreement",
    "components", "fields", "operation", "attribution", "reconverges", "caveats", "next",
}  # fmt: skip
FORGETFUL = """
    class Tally:
        def __init__(self):
            self.total, self.seen = 0, 0
        def add(self, tick):
            self.seen += 1
            self.total += self.seen
        def state(self):
            return {"total": self.total}
        def restore(self, state):
            self.total = state["total"]
    def main(run):
        tally = run.track("tally", Tally())
        for tick in run.ticks(6):
            tally.add(tick)
"""
COUNTING = """
    import posix  # behind the back of what governs entropy
    class Count:
        def __init__(self):
            self.runs = 0
        def look(self):
            self.runs = int.from_bytes(posix.urandom(4))
        def state(self):
            return {"runs": self.runs}
    def main(run):
        count = run.track("count", Count())
        for tick in run.ticks(4):
            if tick == 2:
                count.look()
"""


@pytest.mark.integration
def test_a_pass_has_the_fields_that_scripts_read(swarm: Path) -> None:
    done = cli("verify", "a.twice", "--json", cwd=swarm)
    told = json.loads(done.stdout)

    assert done.returncode == 0
    assert (told["format"], told["result"]) == ("twice.verification/1", "PASS")
    assert set(told) >= VERIFICATION_KEYS
    assert told["compare_points"] == {
        "evaluated": 422, "passed": 422, "failed": 0, "within_tolerance": 0,
    }  # fmt: skip
    assert json.loads((swarm / "a.twice.verification-1.json").read_text()) == told


@pytest.mark.integration
def test_a_segment_that_was_asked_for_is_partial_and_exits_0(swarm: Path) -> None:
    done = cli("verify", "a.twice", "--from", 100, "--to", 110, "--json", cwd=swarm)

    assert (done.returncode, json.loads(done.stdout)["result"]) == (0, "PARTIAL")


@pytest.mark.integration
def test_a_scope_alone_keeps_the_recorded_class(tmp_path: Path) -> None:
    source = "def main(run):\n    print(1)\n"
    with recorded(tmp_path, source, predicate=Predicate.parse(["logical"])) as record:
        path = record.path
    told = json.loads(cli("verify", path, "--scope", "process", "--json").stdout)
    output = told["classes"]["output"]
    assert (output["class"], output["scope"]) == ("logical", "process")


@pytest.mark.integration
def test_a_torn_record_never_exits_0(swarm: Path) -> None:
    whole = (swarm / "a.twice").read_bytes()
    (swarm / "torn.twice").write_bytes(whole[: len(whole) * 3 // 4])

    for segment in ((), ("--to", 5)):
        assert cli("verify", "torn.twice", *segment, cwd=swarm).returncode == 2


@pytest.mark.integration
def test_restores_are_in_the_statement(swarm: Path) -> None:
    done = cli("verify", "a.twice", "--restores", "--all", "--json", cwd=swarm)

    assert done.returncode == 0
    restored = json.loads(done.stdout)["restores"]
    assert (restored["tested"], restored["failed"]) == (3, [])


@pytest.mark.heavy
def test_forgotten_state_fails_the_restores(tmp_path: Path) -> None:
    from twice.recorder.cadence import parse_cadence

    with recorded(tmp_path, FORGETFUL, cadence=parse_cadence("tick")) as record:
        path = record.path

    done = cli("verify", path, "--restores", "--json")
    told = json.loads(done.stdout)

    assert (done.returncode, told["result"]) == (1, "FAIL")
    assert told["restores"]["failed"][0]["component"] == "tally"
    assert "total" in told["restores"]["failed"][0]["fields"][0]


@pytest.mark.heavy
def test_a_failed_restore_says_what_was_not_put_back(tmp_path: Path) -> None:
    from twice.recorder.cadence import parse_cadence

    with recorded(tmp_path, FORGETFUL, cadence=parse_cadence("every=3")) as record:
        path = record.path

    data = json.loads(cli("verify", path, "--restores", "--json").stdout)
    text = cli("verify", path, "--restores").stdout

    assert data["restores"]["failed"][0]["missing"] == ["tally.seen"]
    assert "- not put back: `tally.seen`" in text


@pytest.mark.heavy
def test_a_failure_is_diagnosed_in_the_statement(tmp_path: Path) -> None:
    with recorded(tmp_path, COUNTING, allow=("files.open",)) as record:
        path = record.path

    done = cli("verify", path, "--diagnose", "--json")
    told = json.loads(done.stdout)

    assert (done.returncode, told["result"]) == (1, "FAIL")
    assert told["first_failure"]["tick"] == 2
    assert set(told["divergence"]) >= DIVERGENCE_KEYS
    assert "divergence" in json.loads((tmp_path / "a.twice.verification-1.json").read_text())


@pytest.mark.heavy
def test_a_file_that_changed_is_named_by_its_diagnosis_too(tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text("print(len(open('sums.csv').read()))\n")
    (tmp_path / "sums.csv").write_text("1,2\n")
    assert cli("record", "sums.py", "--seed", 1, "-o", "a.twice", cwd=tmp_path).returncode == 0
    (tmp_path / "sums.csv").write_text("1,3\n")

    told = cli("verify", "a.twice", "--diagnose", cwd=tmp_path).stdout

    said = " ".join(told.split()).partition("the run agrees with itself")[2]
    assert "sums.py:1: recorded files.read('{program}/sums.csv') -> blake3:" in said
    assert "was not recorded" not in told


@pytest.mark.integration
def test_a_tick_of_a_record_without_ticks_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "calm.py").write_text("print(1)\n")
    assert cli("record", "calm.py", "--seed", 1, "-o", "a.twice", cwd=tmp_path).returncode == 0
    for command in (["verify", "a.twice", "--to", 9], ["show", "a.twice", "--tick", 9]):
        refused = cli(*command, cwd=tmp_path)
        assert (refused.returncode, "It holds no tick" in refused.stderr) == (2, True)


@pytest.mark.integration
def test_a_failure_is_counted_and_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(
        "def main(run):\n    for tick in run.ticks(5):\n        run.input('push', lambda: tick)\n"
    )
    assert cli("record", "p.py:main", "--seed", 1, "-o", "a.twice", cwd=tmp_path).returncode == 0
    source = (tmp_path / "p.py").read_text()
    (tmp_path / "p.py").write_text(source.replace("lambda: tick", "lambda: min(tick, 2)"))

    done = cli("verify", "a.twice", "--informational", "--json", cwd=tmp_path)
    told = json.loads(done.stdout)

    assert (done.returncode, told["result"], told["first_failure"]["index"]) == (1, "FAIL", 4)
    counts = told["compare_points"]
    assert (counts["evaluated"], counts["passed"], counts["failed"]) == (5, 4, 1)
    assert told["effects"]["manifest_matches"] is False
    assert told["effects"]["manifest_judged"] is False
    (step,) = told["next"]
    assert step == {
        "action": "find the line",
        "sheet": "05",
        "command": "twice verify a.twice --informational --diagnose",
        "checks": [6],
    }


@pytest.mark.integration
def test_a_segment_that_ends_before_it_begins_and_a_class_for_nobody_are_refused(
    swarm: Path,
) -> None:
    backwards = cli("verify", "a.twice", "--from", 20, "--to", 10, cwd=swarm)
    nobody = cli("verify", "a.twice", "--class", "swram=logical", cwd=swarm)

    assert (backwards.returncode, backwards.stderr[:9]) == (2, "E-USE-001")
    assert (nobody.returncode, nobody.stderr[:11]) == (2, "E-CLASS-001")
    assert "swarm" in nobody.stderr
    assert not list(swarm.glob("*.verification-*"))


@pytest.mark.integration
def test_a_class_for_nobody_is_said_when_the_run_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("def main(run):\n    list(run.ticks(run.track('n', [3])[0]))\n")
    record = ("record", "p.py:main", "--seed", 1)

    wrong = cli(*record, "--class", "m=logical", "-o", "a.twice", cwd=tmp_path)
    right = cli(*record, "--class", "n=logical", "-o", "b.twice", cwd=tmp_path)

    assert (wrong.returncode, right.returncode) == (2, 0)
    assert "E-CLASS-001" in wrong.stderr


@pytest.mark.integration
def test_json_is_printed_where_no_statement_can_be_written(swarm: Path) -> None:
    name = "n" * 240  # A name that leaves no room for what is written beside it.
    (swarm / "a.twice").rename(swarm / name)

    done = cli("verify", name, "--json", cwd=swarm)
    text = cli("verify", name, cwd=swarm)

    assert (done.returncode, json.loads(done.stdout)["result"]) == (0, "PASS")
    assert done.stderr.startswith("E-OUTPUT-002")
    assert (text.returncode, text.stdout[:4]) == (2, "PASS")


@pytest.mark.integration
def test_all_without_restores_is_wrong_use(swarm: Path) -> None:
    assert cli("verify", "a.twice", "--all", cwd=swarm).stderr.startswith("E-USE-001")


@pytest.mark.heavy
def test_a_branch_parts_from_its_parent_at_the_substituted_input(recorded_swarm: Path) -> None:
    done = cli("diagnose", "a.twice", "b.twice", "--json", cwd=recorded_swarm)
    told = json.loads(done.stdout)

    assert done.returncode == 1
    assert (told["format"], told["result"]) == ("twice.divergence/1", "localised")
    assert set(told) >= DIVERGENCE_KEYS
    assert told["compare_point"]["tick"] == 120
    assert told["operation"]["code"] == 'push = run.input("push", lambda: policy(swarm))'


@pytest.mark.integration
def test_a_run_is_the_same_as_itself(recorded_swarm: Path) -> None:
    done = cli("diagnose", "a.twice", "a.twice", cwd=recorded_swarm)

    assert (done.returncode, done.stdout.partition(":")[0]) == (0, "same")


@pytest.mark.integration
def test_another_seed_is_not_the_same_input(swarm: Path) -> None:
    other = ("record", "examples/swarm.py:main", "--seed", 43, "--set", "n=4", "--set", "ticks=210")
    assert cli(*other, "-o", "c.twice", cwd=swarm).returncode == 0

    refused = cli("diagnose", "a.twice", "c.twice", "--json", cwd=swarm)
    anyway = cli("diagnose", "a.twice", "c.twice", "--anyway", "--no-lines", "--json", cwd=swarm)

    assert (refused.returncode, json.loads(refused.stdout)["result"]) == (2, "not-same-input")
    assert (anyway.returncode, json.loads(anyway.stdout)["result"]) == (1, "unlocalised")


@pytest.mark.integration
def test_one_or_three_records_are_wrong_use(recorded_swarm: Path) -> None:
    for given in (["a.twice"], ["a.twice"] * 3, []):
        done = cli("diagnose", *given, cwd=recorded_swarm)
        assert (done.returncode, done.stderr[:9]) == (2, "E-USE-001")
        assert ("twice verify a.twice --diagnose" in done.stderr) == (len(given) == 1)


@pytest.mark.heavy
def test_traces_are_compared_without_the_records(swarm: Path) -> None:
    for name in "ab":
        made = cli("trace", f"{name}.twice", "--tick", 120, "-o", f"{name}.trace", cwd=swarm)
        assert made.returncode == 0, made.stderr
        (swarm / f"{name}.twice").unlink()

    done = cli("diagnose", "--traces", "a.trace", "b.trace", "--json", cwd=swarm)
    told = json.loads(done.stdout)

    assert (done.returncode, told["result"], told["compare_point"]["tick"]) == (1, "localised", 120)
    assert cli("diagnose", "a", "--traces", "a.trace", "b.trace", cwd=swarm).returncode == 2


@pytest.mark.integration
def test_changed_code_is_named_before_anything_is_blamed(tmp_path: Path) -> None:
    source = """
        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(3):
                seen.append(tick * 2)
    """
    with recorded(tmp_path, source) as record:
        path = record.path
    write(tmp_path, source.replace("* 2", "* 3"))

    done = cli("verify", path, "--informational", "--diagnose", "--json")

    divergence = json.loads(done.stdout)["divergence"]
    assert done.returncode == 1
    assert divergence["result"] == "not-same-input"
    (difference,) = divergence["input_differences"]
    assert difference["what"].startswith("code ")
    report = cli("verify", path, "--informational", "--diagnose", "--report")
    assert report.returncode == 1
    assert "so their difference shows no fault." in report.stdout
    assert difference["what"].endswith("program.py")
    again, compare = (step["command"] for step in divergence["next"])
    now = path.with_name(f"{path.stem}-now.twice")
    assert again.startswith("twice record ")
    assert again.endswith(f"program.py:main --seed 1 -o {now}")
    assert compare == f"twice diagnose {path} {now} --anyway"
