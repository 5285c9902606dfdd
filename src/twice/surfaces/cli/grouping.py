"""Commands that are a group of actions: a file for each action in the group's folder.

Invariant: an action's help is its module's docstring.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping


def arrange_actions(
    parser: argparse.ArgumentParser, package: str, actions: Mapping[str, str]
) -> None:
    """Declare the actions of a group and their options.

    Args:
        parser: of the group.
        package: the group's folder, dotted.
        actions: one line for each, by the name of its module.
    """
    choice = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in actions.items():
        module = importlib.import_module(f"{package}.{name}")
        own = choice.add_parser(
            name,
            help=summary,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.arrange(own)


def run_action(options: argparse.Namespace, package: str) -> int:
    """Run the action that was chosen; its exit code."""
    code = importlib.import_module(f"{package}.{options.action}").run(options)
    assert isinstance(code, int), "an action returns its exit code"
    return code
