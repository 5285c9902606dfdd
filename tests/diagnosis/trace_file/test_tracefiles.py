"""Two trace files name the line that ``diagnose`` names, and a file that is not whole is refused."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import twice
from programs import cli, write
from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.trace_file.compare import diagnose_traces
from twice.diagnosis.trace_file.format import read_trace_file, seal, unseal
from twice.diagnosis.trace_file.write import write_trace
from twice.errors import OutputExists, RecordOutOfRange, TraceRefused, UsageError
from twice.foundation.encoding import decode, encode

NAMES = """
    class Market:
        def __init__(self):
            self.prices, self.n = {}, 0

        def step(self, tick):
            self.n += 1
            if tick == 2:
                names = {"ada", "ben", "cem", "dita", "eva", "fay"}
                for name in names:  # guilty
                    self.prices[name] = self.n
            self.n += 1

        def state(self):
            return {"names": list(self.prices), "n": self.n}

    def main(run):
        market = run.track("market", Market())
        for tick in run.ticks(4):
            market.step(tick)
"""
PRODUCTS = """
    import numpy as np

    class Field:
        def __init__(self, rng):
            self.rng, self.x = rng, np.zeros(128)

        def step(self):
            tags = list({"a", "b", "c", "d"})
            a, b = self.rng.random((128, 1000)) - 0.5, self.rng.random((1000, 128)) - 0.5
            c = a @ b  # guilty
            self.x = self.x + c[0]
            return len(tags)

        def state(self):
            return {"x": self.x}

    def main(run):
        field = run.track("field", Field(run.rng("field")))
        for tick in run.ticks(2):
            field.step()
"""
CALM = {"PYTHONHASHSEED": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def two(folder: Path, source: str, changed: dict[str, str]) -> tuple[Path, Path, int]:
    """Two records of one program, and the guilty line's number."""
    program = write(folder, source)
    for name, given in (("a", {}), ("b", changed)):
        out = folder / f"{name}.twice"
        twice.record(program, seed=1, out=out, env={**CALM, **given}).close()
    lines = (folder / "program.py").read_text(encoding="utf-8").splitlines()
    guilty = next(at for at, line in enumerate(lines, 1) if line.endswith("# guilty"))
    return folder / "a.twice", folder / "b.twice", guilty


def traced(a: Path, b: Path, tick: int, **options: int) -> tuple[Path, Path]:
    """Trace one tick of both."""
    files = a.with_suffix(".trace"), b.with_suffix(".trace")
    for record, file in zip((a, b), files, strict=True):
        write_trace(record, tick, file, **options)
    return files


def nested(depth: int) -> list[object]:
    """Build a list in a list, and so on."""
    held: list[object] = []
    for _ in range(depth):
        held = [held]
    return held


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, int]:
    """Two runs of the market under two hash seeds, and their trace files of tick 2."""
    folder = tmp_path_factory.mktemp("market")
    a, b, guilty = two(folder, NAMES, {"PYTHONHASHSEED": "2"})
    return *traced(a, b, 2), guilty


@pytest.mark.heavy
def test_two_files_name_the_line_that_diagnose_names(market: tuple[Path, Path, int]) -> None:
    a, b, guilty = market
    from_files = diagnose_traces(a, b)
    from_records = diagnose(a.with_suffix(".twice"), b.with_suffix(".twice"))
    assert from_files.result == from_records.result == "localised"
    assert from_files.operation is not None
    assert from_records.operation is not None
    assert from_files.operation.line == from_records.operation.line == guilty
    assert from_files.operation.name == from_records.operation.name
    assert from_files.operation.file == "program.py"
    assert from_files.operation.code == from_records.operation.code
    assert from_files.attribution[0].channel == from_records.attribution[0].channel
    assert from_files.compare_point == from_records.compare_point
    assert from_files.last_agreement == from_records.last_agreement
    assert [row.path for row in from_files.fields] == [row.path for row in from_records.fields]


@pytest.mark.integration
def test_the_source_is_not_needed_where_the_files_are_compared(
    market: tuple[Path, Path, int], tmp_path: Path
) -> None:
    a, b, guilty = market
    copies = [tmp_path / "one", tmp_path / "two"]
    for copy, file in zip(copies, (a, b), strict=True):
        copy.write_bytes(file.read_bytes())
    (tmp_path / "program.py").write_text("another = 'program'\n" * 40, encoding="utf-8")
    done = cli("diagnose", "--traces", *copies, "--json", cwd=tmp_path)
    told = json.loads(done.stdout)
    assert (done.returncode, told["result"]) == (1, "localised")
    assert told["operation"]["line"] == guilty
    assert told["operation"]["code"].startswith("for name in names:")


@pytest.mark.heavy
def test_a_line_that_threads_change_is_named_beside_a_list_of_a_set(tmp_path: Path) -> None:
    a, b, guilty = two(tmp_path, PRODUCTS, {"OPENBLAS_NUM_THREADS": "2", "PYTHONHASHSEED": "2"})
    with twice.open(a) as one, twice.open(b) as other:
        if one.reader.points.point(1).root == other.reader.points.point(1).root:
            pytest.skip("two threads give this machine's matrix product the same bits")
    found = diagnose_traces(*traced(a, b, 0))
    assert found.result == "localised", found.to_text()
    assert found.operation is not None
    assert found.operation.line == guilty


@pytest.mark.heavy
def test_a_tick_in_which_one_run_ends_is_refused_by_its_compare_points(tmp_path: Path) -> None:
    program = write(
        tmp_path,
        """
        import os

        def main(run):
            held = run.track("held", {"n": 0})
            for tick in run.ticks(int(os.environ.get("TICKS", "3"))):
                held["n"] += 1
        """,
    )
    files = []
    for ticks in ("3", "2"):
        record = tmp_path / f"{ticks}.twice"
        twice.record(program, seed=3, out=record, env={"TICKS": ticks}).close()
        files.append(write_trace(record, 1, tmp_path / f"{ticks}.trace"))
    with pytest.raises(TraceRefused, match=r"points tick, end; tick 1 .* tick\.") as caught:
        diagnose_traces(*files)
    assert "2.trace" in caught.value.happened


@pytest.mark.integration
@pytest.mark.heavy
def test_a_tick_in_which_nothing_differs_is_the_same(market: tuple[Path, Path, int]) -> None:
    a, b, _ = market
    files = [file.with_name(f"{file.stem}1.trace") for file in (a, b)]
    for file, out in zip((a, b), files, strict=True):
        write_trace(file.with_suffix(".twice"), 1, out)
    assert diagnose_traces(*files).result == "same"
    with pytest.raises(TraceRefused, match="another window"):
        diagnose_traces(files[0], b)


@pytest.mark.integration
@pytest.mark.heavy
def test_a_tick_that_begins_different_asks_for_an_earlier_one(
    market: tuple[Path, Path, int],
) -> None:
    a, b, _ = market
    files = [file.with_name(f"{file.stem}3.trace") for file in (a, b)]
    for file, out in zip((a, b), files, strict=True):
        write_trace(file.with_suffix(".twice"), 3, out)
    found = diagnose_traces(*files)
    assert (found.result, found.operation) == ("unlocalised", None)
    assert any("before tick 3" in told for told in found.evidence)


@pytest.mark.heavy
def test_what_began_where_no_state_was_written_is_not_guessed(tmp_path: Path) -> None:
    a, b, _ = two(tmp_path, NAMES, {"PYTHONHASHSEED": "2"})
    found = diagnose_traces(*traced(a, b, 2, events_max=4))
    assert (found.result, found.operation) == ("unlocalised", None)
    assert any("no state was seen" in told for told in found.evidence)
    assert list(found.remedies) == [
        "write the traces anew with more events (--events), or of a shorter tick"
    ]


@pytest.mark.integration
@pytest.mark.heavy
def test_other_seeds_are_other_inputs(market: tuple[Path, Path, int], tmp_path: Path) -> None:
    a, _, _ = market
    program = write(tmp_path, NAMES)
    twice.record(program, seed=2, out=tmp_path / "c.twice", env=CALM).close()
    write_trace(tmp_path / "c.twice", 2, tmp_path / "c.trace")
    found = diagnose_traces(a, tmp_path / "c.trace")
    assert found.result == "not-same-input"
    assert [row.what for row in found.input_differences] == ["seed"]


@pytest.mark.integration
def test_an_output_that_is_there_is_kept(market: tuple[Path, Path, int]) -> None:
    a, _, _ = market
    before = a.read_bytes()
    with pytest.raises(OutputExists):
        write_trace(a.with_suffix(".twice"), 2, a)
    assert a.read_bytes() == before


@pytest.mark.integration
def test_a_tick_that_is_not_in_the_record_is_refused(market: tuple[Path, Path, int]) -> None:
    a, _, _ = market
    out = a.with_name("beyond.trace")
    with pytest.raises(RecordOutOfRange, match="no compare-point in tick 99"):
        write_trace(a.with_suffix(".twice"), 99, out)
    assert not out.exists()


@pytest.mark.integration
def test_the_command_writes_a_file_and_names_the_next(
    market: tuple[Path, Path, int], tmp_path: Path
) -> None:
    a, _, _ = market
    out = tmp_path / "a.trace"
    done = cli("trace", a.with_suffix(".twice"), "--tick", 2, "-o", out)
    assert done.returncode == 0, done.stderr
    assert read_trace_file(out).tick == 2
    assert done.stdout.splitlines()[-1].startswith("next: twice diagnose --traces")


@pytest.mark.integration
def test_any_flipped_byte_and_any_cut_is_refused(
    market: tuple[Path, Path, int], tmp_path: Path
) -> None:
    whole = market[0].read_bytes()
    chance = random.Random(20)
    bad = tmp_path / "bad.trace"
    places = [*range(80), *(chance.randrange(len(whole)) for _ in range(200))]
    for place in places:
        bad.write_bytes(
            whole[:place] + bytes([whole[place] ^ (1 << chance.randrange(8))]) + whole[place + 1 :]
        )
        with pytest.raises(TraceRefused):
            read_trace_file(bad)
    for size in [*range(80), *(chance.randrange(len(whole)) for _ in range(50))]:
        bad.write_bytes(whole[:size])
        with pytest.raises(TraceRefused):
            read_trace_file(bad)
    bad.write_bytes(whole + b"\0")
    with pytest.raises(TraceRefused):
        read_trace_file(bad)


@pytest.mark.integration
@pytest.mark.heavy
def test_a_forged_document_is_refused_whatever_is_missing(
    market: tuple[Path, Path, int], tmp_path: Path
) -> None:
    held = unseal(market[0])
    bad = tmp_path / "forged.trace"
    wrong = [None, 7, [], {"x": 1}, [[1]], "text"]
    fitting = {"ending": [None], "tick": [7], "run_id": ["text"]}
    for name in held:
        for value in wrong:
            if value not in fitting.get(name, []):
                bad.write_bytes(seal({**held, name: value}))
                with pytest.raises(TraceRefused):
                    read_trace_file(bad)
        bad.write_bytes(seal({key: value for key, value in held.items() if key != name}))
        with pytest.raises(TraceRefused):
            read_trace_file(bad)


@pytest.mark.integration
@pytest.mark.parametrize(
    "wrong",
    [
        {"lane": 1},
        {"index": True},
        {"digests": {"path": "text"}},
        {"aliases": {"path": 1}},
        {"references": {"path": [1]}},
        {"shown": {"path": [1, b"", "value", 0, b"", ()]}},
        {"shown": {"path": ["text", b"", "value", 0, b"", (("where", "text", "text"),)]}},
        {"shown": {1: ["text", b"", "value", 0, b"", ()]}},
        {"shown": {"path": ["text", b"", "value", 0, b"", nested(2000)]}},
    ],
)
def test_a_forged_state_is_refused(
    market: tuple[Path, Path, int], tmp_path: Path, wrong: dict[str, object]
) -> None:
    held = unseal(market[0])
    (flow, samples), second = held["executions"]
    states: Any = decode(samples)
    states["samples"][0].update(wrong)
    bad = tmp_path / "forged.trace"
    bad.write_bytes(seal({**held, "executions": [[flow, encode(states)], second]}))
    with pytest.raises(TraceRefused, match="is not whole"):
        read_trace_file(bad)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceRefused, match="cannot be read"):
        read_trace_file(tmp_path / "nothing.trace")


@pytest.mark.parametrize("events", [-1, 0, 1])
def test_a_trace_of_no_events_is_refused_before_anything_runs(tmp_path: Path, events: int) -> None:
    out = tmp_path / "a.trace"
    with pytest.raises(UsageError, match="shows no difference"):
        write_trace(tmp_path / "none.twice", 1, out, events_max=events)
    assert not out.exists()


@pytest.mark.integration
def test_a_file_holds_texts_of_the_users_alone(tmp_path: Path) -> None:
    program = write(tmp_path, "def main(run):\n    run.compare('n', 1)\n")
    twice.record(program, seed=1, out=tmp_path / "a.twice").close()
    write_trace(tmp_path / "a.twice", -1, tmp_path / "a.trace")
    found = read_trace_file(tmp_path / "a.trace")
    named = {place.file for each in found.executions for place in each.flow.positions}

    assert set(found.sources) == {"program.py"}
    assert named <= {"program.py", "(twice)"}
