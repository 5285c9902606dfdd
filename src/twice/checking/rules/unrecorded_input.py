"""A run asks a person, or reads what is typed, in the middle.

What was answered is in no record: the run cannot be repeated without the person, and nothing says
that they answered otherwise.

Take answers from a recorded effect, or from a script that belongs to the run. Nothing is said of
commands, menus and examples that are there to be typed at.

Bad:
    class Game:
        def step(self):
            self.move = input("your move: ")

or:
    import sys

    class Agent:
        def choose(self, options):
            return options[int(sys.stdin.readline())]

Good:
    class Game:
        def step(self, move):
            self.move = move

or:
    def main():
        if input("delete everything? ") != "yes":
            raise SystemExit(1)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found, Reach
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.roles import advances, begins
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.outcomes import Outcome, Use
from twice.checking.syntax.uses.words import about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unrecorded-input"
_TYPED: Final = frozenset(
    [
        "human",
        "manual",
        "interactive",
        "player",
        "user",
        "keyboard",
        "console",
        "cli",
        "example",
        "demo",
        "chat",
        "debug",
        "pdb",
    ]
)


def look(site: Site) -> Iterator[Found]:
    """Look at a question to a person."""
    function, owner = site.scope.method, site.scope.owner
    if function is None or begins(function.name) or not (advances(function.name) or owner):
        return
    names = [function.name, "" if owner is None else owner.name]
    if any(about(each, _TYPED) for each in names):
        return
    outcome = site.value()
    if outcome.use.reach is Reach.QUIET:
        return
    if not advances(function.name):
        outcome = Outcome(Use.UNSEEN, outcome.node, outcome.way)
    yield site.found(
        NAME,
        f"{function.name}() asks for input by {site.called}().",
        "What is typed is in no record, so the run cannot be repeated",
        outcome=outcome,
        confidence=0.8,
    )


RULE = Rule(
    name=NAME,
    channel=Channel.EFFECTS,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Take the answer from a recorded effect, or from a script that belongs to the run.",
    calls=("asking-people",),
    look=look,
)
