"""The package imports downhill only.

Reads every module's imports from its syntax tree: those inside functions, under TYPE_CHECKING and
by ``importlib.import_module`` of a written name count as well, because a deferred import is still a
dependency that a reader must follow.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "twice"
ROOT = Path(__file__).parents[2] / "src" / PACKAGE

# Each room may import itself and the rooms named here. Lowest first: reading it is the tour.
BELOW: dict[str, tuple[str, ...]] = {
    "errors": (),
    "writing": ("errors",),
    "foundation": ("errors",),
    "numeric": ("errors", "foundation"),
    "worker": ("errors", "foundation"),
    "simulation": ("errors", "foundation"),
    "recorder": ("errors", "writing", "foundation", "worker", "simulation"),
    "replayer": ("errors", "writing", "foundation", "worker", "simulation", "recorder"),
    "schedules": ("errors", "writing", "foundation", "worker", "simulation", "recorder", "replayer"),
    "diagnosis": ("errors", "writing", "foundation", "worker", "simulation", "recorder", "replayer", "schedules"),
    "checker": ("errors", "writing", "foundation"),
    "specification": ("errors", "writing", "foundation", "worker", "simulation", "recorder", "replayer", "diagnosis"),
    "tools": ("errors", "writing", "foundation", "worker", "simulation", "recorder", "replayer", "diagnosis"),
    "assets": ("errors", "writing", "foundation", "worker", "simulation", "recorder", "replayer", "diagnosis"),
    "testing": (
        "errors", "writing", "foundation", "worker", "simulation", "recorder", "replayer", "schedules", "diagnosis",
    ),
    "integrations": ("errors", "writing", "foundation", "worker", "simulation", "recorder", "replayer", "diagnosis"),
    "report": ("errors", "writing", "foundation", "worker", "simulation", "recorder", "replayer", "diagnosis", "checker"),
    "view": ("errors", "writing", "foundation", "worker", "simulation", "recorder", "replayer", "diagnosis", "report"),
    "runs": ("errors", "writing", "foundation", "worker", "simulation", "recorder", "replayer", "diagnosis"),
    "agent": ("errors", "writing", "foundation", "worker", "simulation", "recorder", "checker", "specification", "report"),
    "cli": (
        "errors", "writing", "foundation", "worker", "simulation", "recorder", "replayer", "diagnosis", "checker", "specification",
        "tools", "assets", "testing", "schedules", "report", "runs", "view", "agent",
    ),
}  # fmt: skip

FRONT_DOOR = ("__init__", "__main__")


def own_imports(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Each import of this package made anywhere in a file: its line and absolute dotted name."""
    inside = path.relative_to(root).with_suffix("").parts
    folder = [PACKAGE, *inside[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        found: list[str] = []
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            anchor = folder[: len(folder) - node.level + 1] if node.level else []
            base = ".".join([*anchor, *([node.module] if node.module else [])])
            # `from twice import recorder` names the room in the alias, not in the base.
            found = [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and _is_import_call(node.func) and node.args:
            name = node.args[0]
            found = [name.value] if isinstance(name, ast.Constant) and name.value else []
        yield from ((node.lineno, name) for name in found if str(name).partition(".")[0] == PACKAGE)


def _is_import_call(function: ast.expr) -> bool:
    called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return called in ("import_module", "__import__")


def violations(root: Path) -> list[str]:
    """Every import that does not run downhill, with what to do instead."""
    found = []
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        room = place.parts[0].removesuffix(".py")
        if len(place.parts) == 1 and room in FRONT_DOOR:
            continue  # The front door may see every room; no room may look back through it.
        for line, target in own_imports(path, root):
            name = [*target.split("."), ""][1]
            if name == room or name in BELOW.get(room, ()):
                continue
            if name not in BELOW:
                advice = "no room imports the front door: import the room that owns the name"
            elif name == "integrations":
                advice = "nobody imports integrations: pass the object in"
            else:
                allowed = ", ".join(BELOW.get(room, ())) or "nothing"
                advice = f"{room} may import {allowed}: move the shared name down, or pass it in"
            found.append(f"{place.as_posix()}:{line}: {room} imports {target}; {advice}")
    return found


def unmapped(root: Path) -> list[str]:
    """Top-level folders and modules that are not on the map."""
    names = {
        path.name.removesuffix(".py")
        for path in root.iterdir()
        if path.suffix == ".py" or (path.is_dir() and any(path.rglob("*.py")))
    }
    return sorted(names - set(BELOW) - set(FRONT_DOOR))


def test_imports_run_downhill() -> None:
    assert violations(ROOT) == []


def test_every_folder_is_on_the_map() -> None:
    assert unmapped(ROOT) == []


def test_the_map_itself_runs_downhill() -> None:
    order = list(BELOW)
    uphill = [
        (room, lower)
        for room, allowed in BELOW.items()
        for lower in allowed
        if order.index(lower) >= order.index(room)
    ]

    assert uphill == []
    assert not [room for room, allowed in BELOW.items() if "integrations" in allowed]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a clean package with one module in each room."""
    root = tmp_path / PACKAGE
    for room, allowed in BELOW.items():
        folder = root if room == "errors" else root / room
        folder.mkdir(parents=True, exist_ok=True)
        lines = ["import json", *(f"from twice.{lower} import thing" for lower in allowed[1:])]
        name = "errors.py" if room == "errors" else "module.py"
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (root / "__init__.py").write_text("from twice.cli import thing\n", encoding="utf-8")
    return root


def test_a_clean_tree_has_no_violations(tree: Path) -> None:
    assert (violations(tree), unmapped(tree)) == ([], [])


@pytest.mark.parametrize(
    ("place", "code", "words"),
    [
        ("errors.py", "from twice.foundation import x", "errors imports twice.foundation"),
        ("foundation/bad.py", "import twice.recorder.run", "foundation imports twice.recorder"),
        ("recorder/bad.py", "def f():\n    from twice.replayer import x", "bad.py:2: recorder"),
        (
            "recorder/bad.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from twice.diagnosis import x",
            "bad.py:3: recorder imports twice.diagnosis",
        ),
        ("recorder/sub/bad.py", "from ...replayer import x", "recorder imports twice.replayer"),
        ("replayer/bad.py", "from .. import cli", "replayer imports twice.cli"),
        ("checker/bad.py", "from twice import recorder", "checker imports twice.recorder"),
        ("tools/bad.py", "from twice.testing import x", "tools imports twice.testing"),
        ("cli/bad.py", "from twice.integrations import torch", "nobody imports integrations"),
        ("integrations/bad.py", "from twice.cli import x", "integrations imports twice.cli"),
        ("diagnosis/bad.py", "import twice", "no room imports the front door"),
        ("diagnosis/bad.py", "from twice import Run", "no room imports the front door"),
        ("diagnosis/bad.py", "from .. import Run", "no room imports the front door"),
        (
            "foundation/bad.py",
            "from importlib import import_module\nimport_module('twice.recorder')",
            "bad.py:2: foundation imports twice.recorder",
        ),
    ],
)
def test_a_planted_violation_is_reported(tree: Path, place: str, code: str, words: str) -> None:
    (tree / place).parent.mkdir(exist_ok=True)
    (tree / place).write_text(code + "\n", encoding="utf-8")

    (found,) = violations(tree)

    assert words in found


def test_a_planted_folder_is_reported(tree: Path) -> None:
    (tree / "utils").mkdir()
    (tree / "utils" / "odds.py").write_text("", encoding="utf-8")

    assert unmapped(tree) == ["utils"]
