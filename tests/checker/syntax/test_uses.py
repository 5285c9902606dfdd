"""Where a value, or the order of a collection, ends."""

from __future__ import annotations

from textwrap import indent

import pytest

from sourcefiles import call_of, module_of
from twice.checker.syntax.uses.outcomes import Use

CLOCK = "time.time()"


def value_ends(text: str) -> Use:
    """Where the time of a text ends."""
    return call_of(module_of(text), CLOCK).value().use


def listing_ends(text: str) -> Use:
    """Where the order of the listing in a text ends."""
    return call_of(module_of(text), "os.listdir(path)").order().use


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("print(time.time())", Use.TELEMETRY),
        ("start = time.time()\nlogger.info('took %s', time.monotonic() - start)", Use.TIMING),
        ("time.time()", Use.DROPPED),
        ("return {'at': time.time()}", Use.RETURNED),
        ("self.started = time.time()", Use.STATE),
        ("random.seed(int(time.time()))", Use.SEED),
        ("return hashlib.sha256(str(time.time()).encode()).hexdigest()", Use.DIGEST),
        ("if time.time() % 2 < 1:\n    self.move()", Use.BRANCH),
        ("deadline = time.time()\nif deadline > limit:\n    raise TimeoutError", Use.TIMING),
        ("time.sleep(max(0, 1 - time.time()))", Use.TIMING),
        ("run_name = f'run-{time.time()}'\nos.makedirs(run_name)", Use.LABEL),
        ("open('a', 'w').write(str(time.time()))", Use.STORED),
        ("unknown(time.time())", Use.UNSEEN),
        ("history.append(time.time())", Use.STATE),
        # A name that sounds harmless hides no seed and no digest.
        *[(f"{name} = time.time()\nrandom.seed({name})", Use.SEED) for name in
          ("tag", "delay", "path", "timeout", "log", "message")],
        ("tag = str(time.time()).encode()\nreturn hashlib.sha256(tag)", Use.DIGEST),
        ("path = str(time.time()).encode()\nreturn hashlib.sha256(path)", Use.DIGEST),
    ],
)  # fmt: skip
def test_a_value_is_followed_to_its_end(body: str, expected: Use) -> None:
    head = "import hashlib, os, random, time\n\ndef step(self, history, logger, limit):\n"
    assert value_ends(head + indent(body, "    ")) is expected


OUT = "out = []\nfor name in os.listdir(path):\n    out.append(name)\nreturn {}"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return sorted(os.listdir(path))", Use.ERASED),
        ("return len(os.listdir(path))", Use.ERASED),
        ("return 'a' in os.listdir(path)", Use.ERASED),
        ("names = os.listdir(path)\nnames.sort()\nreturn names", Use.ERASED),
        ("names = os.listdir(path)\nchosen = names[0]\nnames.sort()\nreturn chosen", Use.RETURNED),
        ("return os.listdir(path)", Use.RETURNED),
        ("return os.listdir(path)[0]", Use.RETURNED),
        ("return rng.choice(os.listdir(path))", Use.STATE),
        ("n = 0\nfor name in os.listdir(path):\n    n += 1\nreturn n", Use.ERASED),
        ("found = set()\nfor name in os.listdir(path):\n    found.add(name)\nreturn found", Use.ERASED),
        (OUT.format("out"), Use.RETURNED),
        (OUT.format("sorted(out)"), Use.ERASED),
        ("for name in os.listdir(path):\n    return name", Use.RETURNED),
        ("for name in os.listdir(path):\n    yield name", Use.RETURNED),
        ("for name in os.listdir(path):\n    os.remove(name)", Use.ERASED),
        ("for name in os.listdir(path):\n    load(name)", Use.UNSEEN),
        ("by = {}\nfor name in os.listdir(path):\n    by[name] = load(name)\nreturn by", Use.ERASED),
        ("return {name: 1 for name in os.listdir(path)}", Use.ERASED),
        ("return [name.upper() for name in os.listdir(path)]", Use.RETURNED),
        # What an inner function returns is used where it is called.
        ("def names():\n    return os.listdir(path)\nreturn sorted(names())", Use.ERASED),
    ],
)  # fmt: skip
def test_an_order_is_followed_to_its_end(body: str, expected: Use) -> None:
    head = "import os\n\ndef load_all(path, rng):\n"
    assert listing_ends(head + indent(body, "    ")) is expected


def test_a_value_is_followed_through_attributes_and_functions_of_the_file() -> None:
    trainer = """
        import time

        class Trainer:
            def begin(self):
                self.start = self._now()

            def _now(self):
                return time.time()

            def report(self):
                print(self._now() - self.start)
        """
    assert value_ends(trainer) is Use.TELEMETRY
    given = "import random, time\ndef begin():\n    prepare(time.time())\ndef prepare(start):\n    random.seed(start)\n"
    outcome = call_of(module_of(given), CLOCK).value()
    assert outcome.use is Use.SEED
    assert outcome.way


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("print(len(names('.')))", Use.UNSEEN),
        ("print(names('.'))", Use.UNSEEN),
        ("save(names('.'))", Use.UNSEEN),
        ("return names('.')[0]", Use.RETURNED),
    ],
)
def test_where_no_caller_in_the_file_minds_others_are_not_taken_to(use: str, expected: Use) -> None:
    text = f"import os\ndef names(path):\n    return os.listdir(path)\ndef main():\n    {use}\n"
    assert listing_ends(text) is expected


def test_a_file_that_repeats_itself_is_read_to_its_end() -> None:
    lines = "    x = time.time()\n    given(x)\n" * 400
    module = module_of(f"import time\n\ndef repeat(given):\n{lines}")
    uses = {module.site(node, scope).value().use for node, scope, name in module.calls if name}
    assert uses == {Use.UNSEEN}


@pytest.mark.parametrize(
    ("calls", "into", "out"),
    [
        (1, Use.TELEMETRY, Use.TELEMETRY),
        (2, Use.TELEMETRY, Use.TELEMETRY),
        (3, Use.UNSEEN, Use.RETURNED),
    ],
)
def test_a_value_is_followed_through_two_calls_and_then_handed_on(
    calls: int, into: Use, out: Use
) -> None:
    inside, outside = (
        "".join(
            f"def _{at}({given}):\n    {last if at == calls else step.format(at + 1)}\n"
            for at in range(1, calls + 1)
        )
        for given, step, last in (
            ("value", "_{}(value)", "print(value)"),
            ("", "return _{}()", f"return {CLOCK}"),
        )
    )
    assert value_ends(f"import time\n{inside}def step():\n    _1({CLOCK})\n") is into
    assert value_ends(f"import time\n{outside}def step():\n    print(_1())\n") is out
