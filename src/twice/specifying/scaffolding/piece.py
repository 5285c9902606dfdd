"""A piece: one template with what goes into it, and the region that comes of it.

Invariant: a region's facts are those that its piece asked for while it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from twice.specifying.scaffolding.facts import Facts
from twice.specifying.scaffolding.places import Places
from twice.specifying.scaffolding.regions import Layer, Mode, Region, heading
from twice.specifying.workspace import Workspace

Values = Callable[[Facts, Places], Mapping[str, str] | None]


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that is laid down.

    Args:
        layer: what it belongs to.
        path: the file; ``{package}``, ``{commands}`` and ``{examples}`` stand for these folders, the last as 12 names it.
        template: the template's file without its suffix.
        version: of the template; moved when what it gives changes.
        values: what goes into it; None from it leaves the piece out.
        mode: who may write in it.
        name: what the region is called in its file.
        under: see ``Region``.
        start: what a file begins with that is made for a shared region.
    """

    layer: Layer
    path: str
    template: str
    values: Values
    version: int = 1
    mode: Mode = Mode.OWNED
    name: str = "file"
    under: str = ""
    start: str = ""

    def region(self, workspace: Workspace, places: Places) -> Region | None:
        """Make the region from what a specification says; None where there is nothing to lay down."""
        facts = Facts(workspace)
        values = self.values(facts, places)
        if values is None:
            return None
        examples = facts.text("12", "database") if "{examples}" in self.path else ""
        used = facts.used()
        text = filled(self.template, {**values, "heading": heading(self.mode, used)})
        return Region(
            self.path.format(package=places.package, commands=places.commands, examples=examples),
            self.name,
            self.layer,
            self.mode,
            f"{self.template}/{self.version}",
            used,
            text,
            self.under,
            self.start,
        )


def filled(template: str, values: Mapping[str, str]) -> str:
    """Give a template's text with values in it; no blank lines but those of the template at its end."""
    source = files(__package__).joinpath("templates", f"{template}.tmpl")
    text = Template(source.read_text(encoding="utf-8")).substitute(values)
    return text.rstrip("\n") + "\n"
