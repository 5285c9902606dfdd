"""What another program prints is used as data in a run.

The output of a child depends on what is installed, on the machine and on the moment, and none of it is in
the record of the run.

Run it before, and keep what came; or make the call a recorded effect. Nothing is said of tools and
builds, of asking for versions, nor of children whose output nobody reads.

Bad:
    import subprocess

    class World:
        def step(self):
            self.load = float(subprocess.check_output(["uptime"]).split()[-1])

or:
    import subprocess

    class Solver:
        def decide(self, problem):
            done = subprocess.run(["solver", problem], capture_output=True, text=True)
            return done.stdout.strip()

Good:
    import subprocess

    def build(folder):
        subprocess.run(["make", "-C", folder], check=True)

or:
    import subprocess

    def commit():
        return subprocess.check_output(["git", "rev-parse", "HEAD"], text=True).strip()
"""

from __future__ import annotations

from collections.abc import Iterator

from twice.checking.findings import Found, Reach
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.roles import advances, begins
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.outcomes import Outcome, Use
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "child-output"


def look(site: Site) -> Iterator[Found]:
    """Look at the start of another program."""
    function = site.scope.method
    if (
        function is None
        or (site.called or "").endswith("Popen")  # Its output comes by what is asked of it later.
        or begins(function.name)
        or not (advances(function.name) or site.scope.owner)
    ):
        return
    outcome = site.value()
    if outcome.use.reach is not Reach.LOUD:
        return
    if not advances(function.name):
        outcome = Outcome(Use.UNSEEN, outcome.node, outcome.way)
    yield site.found(
        NAME,
        f"{function.name}() uses what {site.called}() gives.",
        "Another machine or another moment gives another output",
        outcome=outcome,
        confidence=0.8,
    )


RULE = Rule(
    name=NAME,
    channel=Channel.EFFECTS,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Run it before and keep what came, or make the call a recorded effect.",
    calls=("child",),
    look=look,
)
