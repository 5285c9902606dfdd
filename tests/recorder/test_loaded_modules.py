"""What a server of forks has loaded before it forks."""

from __future__ import annotations

import ast
import inspect
import textwrap

from twice.recorder import serving


def test_what_a_session_imports_when_it_begins_its_server_has_loaded() -> None:
    """Every fork imported what keeps its world anew."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(serving.serve)))
    late = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert late
    assert late <= set(serving._LOADED)
