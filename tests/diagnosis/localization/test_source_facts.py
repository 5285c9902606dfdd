"""What a line of source does, by its syntax."""

from __future__ import annotations

import textwrap

import pytest

from twice.diagnosis.localization.callables import DRAWS
from twice.diagnosis.localization.source_facts import UNKNOWN, line_facts

SOURCE = textwrap.dedent(
    """
    import os, time
    import numpy as np
    from random import Random as R
    from time import time as clock
    tick = time.perf_counter
    class A:
        def f(self, names, rng):
            for n in names:
                self.out.append(n)
            if tick() > self.t: y = 2
            x = hash(names) + os.environ["X"]
            y = x * 2
            g = np.random.default_rng(y)
            out = [n for n in names
                   if n]
            self.w[0] = (self.a @ self.b).sum()
            rng.normal(); R()
            total += clock()
            first = names.pop()
            while self.x < np.random.random():
                pass
            try:
                pass
            except ValueError as e:
                return e
            with open("f") as h:
                pass
        def g(self, m): self.rank = 2 * (m @ self.rank)
    """
).lstrip()


def at(fragment):
    number = next(n for n, line in enumerate(SOURCE.splitlines(), 1) if fragment in line)
    return line_facts("toy.py", number, SOURCE)


@pytest.mark.parametrize(
    ("fragment", "expected"),
    [
        (
            "for n in",
            {"kind": "For", "reads": ("names",), "assigns": ("n",), "iterates": ("names",)},
        ),
        ("append", {"reads": ("self.out.append", "n"), "calls": ("self.out.append",), "tags": ()}),
        ("if tick()", {"kind": "If", "tags": ("clock",), "calls": ("time.perf_counter",)}),
        (
            "hash(",
            {"assigns": ("x",), "tags": ("hash", "variable of the environment"), "seeds": ("x",)},
        ),
        ("y = x * 2", {"reads": ("x",), "seeds": ("y",)}),
        ("g = np", {"tags": ("seeding",), "calls": ("numpy.random.default_rng",), "seeds": ()}),
        ("if n]", {"code": "out = [n for n in names if n]", "tags": ("iteration",)}),
        ("self.w", {"reads": ("self.w", "self.a", "self.b"), "tags": ("matmul", "sum")}),
        ("rng.normal", {"tags": ("draw", "entropy", "generator without a seed")}),
        ("total +=", {"reads": ("clock", "total"), "assigns": ("total",), "tags": ("clock",)}),
        ("pop()", {"iterates": ("names",), "tags": ("iteration",)}),
        ("while", {"kind": "While", "tags": ("draw", "draw from a shared generator")}),
        ("except", {"kind": "ExceptHandler", "reads": ("ValueError",)}),
        ("def g", {"kind": "Assign", "reads": ("m", "self.rank"), "tags": ("matmul",)}),
        ("with open", {"assigns": ("h",), "calls": ("open",), "reads": ("open",)}),
    ],
)
def test_facts_of_a_line(fragment, expected):
    facts = at(fragment)
    assert {name: getattr(facts, name) for name in expected} == expected


def test_a_header_ends_before_its_body():
    facts = at("for n in")
    assert facts.first == facts.last
    assert at("out = [").last == at("out = [").first + 1


def test_no_name_of_a_draw_is_a_single_letter():
    assert all(len(name) > 3 for name in DRAWS)
    assert "betavariate" in DRAWS


def test_no_source_is_no_facts():
    assert line_facts("no/such/file.py", 3) is UNKNOWN
    assert line_facts("toy.py", 3, "not python ((") is UNKNOWN
    assert line_facts("toy.py", 99, "x = 1\n") is UNKNOWN


def test_what_has_an_order_of_its_own_is_not_what_a_line_iterates():
    assert line_facts("toy.py", 1, "for n in range(m): pass\n").iterates == ()
    assert line_facts("toy.py", 1, "for n in sorted(names): pass\n").iterates == ("names",)
