"""Programs that are there to be looked at or played by hand: nobody repeats such a run.

Invariant: says nothing of a program that only happens to draw pictures; a name or a setting has to say so.
"""

from __future__ import annotations

import ast
from typing import Final

from twice.checker.findings import Reach
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import about

_SHOWS: Final = frozenset(
    [
        "animation",
        "drawing",
        "gif",
        "human",
        "interactive",
        "keyboard",
        "manual",
        "plot",
        "render",
        "teleop",
    ]
)
_BY_HAND: Final = frozenset({"keyboard_control", "manual", "manual_control"})


def reach_of(site: Site) -> Reach:
    """Give how loud a missing seed is here: not seen to matter where somebody plays or looks."""
    stem = site.module.path.rpartition("/")[2].removesuffix(".py")
    if about(stem, _SHOWS):
        return Reach.UNSEEN
    function = site.scope.method
    played = any(
        _is_by_hand(each, shown=function is not None)
        for node, scope, _ in site.module.calls
        if scope.method is function
        for each in node.keywords
    )
    return Reach.UNSEEN if played else Reach.LOUD


def _is_by_hand(keyword: ast.keyword, *, shown: bool) -> bool:
    """Whether a keyword asks for a player at the keyboard, or for a window, if that counts.

    A script that trains opens a window at its end, too.
    """
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    return (keyword.arg in _BY_HAND and value is True) or (
        shown and keyword.arg == "render_mode" and value == "human"
    )
