r"""Tools that declare what they promise: look at a registry, call a tool under a contract.

  twice tools list memory
  twice tools call memory mesh.primitive --args '{"kind":"cube"}'
  twice tools call my/tools.py:registry scatter.points \
      --args @points.json --seed 42 --json
  twice tools verify my/tools.py:registry
  twice tools serve memory -o session.twice --session-seed 42

REGISTRY is a built-in one (memory, blender), module:name, or file.py:name; its module is
imported, which runs its code. Exit code 0 it worked, 1 the call was refused or failed, 2 wrong use.
"""

from __future__ import annotations

from typing import Final

from twice.cli.group import Group

ACTIONS: Final = {
    "list": ("call:list_tools", "list the tools of a registry, with what each promises"),
    "call": ("call:call_tool", "call one tool, from an empty state"),
    "verify": ("verify:command", "try to prove the declarations wrong, and say what was seen"),
    "serve": ("serve:command", "serve a registry to a host over the Model Context Protocol"),
}  # fmt: skip
command = Group(__name__, ACTIONS, help=__doc__, no_args_is_help=False)
