"""Suites of packages from the index, from their source archives: plain, recorded with ``-m pytest``, verified.

    python tests/realworld/package_suites.py FOLDER [PACKAGE ...]

It makes an environment in the folder, and prints one row for each package. It is run by hand, since it needs an index.

Invariant: nothing outside of the folder is written.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
SUITES = {
    "aiosmtpd": "-o asyncio_default_fixture_loop_scope=function -p pytest_mock -p pytest_asyncio.plugin aiosmtpd/tests",
    "aiosqlite": "aiosqlite/tests/smoke.py aiosqlite/tests/perf.py",
    "httpcore": "-p anyio -p pytest_trio.plugin -p pytest_httpbin.plugin tests",
    "httpx": "-p anyio tests",
    "requests": "-p pytest_httpbin.plugin -p pytest_mock tests",
    "starlette": "-p anyio --ignore=tests/middleware/test_opentelemetry.py tests",
    "tornado": " ".join(
        f"tornado/test/{part}_test.py"
        for part in ("concurrent", "gen", "ioloop", "iostream", "locks", "netutil", "process",
                     "queues", "tcpclient", "tcpserver")
    ),
    "uvicorn": "-p anyio -p pytest_mock --ignore=tests/benchmarks tests",
    "waitress": "tests",
    "werkzeug": "-p timeout --timeout=20 tests",
    "h11": "h11/tests",
    "janus": "-p pytest_asyncio.plugin --ignore=tests/test_benchmarks.py tests",
    "wsproto": "tests",
}  # fmt: skip
"""Arguments of pytest for each package; no plugin is loaded that they do not name."""
NEEDS = (
    "pytest", "pytest-asyncio", "pytest-trio", "pytest-mock", "pytest-httpbin", "pytest-timeout", "trio", "trustme",
    "h2", "socksio", "pysocks", "chardet", "brotli", "itsdangerous", "python-multipart", "httpx2", "websockets",
    "httptools", "a2wsgi", "watchfiles", "blockbuster", "cryptography", "ephemeral-port-reserve", "hypothesis",
)  # fmt: skip
_TOTALS = re.compile(r"^[= ]*(\d.*) in [\d.]+s", re.MULTILINE)
_OUTCOMES = re.compile(r"^(\S+::.*?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b", re.MULTILINE)


def run(folder: Path, *command: str | Path) -> tuple[str, float]:
    """Run a command in a folder; return what it printed, and its seconds."""
    began = time.perf_counter()
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr, time.perf_counter() - began


def unpack(python: Path, name: str, folder: Path) -> Path:
    """Install a package as its source archive has it; return the unpacked archive."""
    kept = folder / "archives" / name
    run(folder, python, "-m", "pip", "download", "--no-deps", "--no-binary", name, "-d", kept, name)
    archive = next(kept.glob("*.tar.gz"))
    with tarfile.open(archive) as opened:
        opened.extractall(folder / "sources", filter="data")
    source = folder / "sources" / archive.name.removesuffix(".tar.gz")
    run(folder, python, "-m", "pip", "install", source)
    return source


def describe_suite(python: Path, name: str, folder: Path) -> str:
    """Run a suite plain, record and verify it; return its row."""
    source, out = unpack(python, name, folder), folder / f"{name}.twice"
    suite = ["-v", "--color=no", "-p", "no:cacheprovider", f"--basetemp={folder}/{name}.files"]
    suite += ["-o", "addopts=", *SUITES[name].split()]
    plain, alone_s = run(source, python, "-m", "pytest", *suite)
    twice = (python, "-m", "twice")
    kept = ("record", "-m", "pytest", "--seed", "1", "--force", "-o", out)
    recorded, recorded_s = run(source, *twice, *kept, "--", *suite)
    first, second = dict(_OUTCOMES.findall(plain)), dict(_OUTCOMES.findall(recorded))
    differing = [test for test in first if first[test] != second.get(test)]
    verdicts = [
        run(where, *twice, "verify", "--no-statement", out)[0].partition(":")[0]
        for where in (source, folder)
    ]
    totals = _TOTALS.findall(plain)[-1]
    size = f"{out.stat().st_size / 1e3:,.0f} kB" if out.exists() else "no record"
    ratio = f"{recorded_s / alone_s:.1f}"
    cells = (
        source.name,
        totals,
        len(differing),
        f"{alone_s:.1f} s",
        ratio,
        size,
        ", ".join(verdicts),
    )
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Print the rows."""
    folder, *names = sys.argv[1:]
    home = Path(folder).absolute()
    python = home / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(home / "venv", with_pip=True)
    run(home, python, "-m", "pip", "install", ROOT, *NEEDS)
    for name in names or SUITES:
        print(describe_suite(python, name, home), flush=True)


if __name__ == "__main__":
    main()
