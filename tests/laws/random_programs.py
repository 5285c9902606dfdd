"""Python programs at random: every kind of statement, about the things that rules look for."""

from __future__ import annotations

import textwrap

from hypothesis import strategies as st

NAMES = st.sampled_from(
    ["a", "b", "names", "seed", "rng", "self", "cls", "state", "set", "path", "run"]
)
MODULES = st.sampled_from(
    ["os", "random", "time", "numpy as np", "numpy", "torch", "json", "pickle", "asyncio", "glob",
     "hashlib", "uuid", "datetime", "threading", "subprocess", "os.path", "multiprocessing as mp"]
)  # fmt: skip
FROM = st.sampled_from(
    ["from random import *", "from . import names", "from .. import a as b", "from time import time",
     "from os import listdir, environ", "from numpy.random import default_rng", "from .a.b import *",
     "from datetime import datetime", "from concurrent.futures import as_completed, wait",
     "from pathlib import Path", "from functools import partial, lru_cache"]
)  # fmt: skip
CALLED = st.sampled_from(
    ["os.listdir", "random.random", "random.Random", "np.random.default_rng", "np.random.seed",
     "time.time", "set", "frozenset", "list", "sorted", "hash", "id", "len", "sum", "dict", "repr", "str",
     "json.dumps", "pickle.dumps", "hashlib.sha256", "uuid.uuid4", "asyncio.gather", "glob.glob",
     "torch.manual_seed", "torch.use_deterministic_algorithms", "datetime.now", "as_completed",
     "Path", "listdir", "self.step", "rng.normal", "rng.choice", "names.pop", "names.add", "a", "b",
     "os.environ.get", "partial", "print", "map", "zip", "enumerate", "next", "iter", "max", "super"]
)  # fmt: skip
LEAVES = st.one_of(
    NAMES,
    st.sampled_from(
        ["0", "1.5", "None", "'text'", "b'x'", "...", "{'a', 'b'}", "set()", "{}", "[]", "()", "f'{a!r:>{b}}'",
         "os.environ['A']", "self.state", "cls.rng", "time.time()", "{1, *names}", "{**a, 'b': b}", "{*a}"]
    ),
)  # fmt: skip


def _more(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, inner)
    return st.one_of(
        st.builds("{}({})".format, CALLED, inner),
        st.builds("{}(*{}, **{})".format, CALLED, inner, inner),
        st.builds("{}({}, seed={})".format, CALLED, inner, inner),
        st.builds("({}).{}()".format, inner, st.sampled_from(["keys", "items", "pop", "add", "join", "append"])),
        two.map(lambda both: f"({both[0]} | {both[1]})"),
        two.map(lambda both: f"({both[0]} if {both[1]} is None else {both[0]})"),
        two.map(lambda both: f"({both[0]} and {both[1]} or {both[0]})"),
        two.map(lambda both: f"[{both[0]}, *{both[1]}]"),
        two.map(lambda both: f"{{{both[0]}: {both[1]}}}"),
        two.map(lambda both: f"({both[0]})[{both[1]}]"),
        two.map(lambda both: f"({both[0]})[{both[1]}:, ...]"),
        st.builds("({0} := {1})".format, st.sampled_from(["a", "b", "seed"]), inner),
        st.builds("[{1} for {0} in {2} if {0}]".format, NAMES, inner, inner),
        st.builds("{{{1} for {0}, b in {2}}}".format, NAMES, inner, inner),
        st.builds("{{{1}: {0} for {0} in {2} for a in {0}}}".format, NAMES, inner, inner),
        st.builds("({1} for *{0}, b in {2})".format, NAMES, inner, inner),
        st.builds("(lambda {0}, *a, b={1}, **names: {2})".format, st.sampled_from(["x", "seed"]), inner, inner),
        st.builds("({} < {} not in {})".format, inner, inner, inner),
        st.builds("(not -{})".format, inner),
        st.builds("(lambda: (yield {}))".format, inner),
    )  # fmt: skip


_EXPRESSIONS = st.recursive(LEAVES, _more, max_leaves=6)


@st.composite
def expressions(draw: st.DrawFn) -> str:
    """Draw an expression; a strategy with a short name, since Hypothesis prints its parts."""
    return draw(_EXPRESSIONS)


EXPRESSIONS = expressions()
TARGETS = st.one_of(
    st.sampled_from(["a", "b", "names", "seed", "rng", "self.state", "self.rng", "a[0]", "a.b.c"]),
    st.sampled_from(
        ["a, b", "a, *b", "(a, [b, *names])", "self.a, self.b", "[a, (b, seed)]", "*a,"]
    ),
)
SIMPLE = st.one_of(
    st.builds("{} = {}".format, TARGETS, EXPRESSIONS),
    st.builds("{} = {} = {}".format, TARGETS, TARGETS, EXPRESSIONS),
    st.builds("{}: set[str] = {}".format, NAMES, EXPRESSIONS),
    st.builds("self.{}: 'dict[str, {}]'".format, NAMES, NAMES),
    st.builds("{} += {}".format, NAMES, EXPRESSIONS),
    EXPRESSIONS,
    st.builds("import {}".format, MODULES),
    FROM,
    st.builds("return {}".format, EXPRESSIONS),
    st.builds("yield {}".format, EXPRESSIONS),
    st.builds("del {}".format, TARGETS.filter(lambda text: "*" not in text)),
    st.builds("global {}".format, NAMES),
    st.builds("nonlocal {}".format, NAMES),
    st.builds("assert {}, {}".format, EXPRESSIONS, EXPRESSIONS),
    st.builds("raise {} from {}".format, EXPRESSIONS, EXPRESSIONS),
    st.builds("await {}".format, EXPRESSIONS),
    st.sampled_from(["pass", "break", "continue", "raise", "return", "os.environ['A'] = '1'"]),
)  # fmt: skip


def _block(body: list[str]) -> str:
    return textwrap.indent("\n".join(body) or "pass", "    ")


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    block = st.lists(inner, max_size=3).map(_block)
    function = st.sampled_from(["def", "async def"])
    arguments = st.sampled_from(
        ["", "self", "cls", "self, seed=None", "a, /, b, *, rng: 'np.random.Generator'", "*a, **b",
         "names: set[str]", "a=time.time()", "self, state: dict | None = None"]
    )  # fmt: skip
    return st.one_of(
        st.builds("{} {}({}):\n{}".format, function, NAMES, arguments, block),
        st.builds("@{}\ndef {}({}) -> {}:\n{}".format, EXPRESSIONS, NAMES, arguments, NAMES, block),
        st.builds("class {}({}, metaclass={}):\n{}".format, NAMES, EXPRESSIONS, NAMES, block),
        st.builds("class {}:\n{}".format, NAMES, block),
        st.builds("for {} in {}:\n{}\nelse:\n{}".format, TARGETS, EXPRESSIONS, block, block),
        st.builds("async for {} in {}:\n{}".format, TARGETS, EXPRESSIONS, block),
        st.builds("while {}:\n{}".format, EXPRESSIONS, block),
        st.builds("if {}:\n{}\nelif {}:\n{}".format, EXPRESSIONS, block, EXPRESSIONS, block),
        st.builds("with {} as {}, a:\n{}".format, EXPRESSIONS, NAMES, block),
        st.builds("async with {} as (a, b):\n{}".format, EXPRESSIONS, block),
        st.builds("try:\n{}\nexcept {} as a:\n{}\nfinally:\n{}".format, block, NAMES, block, block),
        st.builds("try:\n{}\nexcept* {}:\n{}".format, block, NAMES, block),
        st.builds(
            "match {}:\n  case {{'a': b, **rest}} if {}:\n{}\n  case a.b(x, seed=[1, *_]) | None as y:\n{}\n"
            "  case _:\n{}".format,
            EXPRESSIONS, EXPRESSIONS, block, block, block,
        ),
    )  # fmt: skip


_STATEMENTS = st.recursive(SIMPLE, _compound, max_leaves=8)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Draw a program: most of them parse, few of them would run."""
    return "\n".join(draw(st.lists(_STATEMENTS, min_size=1, max_size=8))) + "\n"
