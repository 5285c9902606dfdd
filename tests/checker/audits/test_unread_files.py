"""No file makes the audits fail: it is read, or named with the reason why not."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twice.checker.audits.audit import Audit
from twice.checker.driver import check
from twice.checker.policy import Policy

LINES = st.sampled_from(
    [
        "import random, time, os, numpy as np",
        "from random import *",
        "class A:",
        "    def step(self, rng=None):",
        "        self.rng = rng or np.random.default_rng()",
        "        self.rng, other = np.random.default_rng(*args), self.rng",
        "        return self.rng.normal(time.time())",
        "    rng = property(lambda self: self.rng)",
        "rng = rng or random.Random(**rng)",
        "x = [rng.random() for rng in rng]",
        "for rng in rng: rng.seed(); rng.shuffle(rng)",
        "os.environ['A']; os.environ[rng]",
        "open(*rng); open(mode='w')",
        "match x:",
        "    case True: random.random()",
        "run.rng('a').normal(); run.rng(f'a{1}'); effects.clock.time()",
        "eval(x); exec('x'); __import__(x)",
        "jax.random.split(); env.action_space.sample()",
    ]
)


def audit(path: Path) -> Audit:
    """Return the audits of one file of a disk."""
    return Audit.from_check(check([str(path)], Policy()), Policy())


@settings(deadline=None)
@given(st.one_of(st.lists(LINES, max_size=12).map("\n".join).map(str.encode), st.binary()))
def test_every_file_is_read_or_named(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.py"
        path.write_bytes(data)
        project = audit(path)

        assert len(project.files) + len(project.unread) == 1
        assert len(project.uses) == sum(len(each.uses) for each in project.files)
        assert all(each.what for each in project.unread)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"def (:\n", "invalid syntax"),
        (b"\x00\x01\x02", "it is binary"),
        (b"# coding: latin-9000\n", "it is not text"),
        (b"x = '\xff'\n", "it is not text"),
        (b"x = " + b"(" * 5000 + b")" * 5000, ""),
        (b"-" * 100_000 + b"1\n", ""),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    (tmp_path / "a.py").write_bytes(data)
    project = audit(tmp_path / "a.py")

    (one,) = project.unread
    assert reason in one.what
    assert one.what
    gone = audit(tmp_path / "gone.py")
    assert (gone.files, gone.unread[0].what[:17]) == ((), "it cannot be read")
