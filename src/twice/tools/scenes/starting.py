"""The start in which the table tools are tried: two tables that share a column.

Invariant: they can be made in either order.
"""

from __future__ import annotations

from typing import Final

from twice.tools.cases import Call

TWO_TABLES: Final = (
    Call(
        "table.create",
        {"name": "b", "columns": ["k", "x"], "rows": [["p", 1], ["q", 2.5], ["r", None], ["s", 4]]},
    ),
    Call("table.create", {"name": "a", "columns": ["k", "y"], "rows": [["q", True], ["p", "t"]]}),
)
"""Made by the tools themselves."""
