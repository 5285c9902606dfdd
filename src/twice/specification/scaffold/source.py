"""A source: one template with the values that go into it, and the file it generates.

Invariant: the facts of a generated file are those that its source read.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from twice.errors import UsageError
from twice.specification.location import FOLDER
from twice.specification.scaffold.lock import Layer, LockEntry, digest_content
from twice.specification.scaffold.reader import SheetReader
from twice.specification.scaffold.values import fill
from twice.specification.workspace import Workspace

PACKAGE: Final = "determinism"
_HEADING: Final = "\0"
_YOURS: Final = "yours from here on."
_OWNED: Final = "owned by it: change the sheet, or eject the file."


class Places(NamedTuple):
    """The package's folder, the name by which it is imported, and the folder on the import path."""

    package: str
    module: str
    root: str


def find_places(project: Path, package: str) -> Places:
    """Find out how a package in a folder is imported.

    Raises:
        UsageError: E-USE-001: a folder outside of the project, or one that Python cannot import.
    """
    path = PurePosixPath(package)
    parts = path.parts
    is_inside = not (path.is_absolute() or ".." in parts or "\\" in package)
    if not is_inside or not parts or not parts[-1].isidentifier():
        raise UsageError(
            f"--package {package} lies outside of the project, or Python cannot import it.",
            "Expected a folder relative to the project, of letters, digits and underscores.",
            f"For example: --package src/{PACKAGE}",
        )
    at = len(parts) - 1
    while at and (project / PurePosixPath(*parts[:at]) / "__init__.py").is_file():
        at -= 1
    return Places("/".join(parts), ".".join(parts[at:]), "/".join(parts[:at]))


def choose_package(project: Path, sources: Iterable[str]) -> str:
    """Choose the folder of the generated package: in the package that the first source is, or has alone, else beside."""
    folder = PurePosixPath(next(iter(sources), "."))
    if (project / folder).is_file():
        folder = folder.parent
    if not (project / folder / "__init__.py").is_file():
        inner = sorted(each.parent.name for each in (project / folder).glob("*/__init__.py"))
        inner = [each for each in inner if each not in {PACKAGE, "tests"} and each.isidentifier()]
        folder = folder / inner[0] if len(inner) == 1 else folder
    return (folder / PACKAGE).as_posix()


class GeneratedFile(NamedTuple):
    """A file as the sheets want it."""

    path: str
    entry: LockEntry
    text: str


class Source(NamedTuple):
    """What one file is generated from.

    Attributes:
        path: the file; ``{package}`` and ``{examples}`` are folders, the second as 12 names it.
        asks: facts that the file is made of and has no placeholder for.
        once: whether the file belongs to the user as soon as it is there.
    """

    layer: Layer
    path: str
    template: str
    asks: tuple[str, ...] = ()
    once: bool = False

    def generate(self, workspace: Workspace, places: Places) -> GeneratedFile | None:
        """Generate the file from what a specification says; None if the sheets have nothing for it."""
        reader = SheetReader(workspace)
        for fact in self.asks:
            reader.value(fact[:2], fact[3:])
        below = f' / "{places.root}"' if places.root else ""
        own = "" if workspace.base == FOLDER else f" --component {Path(workspace.base).name}"
        values = {"package": places.module, "below": below, "heading": _HEADING, "option": own}
        text = fill(self.template, values, reader)
        if text is None:
            return None
        examples = reader.text("12", "database") if "{examples}" in self.path else ""
        path = self.path.format(package=places.package, examples=examples)
        # The heading names the sheets, and they are known when the text is.
        facts = reader.facts()
        sheets = sorted({each[:2] for each in facts})
        told = f"sheet{'s' * (len(sheets) > 1)} {join_words(sheets)}"
        whose = _YOURS if self.once else _OWNED
        text = text.replace(_HEADING, f"Laid down by twice scaffold from {told}; {whose}", 1)
        entry = LockEntry(self.layer, self.once, facts, digest_content(text.encode()))
        return GeneratedFile(path, entry, text)


def join_words(words: Iterable[str]) -> str:
    """Join words as prose does: "a, b and c"."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


_T: Final = "tests/test_determinism"
SOURCES: Final = (
    Source(Layer.BASE, "{package}/__init__.py", "package.py"),
    Source(Layer.BASE, "{package}/specified.py", "specified.py"),
    Source(Layer.BASE, "tests/conftest.py", "conftest.py", ("00.sources",), once=True),
    Source(Layer.SEEDS, "{package}/seeds.py", "seeds.py", ("02.names",)),
    Source(Layer.SEEDS, f"{_T}_seeds.py", "test_seeds.py"),
    Source(Layer.EFFECTS, "{package}/effects.py", "effects.py"),
    Source(Layer.EFFECTS, f"{_T}_effects.py", "test_effects.py", ("10.inventory",)),
    Source(Layer.SNAPSHOT, "{package}/components.py", "components.py"),
    Source(Layer.SNAPSHOT, f"{_T}_snapshots.py", "test_snapshots.py"),
    Source(Layer.COMPARE, "{package}/compare.py", "compare.py"),
    Source(Layer.COMPARE, f"{_T}_compare.py", "test_compare.py", ("05.granularity",)),
    Source(Layer.REPLAY, "scripts/determinism.py", "replay.py"),
    Source(Layer.REPLAY, f"{_T}_replay.py", "test_replay.py"),
    Source(Layer.REPLAY, f"{_T}_vector.py", "test_vector.py"),
    Source(Layer.POLICIES, "{package}/policies.py", "policies.py"),
    Source(Layer.POLICIES, f"{_T}_policies.py", "test_policies.py", ("08.pins", "09.knobs")),
    Source(Layer.PROPERTIES, f"{_T}.py", "test_properties.py"),
    Source(Layer.PROPERTIES, "{examples}/README.md", "examples.md", once=True),
    Source(Layer.CI, ".github/workflows/determinism.yml", "workflow.yml"),
    Source(Layer.CI, ".pre-commit-config.yaml", "pre_commit.yaml", once=True),
    Source(Layer.CI, ".gitattributes", "gitattributes", ("01.vector",), once=True),
)
"""Everything that can be generated; no two with one path."""
