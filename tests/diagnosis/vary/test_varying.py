"""Programs that depend on one factor each, and programs that depend on none."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

import twice
from programs import cli, write
from tiers import sampled
from twice.diagnosis.vary.factors import FACTORS
from twice.diagnosis.vary.report import Variation
from twice.errors import ProgramFailed, UsageError

pytestmark = pytest.mark.fresh

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
                run.compare("bent", np.tanh(made))
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

SENSITIVE |= {
    "aten": """
        import torch
        def main(run):
            values = torch.linspace(-3, 3, 500)
            for tick in run.ticks(2):
                run.compare("softmax", torch.softmax(values, 0).numpy())
        """,
    "mkl": """
        import torch
        def main(run):
            made = (torch.arange(1600) / 800 - 1).reshape(40, 40)
            for tick in run.ticks(2):
                run.compare("product", (made @ made.T).numpy())
        """,
    "onednn": """
        import torch
        def main(run):
            image = torch.linspace(-1, 1, 4096).reshape(2, 8, 16, 16)
            kernel = torch.linspace(-2, 1, 1152).reshape(16, 8, 3, 3)
            for tick in run.ticks(2):
                run.compare("convolved", torch.nn.functional.conv2d(image, kernel).numpy())
        """,
    "xla": """
        import jax
        import numpy as np
        def main(run):
            for tick in run.ticks(2):
                run.compare("grown", np.asarray(jax.numpy.exp(np.arange(256, dtype="f4") / 7)))
        """,
    "denormals": """
        def main(run):
            for tick in run.ticks(3):
                run.compare("small", [1e-310 * (tick + 0.5)])
        """,
    "matmul precision": """
        import torch
        def main(run):
            for tick in run.ticks(2):
                run.compare("precision", torch.get_float32_matmul_precision())
        """,
    "libm": """
        import math
        def main(run):
            for tick in run.ticks(3):
                run.compare("sines", [math.sin(1e-3 + at / 100) for at in range(5000)])
        """,
    "clock offset": """
        import datetime
        def main(run):
            for tick in run.ticks(3):
                run.compare("year", datetime.date.today().year)
        """,
    "listing order": """
        import os
        from pathlib import Path
        def main(run):
            for tick in run.ticks(3):
                data = Path(__file__).parent / "data"
                run.compare("names", [path.name for path in data.iterdir()])
        """,
    "task order": """
        import asyncio
        async def visit(at, visited):
            await asyncio.sleep(0)
            visited.append(at)
        async def everyone():
            visited = []
            await asyncio.gather(*(visit(at, visited) for at in range(4)))
            return visited
        def main(run):
            for tick in run.ticks(3):
                run.compare("visited", asyncio.run(everyone()))
        """,
    "interpreter": """
        from importlib.metadata import version
        def main(run):
            for tick in run.ticks(3):
                run.compare("version", version("networkx"))
        """,
}

USED = {
    **dict.fromkeys(("aten", "onednn", "mkl", "matmul precision"), "torch"),
    "xla": "jax",
    "task order": "asyncio",
}
"""Factors that act on one library alone."""

MACHINE = (
    "blas kernels", "cpu features", "libm", "locale", "processors", "interpreter", "threads",
    "aten", "mkl", "onednn", "xla", "denormals",
)  # fmt: skip
"""Factors that a machine may lack: another locale, a second processor, vector extensions."""

SAMPLE = {"hash seed", "time zone"}
"""None of the factors whose programs differ only where the processor has other instructions to offer, or is idle."""

INSENSITIVE = {
    "tasks whose results are gathered": """
        import asyncio
        async def square(at):
            await asyncio.sleep(0)
            return at * at
        async def everyone():
            return await asyncio.gather(*(square(at) for at in range(4)))
        def main(run):
            for tick in run.ticks(3):
                run.compare("squares", asyncio.run(everyone()))
        """,
    "threads that are joined": """
        from concurrent.futures import ThreadPoolExecutor
        def main(run):
            for tick in run.ticks(3):
                with ThreadPoolExecutor(4) as pool:
                    run.compare("squares", list(pool.map(lambda at: at * at, range(50))))
        """,
    "files that are sorted": """
        import os, time
        from pathlib import Path
        def main(run):
            began = time.monotonic()
            for tick in run.ticks(3):
                found = sorted((Path(__file__).parent / "data").iterdir())
                run.compare("sizes", [(path.name, os.stat(path).st_size) for path in found])
                run.compare("ran", time.monotonic() >= began)
        """,
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
    (tmp_path / "data").mkdir()
    for name in ("anchor", "buoy", "chain", "davit", "eye"):
        (tmp_path / "data" / name).touch()
    for name in ("PYTHONMALLOC", "OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture(scope="module")
def other_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make an environment of the same Python in which one library has another version."""
    made = tmp_path_factory.mktemp("other")
    venv.create(made / "venv", symlinks=True)
    packages = next((made / "venv" / "lib").glob("python*/site-packages"))
    metadata = packages / "networkx-99.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: networkx\nVersion: 99.0\n")
    others = sysconfig.get_paths()[
        "purelib"
    ]  # with its own .pth files: twice may be installed by one
    (packages / "others.pth").write_text(f"import site; site.addsitedir({others!r})")
    return str(made / "venv" / "bin" / "python")


@pytest.mark.integration
@pytest.mark.parametrize("factor", sampled(SENSITIVE, SAMPLE))
def test_the_one_factor_is_named_and_no_other(factor: str, here: Path, other_python: str) -> None:
    program = write(here, SENSITIVE[factor])
    for library in ("torch", "jax"):
        if f"import {library}" in SENSITIVE[factor]:
            pytest.importorskip(library)

    found = twice.vary(
        program,
        seed=1,
        factors=list(dict.fromkeys([factor, "umask"])),
        python=other_python if factor == "interpreter" else None,
        skip_unable=True,
    )

    result = {each.factor: each.result for each in found.factors}
    if result[factor] == "unavailable" and factor in MACHINE:
        pytest.skip(found.to_text())
    blamed = [name for name in result if result[name] not in {"same", "unavailable"}]
    assert blamed == [factor], found.to_text()
    (row,) = (each for each in found.factors if each.factor == factor)
    assert (row.result, found.result, found.exit_code) == ("differs", "FAIL", 1)
    assert row.divergence is not None
    assert row.divergence.compare_point is not None
    assert row.divergence.result in {"localised", "candidates", "unlocalised"}, (
        row.divergence.to_text()
    )


@pytest.mark.integration
@pytest.mark.parametrize("case", sampled(INSENSITIVE, {"a walk"}))
def test_a_program_that_depends_on_none_passes(case: str, here: Path, other_python: str) -> None:
    found = twice.vary(
        write(here, INSENSITIVE[case], walk=True),
        seed=1,
        python=other_python if case == "a walk" else None,
    )

    require_honest(found, INSENSITIVE[case])
    assert (found.result, found.exit_code) == ("PASS", 0), found.to_text()
    assert {each.result for each in found.factors} == {"same", "unavailable"}


def require_honest(found: Variation, source: str) -> None:
    """Assert that unused factors are not called the same, and that usable ones were tried."""
    unavailable = [each.factor for each in found.factors if each.result == "unavailable"]
    unused = [name for name, library in USED.items() if f"import {library}" not in source]
    assert [name for name in unused if name not in unavailable] == [], found.to_text()
    of_scripts = "global generators"
    allowed = (*unused, *MACHINE, of_scripts)
    assert [name for name in unavailable if name not in allowed] == [], found.to_text()


def test_every_factor_has_a_program_that_depends_on_it() -> None:
    of_scripts = "global generators"  # test_varied_scripts.py
    assert sorted([*SENSITIVE, of_scripts]) == sorted(each.name for each in FACTORS)


@pytest.mark.heavy
def test_the_json_is_as_the_contract_says(here: Path) -> None:
    write(here, SENSITIVE["hash seed"])
    chosen = ("--factor", "hash seed", "--factor", "umask")

    done = cli("vary", "program.py:main", "--seed", 1, *chosen, "--json", cwd=here)
    told = json.loads(done.stdout)

    assert (done.returncode, done.stderr) == (1, "")
    assert (told["format"], told["result"], set(told)) == (
        "twice.variation/1", "FAIL", {"format", "result", "factors", "caveats", "measured"},
    )  # fmt: skip
    first, second = told["factors"]
    assert set(first) == {"factor", "value", "result", "reason", "divergence"}
    assert (first["factor"], first["value"]) == ("hash seed", "PYTHONHASHSEED=1")
    assert first["result"] == "differs"
    assert first["divergence"]["format"] == "twice.divergence/1"
    assert first["divergence"]["operation"]["file"].endswith("program.py")
    assert first["divergence"]["attribution"][0]["channel"]
    assert (second["factor"], second["result"], second["divergence"]) == ("umask", "same", None)


@pytest.mark.heavy
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


@pytest.mark.heavy
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


@pytest.mark.heavy
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


@pytest.mark.heavy
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
        ("nothing", "differs"), ("umask", "could-not-tell"),
    ]  # fmt: skip
    assert found.exit_code == 1


@pytest.mark.integration
def test_what_cannot_be_varied_is_refused(here: Path) -> None:
    with pytest.raises(UsageError, match="'moon'"):
        twice.vary(write(here, SENSITIVE["umask"]), seed=1, factors=["moon"])
    with pytest.raises(ProgramFailed, match="though nothing is varied"):
        twice.vary(write(here, "def main(run):\n    1 / 0\n"), seed=1, factors=["umask"])
    assert cli("vary", cwd=here).returncode == 2


@pytest.mark.integration
def test_an_interpreter_that_is_missing_or_the_same_is_refused(here: Path) -> None:
    program = write(here, SENSITIVE["umask"])

    with pytest.raises(UsageError, match="no interpreter nowhere/python"):
        twice.vary(program, seed=1, python="nowhere/python")
    with pytest.raises(UsageError, match="has the same versions as this one"):
        twice.vary(program, seed=1, factors=["interpreter", "umask"], python=sys.executable)


@pytest.mark.integration
def test_what_was_asked_for_and_acts_on_nothing_is_not_passed(here: Path) -> None:
    found = twice.vary(write(here, SENSITIVE["hash seed"]), seed=1, factors=["aten", "umask"])

    assert [(each.factor, each.result) for each in found.factors] == [
        ("aten", "unavailable"), ("umask", "same"),
    ]  # fmt: skip
    assert (found.result, found.exit_code) == ("UNKNOWN", 2)
    assert found.to_text().startswith("UNKNOWN")


@pytest.mark.integration
@pytest.mark.heavy
def test_a_difference_that_does_not_come_again_is_blamed_on_nothing(here: Path) -> None:
    ours, theirs = os.openpty()
    os.write(
        ours, b"one\ntwo\nthree\nfour\nfive\nsix\n"
    )  # a line for each run: no file, so no copy
    program = write(
        here,
        f"""
        import posix
        def main(run):
            line = posix.read(posix.open({os.ttyname(theirs)!r}, posix.O_RDONLY | posix.O_NOCTTY), 80)
            for tick in run.ticks(2):
                run.compare("third", line == b"three\\n")
        """,
    )

    found = twice.vary(program, seed=1, factors=["umask"])

    assert [(each.factor, each.result) for each in found.factors] == [("umask", "could-not-tell")]
    assert (found.result, found.exit_code) == ("UNKNOWN", 2)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux binds to processors")
def test_nothing_that_can_be_varied_is_no_pass(here: Path) -> None:
    bound = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(bound)})
    try:
        with pytest.raises(UsageError, match="cannot be varied here: processors"):
            twice.vary(write(here, SENSITIVE["umask"]), seed=1, factors=["processors"])
    finally:
        os.sched_setaffinity(0, bound)


@pytest.mark.integration
def test_the_list_names_every_factor(here: Path) -> None:
    listed = cli("vary", "--list", cwd=here).stdout.splitlines()

    assert [row[: len(each.name)] for row, each in zip(listed, FACTORS, strict=True)] == [
        each.name for each in FACTORS
    ]


@pytest.mark.integration
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="tiers are Linux's")
@pytest.mark.parametrize("without", sampled(["world", "world,refusal"], {"world"}))
@pytest.mark.heavy
def test_without_a_copy_of_the_files_what_python_writes_goes_to_a_private_folder(
    tmp_path: Path, without: str
) -> None:
    body = """
        import tempfile
        def main(run):
            open("precious", "a").write("other")
            with tempfile.NamedTemporaryFile("w") as file:
                file.write("other")
            for tick in run.ticks(3):
                run.compare("names", list({f"name {at}" for at in range(40)}))
                run.compare("read", open("precious").read())
        """
    write(tmp_path, body)
    (tmp_path / "precious").write_text("mine")

    varied = cli(
        *("vary", "program.py:main", "--seed", "1", "--factor", "hash seed"),
        cwd=tmp_path,
        env={"TWICE_WITHOUT": without},
    )

    assert varied.returncode == 1, varied.stderr
    assert "FAIL: program.py:main depends on hash seed" in varied.stdout
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.integration
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="tiers are Linux's")
def test_without_a_copy_of_the_files_a_program_whose_c_code_writes_is_refused(
    tmp_path: Path,
) -> None:
    body = """
        import ctypes
        def main(run):
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.creat(b"precious", 0o600) < 0:
                raise OSError(ctypes.get_errno(), "creat")
        """
    write(tmp_path, body)
    (tmp_path / "precious").write_text("mine")

    refused = cli(
        *("vary", "program.py:main", "--seed", "1", "--factor", "hash seed"),
        cwd=tmp_path,
        env={"TWICE_WITHOUT": "world"},
    )

    assert refused.returncode == 2
    assert f"E-FILE-002  The program changes {tmp_path / 'precious'}" in refused.stderr
    assert (tmp_path / "precious").read_text() == "mine"
