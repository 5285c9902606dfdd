"""A function whose last bit no standard fixes is part of a state.

sin, exp, pow and their like come from the C library, from numpy's vector code or from the GPU, and each rounds
the last bit its own way. In a step of a simulation the difference is fed back and grows: another host gives
another run. Addition, multiplication, division and square root are exact everywhere.

It is said once for a function that steps, and only where another host is promised the same bits.

Bad:
    import math

    class Cart:
        def step(self, force):
            self.speed += force * math.cos(self.angle)
            self.angle += self.speed * 0.02

or:
    import numpy as np

    def dynamics(state, torque):
        angle, speed = state
        speed = speed + np.sin(angle) * torque
        return np.array([angle + speed, speed])

Good:
    import math

    class Cart:
        def step(self, force):
            self.speed += force * 0.5
            self.length = math.sqrt(self.speed)

or:
    import math

    def report(angle):
        print("height", math.sin(angle))
"""

from __future__ import annotations

from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.syntax.module import Site
from twice.checking.syntax.survey import Scope
from twice.checking.syntax.uses.outcomes import Use
from twice.checking.syntax.uses.words import about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "libm-transcendental"
_STEPPING = frozenset(
    ["step", "update", "dynamics", "dsdt", "derivative", "derivatives", "integrate", "advance", "tick", "simulate", "transition", "rk4", "move", "physics"]
)  # fmt: skip


def look(site: Site) -> Iterator[Found]:
    """Look at a call of such a function."""
    method = site.scope.method
    if method is None or not about(method.name, _STEPPING) or not _is_first(site, method):
        return
    outcome = site.value()
    if outcome.use <= Use.TELEMETRY:
        return
    yield site.found(
        NAME,
        f"{site.called}() is part of what {method.name}() computes.",
        "Its last bit differs between C libraries, builds of numpy and processors, and the state keeps it.",
        outcome=outcome,
        confidence=0.7,
    )


def _is_first(site: Site, method: Scope) -> bool:
    """Whether it is the first such call of its function."""
    module = site.module
    names = module.catalogue.names("transcendental")
    for node, scope, name in module.calls:
        if name in names and scope.method is method:
            return node is site.node
    return True


RULE = Rule(
    name=NAME,
    channel=Channel.FLOATING_POINT,
    breaks=Breaks.CROSS_HOST,
    severity=Severity.MEDIUM,
    remedy="Use a function whose bits are fixed (a table, a polynomial), round the state, or promise one host only.",
    calls=("transcendental",),
    look=look,
)
