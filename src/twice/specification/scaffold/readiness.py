"""Which layers can be generated: those whose sheets are there and say what has to be said.

A layer needs its own sheets, whatever the others lack. If a tier does not ask for a sheet, or a memo
stands in its place, the layer is left out with that reason.

Invariant: a layer is ready, left out for a reason, or refused with everything that is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from twice.errors import ClassRefused
from twice.recorder.cadence import parse_cadence
from twice.specification.errors import SpecIncomplete
from twice.specification.scaffold.lock import Layer
from twice.specification.scaffold.source import join_words
from twice.specification.schema import SHEETS
from twice.specification.tiers import find_required
from twice.specification.workspace import Workspace

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
}
"""The sheets of which each layer is made, besides those of the base."""


def find_layer(sheet: str) -> Layer:
    """Find the layer that the sheet of a channel is generated as."""
    besides = {"07": Layer.PROPERTIES, "11": Layer.SNAPSHOT}
    return next((each for each, own in SHEETS_OF.items() if sheet in own), None) or besides[sheet]


def check_layers(
    workspace: Workspace, layers: Iterable[Layer]
) -> tuple[tuple[Layer, ...], Mapping[Layer, str]]:
    """Say which of some layers can be generated, the base first, and why others are left out.

    Raises:
        SpecIncomplete: E-SPEC-005, with everything that is missing, layer by layer.
    """
    ready: list[Layer] = []
    left_out: dict[Layer, str] = {}
    lacking: dict[Layer, list[str]] = {}
    situation = workspace.situation()
    needed = find_required(situation)
    for layer in (Layer.BASE, *layers):
        sheets = SHEETS_OF[layer]
        own = [each for each in sheets if each in needed or workspace.get(each)]
        memos = [each for each in own if (sheet := workspace.get(each)) and sheet.is_memo]
        missing = [] if memos else list(_find_gaps(workspace, layer, own))
        if sheets and not own:
            traits = f"tier {situation.tier} and the system's traits"
            left_out[layer] = f"{traits} need no sheet {join_words(sheets)}"
        elif memos:
            left_out[layer] = f"sheet {join_words(memos)} is a memo"
        elif missing:
            lacking[layer] = missing
        else:
            ready.append(layer)
    if not lacking:
        return tuple(ready), left_out
    names = {each: "every layer" if each is Layer.BASE else each.value for each in lacking}
    lines = [f"  {names[layer]}: {each}" for layer, found in lacking.items() for each in found]
    alone = ""
    if len(ready) > 1 and ready[0] is Layer.BASE:
        alone = f", or lay down one layer alone: --layer {ready[1]}"
    what = join_words(names.values())
    raise SpecIncomplete(
        "\n".join([f"The scaffold lacks values of the specification for {what}:", *lines]),
        "Expected each sheet of a layer, complete. twice wrote nothing.",
        f"See what is next: twice spec status{alone}",
        layers=tuple(lacking),
    )


def _find_gaps(workspace: Workspace, layer: Layer, sheets: Iterable[str]) -> Iterator[str]:
    situation = workspace.situation()
    for number in sheets:
        sheet = workspace.get(number)
        if sheet is None:
            yield f"{workspace.base}/{SHEETS[number].file_name} is not there"
            continue
        for gap in sheet.gaps(situation):
            # Only generated code can find out the digest of the vector.
            if (number, gap.key) != ("01", "vector_digest"):
                yield f"{sheet.path}:{gap.line}: {gap.key} is {gap.why} ({gap.says})"
    if layer is Layer.SEEDS and workspace.get("02") and workspace.get("03"):
        named = workspace.column("02", "names", "stream")
        slotted = workspace.column("03", "slots", "stream")
        at = workspace.place("03", "slots")
        for each in (each for each in named if each not in slotted):
            yield f"{at}: slots has no stream {each!r}, which 02 names"
        at = workspace.place("02", "names")
        for each in (each for each in slotted if each not in named):
            yield f"{at}: names has no stream {each!r}, for which 03 has a slot"
    if layer is Layer.SNAPSHOT and workspace.get("04"):
        if not workspace.rows("04", "components"):
            at = workspace.place("04", "components")
            yield f"{at}: components is absent (what is tracked, by name)"
        try:
            parse_cadence(workspace.text("04", "cadence") or "tick")
        except ClassRefused as error:
            yield f"{workspace.place('04', 'cadence')}: cadence: {error.expected}"
