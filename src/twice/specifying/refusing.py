"""Several refusals told as one, so that whoever mends sheets sees all of it at once.

Invariant: one refusal alone is told as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from twice.errors import SheetRefused


def together(refused: Sequence[SheetRefused]) -> SheetRefused:
    """Make one refusal of several.

    Args:
        refused: at least one, in the order in which they are told.
    """
    assert refused, "something was refused"
    if len(refused) == 1:
        return refused[0]
    lines = [f"  {each.happened} {each.expected}" for each in refused]
    return SheetRefused(
        "\n".join([f"{len(refused)} lines of the sheets cannot be taken:", *lines]),
        "Expected what stands behind each.",
        'Mend these lines, or write "?" for what is not known yet; nothing was changed.',
        places=[each.fields for each in refused],
    )
