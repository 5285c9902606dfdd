"""A generator is made without a seed when it is first asked for.

A property or an accessor that makes the generator on its first use starts it from the system's
entropy whenever nobody seeded it before. Which one runs first, the seeding or the use, decides
whether the run can be repeated, and nothing says which it was.

Bad:
    import numpy as np

    class Space:
        @property
        def rng(self):
            if self._rng is None:
                self._rng = np.random.default_rng()
            return self._rng

or:
    class Space:
        @property
        def np_random(self):
            if self._np_random is None:
                self.seed()
            return self._np_random

Good:
    class Space:
        @property
        def rng(self):
            if self._rng is None:
                raise RuntimeError("seed() comes first")
            return self._rng

or:
    import numpy as np

    class Space:
        @property
        def rng(self):
            if self._rng is None:
                self._rng = np.random.default_rng(self.seed)
            return self._rng
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.absence import is_lazy
from twice.checking.rules.seeding import is_none, is_unseeded
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.words import GENERATOR, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "lazy-unseeded"


def look(site: Site) -> Iterator[Found]:
    """Look at a generator that is made, and at a method that seeds."""
    if site.catalogue.has("generators", site.called):
        if not is_unseeded(site):
            return
    elif not _seeds_itself(site.call):
        return
    tested = is_lazy(site)
    if tested is None:
        return
    name = last_name(tested) or "It"
    if not site.catalogue.has("generators", site.called) and not about(name, GENERATOR):
        return
    yield site.found(
        NAME,
        f"{name} is made without a seed when {site.scope.name} is first asked for it.",
        "It starts from the system's entropy unless somebody happened to seed it before.",
    )


def _seeds_itself(call: ast.Call) -> bool:
    """Whether it is ``self.seed()``."""
    func = call.func
    return (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and func.value.id == "self"
        and all(is_none(each) for each in call.args)
        and not call.keywords
    )


RULE = Rule(
    name=NAME,
    channel=Channel.SEEDS,
    breaks=Breaks.LOGICAL,
    severity=Severity.HIGH,
    remedy="Make it in the constructor from a seed that is required, or raise an error on use before seeding.",
    calls=("generators",),
    methods=("seeding",),
    look=look,
)
