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
        (
            "try:\n    import numpy as np\nexcept ImportError:\n    np = None\nnp.random",
            "numpy.random",
        ),
        ("sorted", "builtins.sorted"),
        ("def helper(): ...\nhelper", ".helper"),
        ("class World: ...\nWorld", ".World"),
    ],
)
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
    ],
)
def test_a_name_that_could_be_anything_is_nothing(text: str) -> None:
    site = last_value(module_of(text))
    assert site.qualified(site.node) is None


def test_relative_imports_resolve_in_their_package() -> None:
    module = module_of("from ..tools import clock\nclock.now()", package="game.world")
    assert call_of(module, "clock.now()").called == "game.tools.clock.now"


def test_an_argument_hides_a_module_of_the_same_name() -> None:
    module = module_of(
        """
        import random

        def shuffle(random, deck):
            random.shuffle(deck)
        """
    )
    assert call_of(module, "random.shuffle(deck)").called is None


def test_names_of_a_class_body_are_not_seen_in_its_methods() -> None:
    module = module_of(
        """
        class Clock:
            from time import time

            def read(self):
                return time()
        """
    )
    assert call_of(module, "time()").called is None
