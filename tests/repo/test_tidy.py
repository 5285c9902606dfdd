"""House rules that a machine can check, each with what to use instead.

Bans: modules through which the outside world or a second hash could come in unseen, allowed only in
the files that own them. Ratchets: sizes and debts that are written down once and only ever shrink.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
ROOT = REPOSITORY / "src" / "twice"
RATCHET = Path(__file__).with_name("ratchet.json")

FILE_LINES_GOAL = 400
FUNCTION_LINES_GOAL = 70  # Without its docstring: documentation is never a reason to split.

# Module -> (files or folders that own it, what everyone else uses).
OWNERS: dict[str, tuple[tuple[str, ...], str]] = {
    "hashlib": (("foundation/digests.py",), "twice.foundation.digests"),
    "blake3": (("foundation/digests.py",), "twice.foundation.digests"),
    "xxhash": (("foundation/digests.py", "integrations/torch_trace.py", "integrations/jax_trace.py"), "twice.foundation.digests"),
    "hmac": (("foundation/seeds.py",), "twice.foundation.seeds"),
    "pickle": ((), "twice.foundation.encoding"),
    "marshal": (
        (
            "diagnosis/tracing/flow_collector.py", "recorder/imports.py", "integrations/torch_trace.py",
        ),
        "twice.foundation.encoding",
    ),
    "shelve": ((), "twice.foundation.encoding"),
    "dill": ((), "twice.foundation.encoding"),
    "cloudpickle": ((), "twice.foundation.encoding"),
    "time": (
        (
            "recorder/effects/", "recorder/interception.py", "recorder/session.py",
            "recorder/interrupts.py", "recorder/audit/native_sockets.py",
            "recorder/record/", "worker/process.py", "recorder/kernel/", "testing/planting.py",
            "cli/", "replayer/verdict.py", "replayer/replay_run.py",
            "assets/render/runner.py", "diagnosis/tracing/sample_collector.py",
            "simulation/identity.py", "worker/executor.py",
        ),
        "run.effects.clock",
    ),
    "random": (
        (
            "recorder/streams/", "recorder/effects/", "recorder/interception.py",
            "recorder/run.py", "diagnosis/object_digest/librarystate.py",
            "testing/property_search.py", "simulation/", "foundation/interquartile_mean.py",
            "integrations/checkpoints/generator_parts.py",
        ),
        "a stream: run.rng(name)",
    ),
    "secrets": (
        ("recorder/effects/", "recorder/interception.py", "cli/commands/mcp.py", "view/server.py"),
        "run.effects.entropy",
    ),
    "uuid": (
        ("recorder/effects/", "recorder/interception.py", "foundation/encoding/"),
        "run.effects.entropy",
    ),
    "socket": (
        (
            "recorder/effects/", "recorder/interception.py", "worker/process.py",
            "worker/channel.py", "recorder/child.py", "recorder/kernel/",
            "simulation/addresses.py", "simulation/network_loop.py", "tools/mcp/transports.py",
            "runs/ray_executor.py",
        ),
        "worker.channel for child processes, run.effects.net for programs",
    ),
    "subprocess": (
        (
            "recorder/effects/", "recorder/interception.py", "worker/process.py", "worker/apart.py",
            "recorder/identity.py", "tools/scenes/", "specification/gate/evidence/suite.py",
            "assets/render/runner.py", "agent/execution.py", "view/executions.py",
        ),
        "worker.process for child processes, run.effects.process for programs",
    ),
}  # fmt: skip

# At most one adjective, then a noun in the plural; "lists" is the verb of "--limit 9 lists them".
PLURAL = re.compile(r" (?:[a-z-]+ )?(?!as\b|is\b|lists\b)[a-z-]*[a-rt-z]s\b")

# Written here in halves, so that this file does not contain what it looks for.
MACHINE_PATHS = re.compile("|".join(f"/{folder}/" for folder in ("work", "root", "opt", "farm")))
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")


def modules(root: Path, pattern: str = "*.py") -> Iterator[tuple[str, ast.Module]]:
    """Each module of a tree with its place inside it."""
    for path in sorted(root.rglob(pattern)):
        yield path.relative_to(root).as_posix(), _parse(path.read_text(encoding="utf-8"))


_parse = cache(ast.parse)


def banned_imports(root: Path) -> list[tuple[str, str, str]]:
    """Return imports of owned modules outside their owners: place, module, advice."""
    found = []
    for place, tree in modules(root):
        for node in ast.walk(tree):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for name in (name.partition(".")[0] for name in names):
                owners, instead = OWNERS.get(name, (("",), ""))
                if not place.startswith(owners):
                    advice = f"{place}:{node.lineno}: {name} is owned by {owners}; use {instead}"
                    found.append((place, name, advice))
    return found


def function_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    assert node.end_lineno is not None, "the parser gives every function an end"
    doc = ast.get_docstring(node, clean=False)
    return node.end_lineno - node.lineno + 1 - (len(doc.splitlines()) if doc else 0)


def over_goal(root: Path) -> dict[str, int]:
    """Files and functions longer than the goal, with their lines."""
    measured: dict[str, int] = {}
    for place, tree in modules(root):
        lines = len((root / place).read_text(encoding="utf-8").splitlines())
        if lines > FILE_LINES_GOAL:
            measured[place] = lines
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = function_lines(node)
                if length > FUNCTION_LINES_GOAL:
                    measured[f"{place}::{node.name}"] = length
    return measured


def outgrown(measured: dict[str, int], allowed: dict[str, int]) -> dict[str, int]:
    """Return the entries that are longer than the goal and than their entry in the ratchet."""
    return {key: lines for key, lines in measured.items() if lines > allowed.get(key, 0)}


def silent_modules(root: Path) -> list[str]:
    """Modules without a docstring."""
    return [place for place, tree in modules(root) if not ast.get_docstring(tree)]


def bare_plurals(root: Path) -> list[str]:
    """F-strings that print a length before a plural noun: `1 files` is the text for one."""
    found = []
    for place, tree in modules(root):
        texts = (node.values for node in ast.walk(tree) if isinstance(node, ast.JoinedStr))
        found += [
            f"{place}:{number.lineno}: use pluralize(), not {ast.unparse(number.value)}{noun.value!r}"
            for parts in texts
            for number, noun in pairwise(parts)
            if isinstance(number, ast.FormattedValue)
            and isinstance(noun, ast.Constant)
            and ast.unparse(number.value).startswith("len(")
            and PLURAL.match(str(noun.value))
        ]
    return found


def empty_tests(root: Path) -> list[str]:
    """Test functions in which nothing can fail: no assertion, no expected error."""
    found = []
    for place, tree in modules(root, "test_*.py"):
        functions = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        judging = {node.name for node in functions if _judges(node, set())}
        found += [
            f"{place}:{node.lineno}: {node.name} asserts nothing"
            for node in functions
            if node.name.startswith("test_") and not _judges(node, judging)
        ]
    return found


def _judges(node: ast.AST, helpers: set[str]) -> bool:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assert):
            return True
        if isinstance(inner, ast.Call):
            called = inner.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in ("raises", "warns", "fail") or name.startswith("assert") or name in helpers:
                return True
    return False


def tracked_texts() -> Iterator[tuple[str, str]]:
    """Every text file that git tracks, by its path; the working tree's version."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=False
    )
    names = listed.stdout.decode().split("\0") if listed.returncode == 0 else []
    for name in sorted(filter(None, names)):
        path = REPOSITORY / name
        if path.is_file():
            data = path.read_bytes()
            if b"\0" not in data:
                yield name, data.decode("utf-8", errors="replace")


def lines_with(pattern: re.Pattern[str], texts: Iterator[tuple[str, str]]) -> list[str]:
    """Places of a pattern as ``file:line: text``."""
    return [
        f"{name}:{number}: {line.strip()[:120]}"
        for name, text in texts
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]


def ratchet() -> dict[str, dict[str, int]]:
    return json.loads(RATCHET.read_text(encoding="utf-8"))


def test_what_comes_from_outside_comes_through_its_owner() -> None:
    debts = ratchet()["imports"]
    found = [row for row in banned_imports(ROOT) if f"{row[0]} {row[1]}" not in debts]

    assert [advice for _, _, advice in found] == []


def test_no_two_files_of_tests_have_one_name() -> None:
    """They are imported by that name, so the second one that a run meets is an error."""
    names = Counter(path.name for path in (REPOSITORY / "tests").rglob("test_*.py"))

    assert [name for name, count in names.items() if count > 1] == []


def test_nothing_outgrows_its_ratchet() -> None:
    assert outgrown(over_goal(ROOT), ratchet()["lines"]) == {}


def test_the_ratchet_names_only_what_is_still_so() -> None:
    written = ratchet()
    still = {f"{place} {name}" for place, name, _ in banned_imports(ROOT)}

    assert sorted(set(written["imports"]) - still) == []
    assert sorted(set(written["lines"]) - set(over_goal(ROOT))) == []


def test_every_module_says_what_it_is_for() -> None:
    assert silent_modules(ROOT) + silent_modules(REPOSITORY / "benchmarks") == []


def test_a_number_agrees_with_its_noun() -> None:
    assert bare_plurals(ROOT) == []


def test_every_test_can_fail() -> None:
    assert empty_tests(REPOSITORY / "tests") == []


def test_nothing_is_left_unfinished() -> None:
    assert lines_with(UNFINISHED, tracked_texts()) == []


def test_no_file_names_a_place_on_one_machine() -> None:
    assert lines_with(MACHINE_PATHS, tracked_texts()) == []


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("recorder/snapshots.py", "import hashlib"),
        ("foundation/merkle.py", "def f():\n    from blake3 import blake3"),
        ("foundation/encoding/x.py", "import pickle"),
        ("replayer/timeline.py", "from time import sleep"),
        ("diagnosis/x.py", "import os, random"),
        ("cli/commands/run.py", "import subprocess as sp"),
        ("tools/x.py", "import socket"),
    ],
)
def test_a_planted_import_is_reported(tmp_path: Path, place: str, code: str) -> None:
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).write_text(code + "\n", encoding="utf-8")

    ((found, name, advice),) = banned_imports(tmp_path)

    assert (found, name in code, OWNERS[name][1] in advice) == (place, True, True)


def test_an_owner_may_import_what_it_owns(tmp_path: Path) -> None:
    (tmp_path / "foundation").mkdir()
    (tmp_path / "foundation" / "digests.py").write_text("import hashlib, blake3\n")

    assert banned_imports(tmp_path) == []


def test_planted_length_and_silence_are_reported(tmp_path: Path) -> None:
    body = "\n".join("    pass" for _ in range(FUNCTION_LINES_GOAL))
    (tmp_path / "long.py").write_text(f"def f():\n{body}\n" + "x = 1\n" * FILE_LINES_GOAL)

    measured = over_goal(tmp_path)

    assert measured == {"long.py": 471, "long.py::f": 71}
    assert outgrown(measured, {"long.py": 471, "long.py::f": 70}) == {"long.py::f": 71}
    assert silent_modules(tmp_path) == ["long.py"]


def test_a_docstring_never_makes_a_function_long(tmp_path: Path) -> None:
    doc = "\n".join("    line" for _ in range(FUNCTION_LINES_GOAL))
    (tmp_path / "told.py").write_text(f'"""Sign."""\ndef f():\n    """\n{doc}\n    """\n')

    assert over_goal(tmp_path) == {}


def test_a_planted_plural_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text('f"{len(a)} left files"\nf"{len(a)} lists them: {b} files"\n')

    assert bare_plurals(tmp_path) == ["x.py:1: use pluralize(), not len(a)' left files'"]


def test_a_planted_test_that_cannot_fail_is_reported(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(
        "def check():\n    assert 1\n"
        "def test_empty():\n    print(1)\n"
        "def test_helped():\n    check()\n"
        "def test_raising():\n    with pytest.raises(ValueError):\n        f()\n"
    )

    assert empty_tests(tmp_path) == ["test_x.py:3: test_empty asserts nothing"]


def test_planted_words_and_paths_are_found() -> None:
    texts = [
        ("a.md", "see /" + "root/x"),
        ("b.py", "# TO" + "DO later"),
        ("c.md", "/workshop/ todo"),
    ]

    assert lines_with(MACHINE_PATHS, iter(texts)) == ["a.md:1: see /" + "root/x"]
    assert lines_with(UNFINISHED, iter(texts)) == ["b.py:1: # TO" + "DO later"]
