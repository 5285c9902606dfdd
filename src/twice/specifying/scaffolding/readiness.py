"""Which layers can be laid down: those whose sheets are there and say what has to be said.

A layer needs its own sheets, whatever the others lack. Where a tier does not ask for a sheet, or lets a
memo do, the layer is left out with that reason.

Invariant: a layer is ready, left out for a reason, or lacking something that is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from twice.errors import ClassRefused, SpecIncomplete
from twice.recording.cadence import parse_cadence
from twice.specifying.artifact import Artifact
from twice.specifying.scaffolding.literals import prose
from twice.specifying.scaffolding.regions import Layer
from twice.specifying.sheets import SHEETS
from twice.specifying.tiers import required
from twice.specifying.workspace import FOLDER, Workspace

SHEETS_OF: Final[Mapping[Layer, tuple[str, ...]]] = {
    Layer.BASE: ("00", "01"),
    Layer.SEEDS: ("02", "03"),
    Layer.EFFECTS: ("10",),
    Layer.SNAPSHOT: ("04",),
    Layer.COMPARE: ("05",),
    Layer.REPLAY: ("06",),
    Layer.POLICIES: ("08", "09"),
    Layer.PROPERTIES: ("12",),
    Layer.CI: (),
    Layer.COMMANDS: (),
}
"""The sheets of which each layer is made, besides those of the base."""

ASKED_FOR: Final = tuple(each for each in Layer if each is not Layer.BASE)
"""Layers that can be asked for by name; the base comes with each."""

_FILLED_LATER: Final = frozenset({("01", "vector_digest")})
"""What only the laid-down code can find out."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """How the layers stand.

    Args:
        ready: layers that can be laid down, in order.
        left_out: layers that this system does not need, with the reason.
        lacking: what other layers wait for, sentence by sentence.
    """

    ready: tuple[Layer, ...]
    left_out: Mapping[Layer, str]
    lacking: Mapping[Layer, tuple[str, ...]]

    def refuse_lacking(self) -> None:
        """Refuse a specification that does not say what its layers need.

        Raises:
            SpecIncomplete: E-SPEC-005, with everything that is missing, layer by layer.
        """
        if not self.lacking:
            return
        names = {
            layer: "every layer" if layer is Layer.BASE else layer.value for layer in self.lacking
        }
        lines = [
            f"  {names[layer]}: {each}"
            for layer, sentences in self.lacking.items()
            for each in sentences
        ]
        one = next((each for each in self.ready if each is not Layer.BASE), None)
        may_be = one is not None and Layer.BASE not in self.lacking
        alone = f", or lay down one layer alone: --layer {one}" if may_be else ""
        raise SpecIncomplete(
            "\n".join(
                [f"The specification does not say what {prose(names.values())} is made of:", *lines]
            ),
            "Expected every sheet of a layer, without gaps; nothing was laid down.",
            f"See what is next: twice spec status{alone}",
            layers=tuple(self.lacking),
        )


def readiness(workspace: Workspace, layers: Iterable[Layer]) -> Readiness:
    """Say which of some layers can be laid down."""
    ready: list[Layer] = []
    left_out: dict[Layer, str] = {}
    lacking: dict[Layer, tuple[str, ...]] = {}
    needed = required(workspace.situation())
    for layer in (Layer.BASE, *layers):
        own = [each for each in SHEETS_OF[layer] if each in needed or workspace.get(each)]
        memos = [each for each in own if _is_memo(workspace.get(each))]
        missing = tuple(_missing(workspace, layer, own))
        if SHEETS_OF[layer] and not own:
            tier, sheets = workspace.situation().tier, prose(SHEETS_OF[layer])
            left_out[layer] = f"tier {tier} and the system's traits need no sheet {sheets}"
        elif memos:
            left_out[layer] = f"sheet {prose(memos)} is a memo"
        elif missing:
            lacking[layer] = missing
        else:
            ready.append(layer)
    return Readiness(tuple(ready), left_out, lacking)


def _is_memo(sheet: Artifact | None) -> bool:
    return sheet is not None and sheet.is_memo


def _missing(workspace: Workspace, layer: Layer, sheets: Iterable[str]) -> Iterator[str]:
    situation = workspace.situation()
    for number in sheets:
        sheet = workspace.get(number)
        if sheet is None:
            yield f"{FOLDER}/{SHEETS[number].file_name} is not there"
            continue
        for gap in sheet.gaps(situation):
            if (number, gap.key) not in _FILLED_LATER:
                yield f"{sheet.path}:{gap.line}: {gap.key} is {gap.why} ({gap.says})"
    if layer is Layer.SEEDS:
        yield from _streams_apart(workspace)
    if layer is Layer.SNAPSHOT:
        yield from _untracked(workspace)


def _streams_apart(workspace: Workspace) -> Iterator[str]:
    """Say which streams only one of 02 and 03 knows."""
    seeds, slots = workspace.get("02"), workspace.get("03")
    if seeds is None or slots is None:
        return
    named = [str(row.get("stream")) for row in seeds.rows("names")]
    slotted = [str(row.get("stream")) for row in slots.rows("slots")]
    for stream in named:
        if stream not in slotted:
            yield f"{slots.path}:{slots.line_of('slots')}: slots has no stream {stream!r}, which 02 names"
    for stream in slotted:
        if stream not in named:
            yield f"{seeds.path}:{seeds.line_of('names')}: names has no stream {stream!r}, for which 03 has a slot"


def _untracked(workspace: Workspace) -> Iterator[str]:
    sheet = workspace.get("04")
    if sheet is None:
        return
    if not sheet.rows("components"):
        says = "what is tracked, by name"
        yield f"{sheet.path}:{sheet.line_of('components')}: components is absent ({says})"
    try:
        parse_cadence(sheet.said("cadence") or "tick")
    except ClassRefused as error:
        yield f"{sheet.path}:{sheet.line_of('cadence')}: cadence: {error.expected}"
