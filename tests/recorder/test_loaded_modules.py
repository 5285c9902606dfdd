"""What a server of forks has loaded before it forks."""

from __future__ import annotations

import ast
import inspect
import textwrap

from twice.recorder import child, session_job


def test_what_a_session_imports_when_it_begins_its_server_has_loaded() -> None:
    """Every fork imported what keeps its world anew."""
    late = {
        node.module
        for function in (child.serve, session_job.parse_world)
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function))))
        if isinstance(node, ast.ImportFrom)
    }

    assert late
    assert late <= set(child._LOADED)
