"""Teach a coding agent to use twice: skills, commands, agents and the settings of its server.

  twice agent install --dry-run --json
  twice agent install --for claude
  twice agent install --uninstall

Exit code 0 done, 1 a file that you changed is left as it is, 2 wrong use, or nothing could be written.
"""

from __future__ import annotations

from typing import Final

from twice.cli.group import Group

ACTIONS: Final = {
    "install": ("install:command", "write the agent pack into this project, update it, or remove it")
}  # fmt: skip
command = Group(__name__, ACTIONS, help=__doc__, no_args_is_help=False)
