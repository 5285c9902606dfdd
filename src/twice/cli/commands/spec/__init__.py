r"""Write down what a system promises, sheet by sheet, and keep it true.

  twice spec init --component swarm --program examples/swarm.py:main \
      --seed 42 --source examples --class bit-exact --yes state,replay \
      --no diverging,existing,consumed,cross-machine,branching,concurrency \
      --no floating-point,gpu,external-effects,hashed-snapshots \
      --no audit-log,contested
  twice spec adopt prose-sheets --dry-run
  twice spec status --json
  twice spec fill --record a.twice
  twice spec changed 02
  twice spec bump 02 --major
  twice spec refresh --check
  twice spec add 02 --template

The sheets are files NN-name.md in a folder determinism-and-replay. spec.lock beside them says the content of each
when its version was last moved. Only refresh executes anything.

Exit code 0 it holds, 1 something is missing, changed or owed, 2 wrong use or a file that cannot be read.
"""

from __future__ import annotations

from typing import Final

from twice.cli.group import Group

ACTIONS: Final = {
    "init": ("init:command", "ask what is needed, and create the first sheets, or say that none are"),
    "adopt": (
        "adopt:command",
        "make sheets of those that another workflow wrote as prose; its files stay as they are",
    ),
    "add": ("fill:add_sheets", "create the sheets that the tier needs, once the first ones say enough"),
    "status": (
        "status:print_status",
        "which sheets are there, what they do not say yet, what is owed, which tier they force",
    ),
    "fill": ("fill:fill_sheets", "read from records, environment and code what sheets leave open"),
    "changed": ("status:list_changes", "what changed since versions were last moved, and what follows"),
    "bump": (
        "bump:command",
        "lock sheets that are new; move a sheet's version, as far as its changes need; then make sheet 99",
    ),
    "refresh": (
        "refresh:command",
        "bring vector, digests, scaffold, costs and sheet 99 up to date after a change of the code",
    ),
}  # fmt: skip

command = Group(__name__, ACTIONS, help=__doc__, no_args_is_help=False)
