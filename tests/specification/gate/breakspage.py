"""The page of breaks and their controls.

python tests/specification/gate/breakspage.py > docs/internals/breaks.md
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

from breaks import BREAKS
from controls import CONTROLS
from more_breaks import MORE

from twice.specification.gate.checks import CHECKS

EVERY = sorted([*BREAKS, *MORE], key=lambda each: each.check)
"""Every break, by check."""


def page() -> Iterator[str]:
    """Give the page's lines."""
    counts = Counter(each.check for each in EVERY)
    alone = sum(not each.also for each in EVERY)
    edited = sum(bool(each.edits) or each.in_place for each in EVERY)
    yield "# Breaks of the gate, and their controls"
    yield ""
    yield "Written by `python tests/specification/gate/breakspage.py`; do not edit it by hand."
    yield ""
    yield (
        f"There are {len(EVERY)} ways to break a small system or its specification. Each goes through a whole gate on a workspace of its own; "
        f"{alone} of them turn exactly their check red, the others one more."
    )
    yield (
        f"For {edited} the code is changed or something is recorded anew. Each break has a control: the nearest variant that is innocent, "
        "on which no check turns red. A workspace is built once for each"
    )
    yield "tier and edit and then copied; evidence is made once for the same plan and files."
    yield ""
    yield f"| check | {len(EVERY)} breaks | break | control |"
    yield "|---|---|---|---|"
    for check in CHECKS:
        for number, each in enumerate(one for one in EVERY if one.check == check.id):
            first = f"{check.id} {check.title} | {counts[check.id]}" if not number else " | "
            also = f" (and {', '.join(map(str, sorted(each.also)))})" if each.also else ""
            yield f"| {first} | {each.name}{also} | {CONTROLS[each.name].name} |"


if __name__ == "__main__":
    sys.stdout.write("\n".join(page()) + "\n")
