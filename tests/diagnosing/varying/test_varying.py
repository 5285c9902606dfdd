"""Programs that depend on one factor each, and programs that depend on none."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import twice
from programs import cli, write
from twice.diagnosing.varying.factors import FACTORS, Here
from twice.errors import ProgramFailed, UsageError
from twice.recording.surroundings import for_recording

SENSITIVE = {
    "hash seed": """
        def main(run):
            for tick in run.ticks(3):
                run.compare("names", list({f"name {at}" for at in range(40)}))
        """,
    "threads": """
        import os
        def main(run):
            for tick in run.ticks(3):
                run.compare("parts", [10.0 / int(os.environ["OMP_NUM_THREADS"])])
        """,
    "blas kernels": """
        import numpy as np
        def main(run):
            made = np.random.Generator(np.random.PCG64(7)).normal(size=(64, 64))
            for tick in run.ticks(3):
                run.compare("solved", np.linalg.solve(made, made[:, 0]))
        """,
    "cpu features": """
        import numpy as np
        def main(run):
            made = np.random.Generator(np.random.PCG64(7)).normal(size=2000)
            for tick in run.ticks(3):
                run.compare("grown", np.exp(made))
        """,
    "time zone": """
        import time
        def main(run):
            for tick in run.ticks(3):
                run.compare("hour", time.localtime(86400.0 * tick).tm_hour)
        """,
    "locale": """
        import locale
        def main(run):
            for tick in run.ticks(3):
                run.compare("locale", locale.setlocale(locale.LC_ALL, ""))
        """,
    "user and home": """
        from pathlib import Path
        def main(run):
            for tick in run.ticks(3):
                run.compare("home", str(Path.home()))
        """,
    "working directory": """
        import os
        def main(run):
            for tick in run.ticks(3):
                run.compare("found", os.path.exists("program.py"))
        """,
    "environment": """
        def main(run):
            for tick in run.ticks(3):
                variables = open("/proc/self/environ").read().split("\\0")
                run.compare("long", sum(len(variable) > 3000 for variable in variables))
        """,
    "memory layout": """
        def main(run):
            for tick in run.ticks(3):
                made = [bytes(360) for _ in range(500)]
                gaps = [id(b) - id(a) for a, b in zip(made, made[1:])]
                run.compare("gap", max(set(gaps), key=gaps.count))
        """,
    "garbage collection": """
        import gc, weakref
        class Node:
            pass
        def main(run):
            for tick in run.ticks(3):
                gc.collect()
                kept = []
                for _ in range(100):
                    node = Node()
                    node.itself = node
                    kept.append(weakref.ref(node))
                del node
                run.compare("alive", sum(ref() is not None for ref in kept))
        """,
    "switch interval": """
        import sys
        def main(run):
            for tick in run.ticks(3):
                run.compare("interval", sys.getswitchinterval())
        """,
    "umask": """
        import os, tempfile
        def main(run):
            for tick in run.ticks(3):
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "new")
                    open(path, "w").close()
                    run.compare("mode", os.stat(path).st_mode & 0o777)
        """,
    "processors": """
        import os
        def main(run):
            for tick in run.ticks(3):
                run.compare("workers", len(os.sched_getaffinity(0)))
        """,
}

INSENSITIVE = {
    "a walk": """
        def main(run):
            walk = Walk(run.rng("walk"))
            run.track("walk", walk)
            for tick in run.ticks(5):
                walk.step(0.5)
        """,
    "sorted names": """
        import os
        def main(run):
            for tick in run.ticks(3):
                run.compare("names", sorted({f"name {at}" for at in range(40)}))
        """,
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("PYTHONMALLOC", "OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def skipped(folder: Path) -> dict[str, str]:
    base = for_recording({})
    chosen = {each.name: each.choose(Here(base, folder)).skipped for each in FACTORS}
    return {name: why for name, why in chosen.items() if why}


@pytest.mark.parametrize("factor", SENSITIVE)
def test_the_one_factor_is_named_and_no_other(factor: str, here: Path) -> None:
    if why := skipped(here).get(factor):
        pytest.skip(why)

    found = twice.vary(write(here, SENSITIVE[factor]), seed=1)

    assert [each.factor for each in found.factors if each.result != "same"] == [factor]
    (row,) = (each for each in found.factors if each.factor == factor)
    assert (row.result, found.result, found.exit_code) == ("differs", "FAIL", 1)
    assert row.divergence is not None
    assert row.divergence.compare_point is not None
    assert row.divergence.result in {"localised", "unlocalised"}, row.divergence.to_text()


@pytest.mark.parametrize("case", INSENSITIVE)
def test_a_program_that_depends_on_none_passes(case: str, here: Path) -> None:
    found = twice.vary(write(here, INSENSITIVE[case], walk=True), seed=1)

    assert (found.result, found.exit_code) == ("PASS", 0), found.to_text()
    assert {each.result for each in found.factors} <= {"same", "skipped"}


def test_every_factor_has_a_program_that_depends_on_it() -> None:
    assert list(SENSITIVE) == [each.name for each in FACTORS]


def test_the_json_is_as_the_contract_says(here: Path) -> None:
    write(here, SENSITIVE["hash seed"])
    chosen = ("--factor", "hash seed", "--factor", "umask")

    done = cli("vary", "program.py:main", "--seed", 1, *chosen, "--json", cwd=here)
    told = json.loads(done.stdout)

    assert (done.returncode, done.stderr) == (1, "")
    assert (told["format"], told["result"], set(told)) == (
        "twice.variation/1", "FAIL", {"format", "result", "factors"},
    )  # fmt: skip
    first, second = told["factors"]
    assert set(first) == {"factor", "value", "result", "reason", "divergence"}
    assert (first["factor"], first["value"]) == ("hash seed", "PYTHONHASHSEED=1")
    assert first["result"] == "differs"
    assert first["divergence"]["format"] == "twice.divergence/1"
    assert first["divergence"]["operation"]["file"].endswith("program.py")
    assert first["divergence"]["attribution"][0]["channel"]
    assert (second["factor"], second["result"], second["divergence"]) == ("umask", "same", None)


def test_a_record_is_varied_with_its_own_seed_and_class(here: Path) -> None:
    write(here, SENSITIVE["hash seed"])
    made = cli(
        "record", "program.py:main", "--seed", 1, "--class", "logical", "-o", "a.twice", cwd=here
    )
    assert made.returncode == 0, made.stderr

    found = twice.vary("a.twice", factors=["hash seed"])

    assert found.factors[0].result == "differs"
    with pytest.raises(UsageError, match="is a record"):
        twice.vary("a.twice", seed=2)


def test_a_run_that_breaks_elsewhere_has_failed(here: Path) -> None:
    (here / "data.txt").write_text("3")
    program = write(
        here,
        """
        def main(run):
            for tick in run.ticks(3):
                run.compare("data", open("data.txt").read())
        """,
    )
    found = twice.vary(program, seed=1, factors=["working directory", "umask"])

    assert [each.result for each in found.factors] == ["failed", "same"]
    assert "FileNotFoundError" in found.factors[0].reason
    assert found.exit_code == 1


def test_factors_that_differ_only_together_are_named_together(here: Path) -> None:
    program = write(
        here,
        """
        import time
        def main(run):
            for tick in run.ticks(2):
                far = time.localtime(0.0).tm_hour != 0
                variables = open("/proc/self/environ").read().split("\\0")
                long = any(len(variable) > 3000 for variable in variables)
                run.compare("both", far and long)
        """,
    )
    found = twice.vary(program, seed=1, factors=["time zone", "environment"])

    assert [(each.factor, each.result) for each in found.factors] == [
        ("time zone", "same"), ("environment", "same"), ("time zone + environment", "differs"),
    ]  # fmt: skip


def test_a_program_that_differs_from_itself_is_said_to_do_so(here: Path) -> None:
    program = write(
        here,
        """
        import os
        def main(run):
            for tick in run.ticks(2):
                run.compare("pid", open("/proc/self/stat").read())
        """,
    )
    found = twice.vary(program, seed=1, factors=["umask"])

    assert [(each.factor, each.result) for each in found.factors] == [
        ("nothing", "differs"), ("umask", "skipped"),
    ]  # fmt: skip
    assert found.exit_code == 1


def test_what_cannot_be_varied_is_refused(here: Path) -> None:
    with pytest.raises(UsageError, match="'moon'"):
        twice.vary(write(here, SENSITIVE["umask"]), seed=1, factors=["moon"])
    with pytest.raises(ProgramFailed, match="though nothing is varied"):
        twice.vary(write(here, "def main(run):\n    1 / 0\n"), seed=1, factors=["umask"])
    assert cli("vary", cwd=here).returncode == 2


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux binds to processors")
def test_nothing_that_can_be_varied_is_no_pass(here: Path) -> None:
    bound = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(bound)})
    try:
        with pytest.raises(UsageError, match="None of the chosen factors can be varied"):
            twice.vary(write(here, SENSITIVE["umask"]), seed=1, factors=["processors"])
    finally:
        os.sched_setaffinity(0, bound)


def test_the_list_names_every_factor(here: Path) -> None:
    listed = cli("vary", "--list", cwd=here).stdout.splitlines()

    assert [row[: len(each.name)] for row, each in zip(listed, FACTORS, strict=True)] == [
        each.name for each in FACTORS
    ]
