"""A source: one template with the values that go into it, and the file it generates.

Invariant: the facts of a generated file are those that its source read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePosixPath
from string import Template
from typing import Final

from twice.errors import UsageError
from twice.specifying.scaffold.lock import Layer, LockEntry, digest_content
from twice.specifying.scaffold.reader import SheetReader
from twice.specifying.workspace import Workspace

PACKAGE: Final = "determinism"
TESTS: Final = "tests"
_WIDTH: Final = 79  # the narrowest usual setting of a formatter
_INDENT: Final = "    "


@dataclass(frozen=True, slots=True)
class Places:
    """Where generated files go.

    Args:
        package: the folder of the generated package, relative to the project, with slashes.
        module: the name by which it is imported, ``swarm.determinism``.
        root: the folder on the import path, relative to the project; "" for the project itself.
        commands: the folder of command files; "" if none were asked for.
    """

    package: str
    module: str
    root: str
    commands: str


def find_places(project: Path, package: str, commands: str) -> Places:
    """Find out how a package in a folder is imported.

    Raises:
        UsageError: E-USE-001: a folder outside of the project, or one that Python cannot import.
    """
    for option, said in (("--package", package), ("--agent-commands", commands)):
        path = PurePosixPath(said)
        if path.is_absolute() or ".." in path.parts or "\\" in said:
            raise UsageError(
                f"{option} {said} lies outside of the project.",
                "Expected a folder relative to the project.",
                f"For example: {option} {PACKAGE}",
            )
    parts = PurePosixPath(package).parts
    if not parts or not parts[-1].isidentifier():
        raise UsageError(
            f"{package!r} is no folder that Python can import.",
            "Expected a name of letters, digits and underscores, relative to the project.",
            "For example: --package src/swarm/determinism",
        )
    at = len(parts) - 1
    while at and (project / PurePosixPath(*parts[:at]) / "__init__.py").is_file():
        at -= 1
    commands = PurePosixPath(commands).as_posix() if commands else ""
    return Places("/".join(parts), ".".join(parts[at:]), "/".join(parts[:at]), commands)


def choose_package(project: Path, sources: Iterable[str]) -> str:
    """Choose the folder of the generated package: in the package that the first source is, or has alone, else beside."""
    folder = PurePosixPath(next(iter(sources), "."))
    if (project / folder).is_file():
        folder = folder.parent
    if not (project / folder / "__init__.py").is_file():
        inner = sorted(each.parent.name for each in (project / folder).glob("*/__init__.py"))
        inner = [each for each in inner if each not in {PACKAGE, TESTS} and each.isidentifier()]
        if len(inner) == 1:
            folder /= inner[0]
    return (folder / PACKAGE).as_posix()


@dataclass(frozen=True, slots=True)
class GeneratedFile:
    """A file as the sheets want it: ``body`` is its text without the line that says where it came from."""

    path: str
    entry: LockEntry
    text: str
    body: str


@dataclass(frozen=True, slots=True)
class Source:
    """What one file is generated from.

    Args:
        layer: what it belongs to.
        path: the file; ``{package}``, ``{commands}`` and ``{examples}`` are folders, the last as 12 names it.
        template: the template's file without its suffix.
        read: reads the values that go into it; None from it leaves the file out.
        once: whether the file belongs to the user as soon as it is there.
    """

    layer: Layer
    path: str
    template: str
    read: Callable[[SheetReader, Places], Mapping[str, str] | None]
    once: bool = False

    def generate(self, workspace: Workspace, places: Places) -> GeneratedFile | None:
        """Generate the file from what a specification says."""
        reader = SheetReader(workspace)
        values = self.read(reader, places)
        if values is None:
            return None
        examples = reader.text("12", "database") if "{examples}" in self.path else ""
        path = self.path.format(package=places.package, commands=places.commands, examples=examples)
        facts = reader.facts()
        sheets = sorted({each.partition(".")[0] for each in facts})
        told = f"sheet{'s' * (len(sheets) > 1)} {join_words(sheets)}"
        whose = (
            "yours from here on"
            if self.once
            else "owned by it: change the sheet, or eject the file"
        )
        heading = f"Laid down by twice scaffold from {told}; {whose}."
        run = fill("run_of_tests.py", {}).rstrip("\n")
        text = fill(
            self.template, {"package": places.module, "run": run, "heading": heading, **values}
        )
        entry = LockEntry(self.layer, self.once, facts, digest_content(text.encode()))
        body = "".join(each for each in text.splitlines(keepends=True) if heading not in each)
        return GeneratedFile(path, entry, text, body)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template's text with values in it, ended by one newline."""
    source = files(__package__).joinpath("templates", f"{template}.tmpl")
    text = Template(source.read_text(encoding="utf-8")).substitute(values)
    return text.rstrip("\n") + "\n"


def to_literal(value: object, *, before: int = 0, depth: int = 0) -> str:
    """Write a value as Python does: flat if it fits, else one item a line with a comma after the last.

    Formatters leave such lines alone; otherwise a user's formatter would make every file an edited one.

    Args:
        value: a text, number, truth, None, or a tuple, list or map of them.
        before: columns before it in its first line.
        depth: steps of four by which the line is indented.
    """
    flat = _to_flat(value)
    fits = before + len(flat) < _WIDTH
    if fits or not value or not isinstance(value, Mapping | tuple | list):
        return flat
    inner = _INDENT * (depth + 1)
    heads = [
        f"{inner}{_to_flat(each)}: " if isinstance(value, Mapping) else inner for each in value
    ]
    items = list(value.values()) if isinstance(value, Mapping) else value
    lines = [
        f"{head}{to_literal(each, before=len(head) + 1, depth=depth + 1)},"
        for head, each in zip(heads, items, strict=True)
    ]
    return "\n".join([flat[0], *lines, _INDENT * depth + flat[-1]])


def _to_flat(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_to_flat(k)}: {_to_flat(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_to_flat, value)) + "]"
    if isinstance(value, tuple):
        comma = "," * (len(value) == 1)
        return "(" + ", ".join(map(_to_flat, value)) + comma + ")"
    text = repr(value)
    # Double quotes if that takes no more escapes, as formatters write.
    plain = isinstance(value, str) and text[0] == "'" and '"' not in value
    return f'"{text[1:-1]}"' if plain else text


def assign(name: str, value: object, kind: str = "Final") -> str:
    """Write an assignment to a constant."""
    head = f"{name}: {kind} = "
    return head + to_literal(value, before=len(head))


def to_quotable(text: str) -> str:
    """Return a text that can stand within double quotes, in Python and in YAML."""
    return " ".join(text.split()).replace("\\", "\\\\").replace('"', "'")


def join_words(words: Iterable[str]) -> str:
    """Join words as prose does: "a, b and c"."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
