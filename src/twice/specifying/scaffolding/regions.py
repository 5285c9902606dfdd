"""Regions: pieces of files that are laid down, and who may write in them.

A region is a whole file, or lines between two markers in somebody's file. Markers are comments of the
file's kind, so that whatever reads the file passes over them.

Invariant: taking a region out of a file and putting it back gives the file's bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from twice.foundation.digests import digest_bytes
from twice.specifying.scaffolding.literals import prose


class Mode(StrEnum):
    """Who may write in a region."""

    OWNED = "owned"
    """A whole file that is laid down anew; what a person changed in it is reported."""
    SHARED = "shared"
    """Lines between markers; what a person changed in them is merged."""
    ONCE = "once"
    """A file that is laid down where none is, and is its reader's from then on."""


class Layer(StrEnum):
    """What can be laid down, each from sheets of its own."""

    BASE = "base"
    SEEDS = "seeds"
    EFFECTS = "effects"
    SNAPSHOT = "snapshot"
    COMPARE = "compare"
    REPLAY = "replay"
    POLICIES = "policies"
    PROPERTIES = "properties"
    CI = "ci"
    COMMANDS = "commands"


@dataclass(frozen=True, slots=True)
class Region:
    """One region as it is laid down.

    Args:
        path: the file, relative to the project, with slashes.
        name: what it is called within the file; the markers carry it.
        layer: what it belongs to.
        mode: who may write in it.
        template: the template and its version, ``seeds/1``.
        facts: what of the specification it was made from, ``02.names`` to a digest; what is not said to "".
        text: its text; without markers for a shared one.
        under: for a shared one, the line of an existing file below which it belongs, such as ``repos:``; "" for
            the end of the file.
        start: for a shared one, what its file begins with where there is none yet.
    """

    path: str
    name: str
    layer: Layer
    mode: Mode
    template: str
    facts: Mapping[str, str]
    text: str
    under: str = ""
    start: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others."""
        return self.path, self.name

    @property
    def digest(self) -> str:
        """Digest of what is laid down."""
        return digest_of(self.text)


def digest_of(text: str) -> str:
    """Digest a text; how its lines end does not count."""
    return str(digest_bytes(text.replace("\r\n", "\n").encode()))


@dataclass(frozen=True, slots=True)
class Found:
    """A shared region in a file.

    Args:
        before: everything up to its first marker, that line included.
        text: what stands between the markers, lines ended by newlines.
        after: its last marker and everything below.
        newline: how its lines end in the file.
    """

    before: str
    text: str
    after: str
    newline: str

    def holding(self, text: str) -> str:
        """Give the file's text with another text between the markers."""
        return self.before + text.replace("\n", self.newline) + self.after

    def without(self) -> str:
        """Give the file's text without the region and its markers."""
        above = self.before.splitlines(keepends=True)[:-1]
        below = self.after.splitlines(keepends=True)[1:]
        return "".join([*above, *below])


_BEGIN: Final = "twice:begin"
_END: Final = "twice:end"
_ENCLOSED: Final = {".md": ("<!-- ", " -->")}


def markers(path: str, name: str, facts: Mapping[str, str], indent: str) -> tuple[str, str]:
    """Give the two lines around a shared region, without line ends."""
    opening, closing = _ENCLOSED.get(path[path.rfind(".") :], ("# ", ""))
    said = f"{name}; from {origin(facts)}; shared: what you change in here is merged"
    return (
        f"{indent}{opening}{_BEGIN} {said}{closing}",
        f"{indent}{opening}{_END} {name}{closing}",
    )


def origin(facts: Mapping[str, str]) -> str:
    """Name the sheets that facts are from: "sheets 00, 02 and 03"; "no sheet" for none."""
    sheets = sorted({each.partition(".")[0] for each in facts})
    if not sheets:
        return "no sheet"
    return f"sheet{'s' if len(sheets) > 1 else ''} {prose(sheets)}"


def heading(mode: Mode, facts: Mapping[str, str]) -> str:
    """Give the line that says where a whole file came from and who owns it."""
    whose = {
        Mode.OWNED: "owned by it: change the sheet, or eject the file",
        Mode.ONCE: "yours from here on",
        Mode.SHARED: "yours, but for the region between the markers",
    }
    return f"Laid down by twice scaffold from {origin(facts)}; {whose[mode]}."


def find(text: str, name: str) -> Found | None:
    """Find a shared region in a file's text; None where its two markers do not stand in order."""
    lines = text.splitlines(keepends=True)
    begins = [at for at, each in enumerate(lines) if _marks(each, _BEGIN, name)]
    ends = [at for at, each in enumerate(lines) if _marks(each, _END, name)]
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        return None
    first, last = begins[0] + 1, ends[0]
    newline = "\r\n" if lines[first - 1].endswith("\r\n") else "\n"
    return Found(
        "".join(lines[:first]),
        "".join(lines[first:last]).replace("\r\n", "\n"),
        "".join(lines[last:]),
        newline,
    )


def is_marked(text: str, name: str) -> bool:
    """Whether any marker of a region stands in a file."""
    return any(_marks(each, word, name) for each in text.splitlines() for word in (_BEGIN, _END))


def _marks(line: str, word: str, name: str) -> bool:
    said = line.strip().removeprefix("<!--").removesuffix("-->").lstrip("# ").strip()
    return said == f"{word} {name}" or said.startswith(f"{word} {name};")


def placed(text: str, region: Region) -> str | None:
    """Put a shared region that is not there yet into a file's text.

    Returns:
        The file's new text; None where the line that it belongs below is not there.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += newline
    at, indent = len(lines), ""
    if region.under:
        heads = [each for each, line in enumerate(lines) if line.rstrip() == region.under]
        if len(heads) != 1:
            return None
        at, indent = _end_of_block(lines, heads[0])
    first, last = markers(region.path, region.name, region.facts, indent)
    own = reindented(region.text, f"{indent}-") if region.under else region.text
    body = f"{first}\n{own}{last}\n".replace("\n", newline)
    return "".join([*lines[:at], body, *lines[at:]])


def _end_of_block(lines: list[str], head: int) -> tuple[int, str]:
    """Give where the list below a line ends, and how deep its items are indented."""
    end, indent = head + 1, None
    for at in range(head + 1, len(lines)):
        line = lines[at]
        if not line.strip():
            continue
        if not line.startswith((" ", "-", "#")):
            break
        if indent is None and line.lstrip().startswith("- "):
            indent = line[: len(line) - len(line.lstrip())]
        if not line.startswith("#"):
            end = at + 1
    return end, "  " if indent is None else indent


def reindented(text: str, like: str) -> str:
    """Give a text whose lines are written two spaces deep, as deep as another's first line.

    A text that begins at the margin stays as it is.
    """
    first = next((line for line in like.splitlines() if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    if not text.startswith("  ") or not first:
        return text
    return "".join(
        indent + line[2:] if line.startswith("  ") else line
        for line in text.splitlines(keepends=True)
    )
