"""A name resolves to what it stands for, or to nothing."""

from __future__ import annotations

import pytest

from sourcefiles import call_of, last_value, module_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import numpy as np\nnp.random.rand", "numpy.random.rand"),
        ("import os.path\nos.path.join", "os.path.join"),
        ("from random import shuffle as mix\nmix", "random.shuffle"),
        ("from numpy import random\nrandom.rand", "numpy.random.rand"),
        ("import numpy as np\nr = np.random\nr.rand", "numpy.random.rand"),
        ("import random\nd = random.random\nd", "random.random"),
        ("try:\n    import numpy as np\nexcept ImportError:\n    np = None\nnp.random", "numpy.random"),
        ("sorted", "builtins.sorted"),
        ("def helper(): ...\nhelper", ".helper"),
        ("class World: ...\nWorld", ".World"),
    ],
)  # fmt: skip
def test_a_name_resolves_through_imports_and_aliases(text: str, expected: str) -> None:
    site = last_value(module_of(text))
    assert site.qualified(site.node) == expected


@pytest.mark.parametrize(
    "text",
    [
        "unknown",
        "sorted = make()\nsorted",
        "import random\nrandom = Random()\nrandom.shuffle",
        "x = x\nx",
        "a = b\nb = a\na",
        "f().attribute",
        "for time in range(3): ...\ntime",
        "match given:\n    case [sorted, *_]: ...\nsorted",
        "match given:\n    case {'a': 1, **hash}: ...\nhash",
        "match given:\n    case [*list]: ...\nlist",
    ],
)
def test_a_name_that_could_be_anything_is_nothing(text: str) -> None:
    site = last_value(module_of(text))
    assert site.qualified(site.node) is None


@pytest.mark.parametrize(
    ("text", "call", "expected"),
    [
        ("from ..tools import clock\nclock.now()", "clock.now()", "game.tools.clock.now"),
        # An argument hides a module of the same name; names of a class body are not seen in its methods.
        ("import random\ndef f(random, deck):\n    random.shuffle(deck)\n", "random.shuffle(deck)", None),
        ("class A:\n    from time import time\n    def read(self):\n        return time()\n", "time()", None),
    ],
)  # fmt: skip
def test_a_call_is_of_what_its_scope_and_package_say(
    text: str, call: str, expected: str | None
) -> None:
    assert call_of(module_of(text, package="game.world"), call).called == expected


def test_a_comprehension_has_names_of_its_own() -> None:
    module = module_of(
        """
        def f(names):
            import time
            first = [time() for time in names]
            return [[lambda time: time for time in time] for time in first], time.time()
        """
    )
    assert call_of(module, "time.time()").called == "time.time"
    assert call_of(module, "time()").called is None
    assert sorted(module.survey.scopes[1].bindings)[2:] == [
        "time",
        *("time" + "'" * n for n in (1, 2, 3)),
    ]
