"""Where a value, or the order of a collection, ends."""

from __future__ import annotations

from textwrap import dedent

import pytest

from sourcefiles import call_of, module_of
from twice.checker.syntax.uses.outcomes import Use

CLOCK = "time.time()"


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
    ],
)
def test_a_value_is_followed_to_its_end(body: str, expected: Use) -> None:
    lines = "\n    ".join(body.splitlines())
    text = f"import hashlib, os, random, time\n\ndef step(self, history, logger, limit):\n    {lines}\n"
    assert call_of(module_of(text), CLOCK).value().use is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return sorted(os.listdir(path))", Use.ERASED),
        ("return len(os.listdir(path))", Use.ERASED),
        ("return 'a' in os.listdir(path)", Use.ERASED),
        ("names = os.listdir(path)\nnames.sort()\nreturn names", Use.ERASED),
        ("return os.listdir(path)", Use.RETURNED),
        ("return os.listdir(path)[0]", Use.RETURNED),
        ("return rng.choice(os.listdir(path))", Use.STATE),
        ("n = 0\nfor name in os.listdir(path):\n    n += 1\nreturn n", Use.ERASED),
        (
            "found = set()\nfor name in os.listdir(path):\n    found.add(name)\nreturn found",
            Use.ERASED,
        ),
        ("out = []\nfor name in os.listdir(path):\n    out.append(name)\nreturn out", Use.RETURNED),
        (
            "out = []\nfor name in os.listdir(path):\n    out.append(name)\nreturn sorted(out)",
            Use.ERASED,
        ),
        ("for name in os.listdir(path):\n    return name", Use.RETURNED),
        ("for name in os.listdir(path):\n    yield name", Use.RETURNED),
        ("for name in os.listdir(path):\n    os.remove(name)", Use.ERASED),
        ("for name in os.listdir(path):\n    load(name)", Use.UNSEEN),
        (
            "by = {}\nfor name in os.listdir(path):\n    by[name] = load(name)\nreturn by",
            Use.ERASED,
        ),
        ("return {name: 1 for name in os.listdir(path)}", Use.ERASED),
        ("return [name.upper() for name in os.listdir(path)]", Use.RETURNED),
    ],
)
def test_an_order_is_followed_to_its_end(body: str, expected: Use) -> None:
    lines = "\n    ".join(body.splitlines())
    text = f"import os\n\ndef load_all(path, rng):\n    {lines}\n"
    assert call_of(module_of(text), "os.listdir(path)").order().use is expected


def test_a_value_is_followed_through_attributes_and_private_functions() -> None:
    text = dedent(
        """
        import time

        class Trainer:
            def begin(self):
                self.start = self._now()

            def _now(self):
                return time.time()

            def report(self):
                print(self._now() - self.start)
        """
    )
    assert call_of(module_of(text), CLOCK).value().use is Use.TELEMETRY


def test_a_value_given_to_a_function_of_the_file_is_followed_into_it() -> None:
    text = dedent(
        """
        import random, time

        def begin():
            prepare(time.time())

        def prepare(start):
            random.seed(start)
        """
    )
    outcome = call_of(module_of(text), CLOCK).value()
    assert outcome.use is Use.SEED
    assert outcome.way


def listing_ends(text: str) -> Use:
    """Where the order of the listing in a text ends."""
    return call_of(module_of(dedent(text)), "os.listdir(path)").order().use


def test_what_an_inner_function_returns_is_used_where_it_is_called() -> None:
    inner = """
        import os

        def load(path):
            def names():
                return os.listdir(path)

            return sorted(names())
        """
    assert listing_ends(inner) is Use.ERASED


def test_where_no_caller_in_the_file_minds_others_are_not_taken_to() -> None:
    text = """
        import os

        def names(path):
            return os.listdir(path)

        def main():
            print(len(names(".")))
        """
    assert listing_ends(text) is Use.UNSEEN
    assert listing_ends(text.replace("len(names", "(names")) is Use.UNSEEN
    assert listing_ends(text.replace("print(len(", "save((")) is Use.UNSEEN
    assert (
        listing_ends(text.replace('print(len(names(".")))', 'return names(".")[0]')) is Use.RETURNED
    )


@pytest.mark.parametrize("name", ["tag", "delay", "path", "timeout", "log", "message"])
def test_a_name_that_sounds_harmless_hides_no_seed_and_no_digest(name: str) -> None:
    seeds = (
        f"import random, time\n\ndef begin():\n    {name} = time.time()\n    random.seed({name})\n"
    )
    hashes = f"import hashlib, time\n\ndef mark():\n    {name} = str(time.time()).encode()\n    return hashlib.sha256({name})\n"
    assert call_of(module_of(seeds), CLOCK).value().use is Use.SEED
    assert call_of(module_of(hashes), CLOCK).value().use is Use.DIGEST


def test_a_file_that_repeats_itself_is_read_to_its_end() -> None:
    lines = "\n".join("    x = time.time()\n    given(x)" for _ in range(400))
    module = module_of(f"import time\n\ndef repeat(given):\n{lines}\n")
    uses = {module.site(node, scope).value().use for node, scope, name in module.calls if name}
    assert uses == {Use.UNSEEN}


def test_what_was_taken_before_the_sorting_was_taken_by_chance() -> None:
    text = """
        import os

        def first(path):
            names = os.listdir(path)
            chosen = names[0]
            names.sort()
            return chosen
        """
    assert listing_ends(text) is Use.RETURNED


@pytest.mark.parametrize(
    ("calls", "expected"), [(1, Use.TELEMETRY), (2, Use.TELEMETRY), (3, Use.UNSEEN)]
)
def test_a_value_is_followed_into_two_calls_and_then_handed_on(calls: int, expected: Use) -> None:
    inner = "".join(
        f"def _into_{at}(value):\n    {f'_into_{at + 1}(value)' if at < calls else 'print(value)'}\n\n"
        for at in range(1, calls + 1)
    )
    text = f"import time\n\n{inner}def step():\n    _into_1({CLOCK})\n"

    assert call_of(module_of(text), CLOCK).value().use is expected


@pytest.mark.parametrize(
    ("calls", "expected"), [(1, Use.TELEMETRY), (2, Use.TELEMETRY), (3, Use.RETURNED)]
)
def test_a_value_is_followed_out_of_two_calls_and_then_returned(calls: int, expected: Use) -> None:
    inner = "".join(
        f"def _out_of_{at}():\n    return {f'_out_of_{at + 1}()' if at < calls else CLOCK}\n\n"
        for at in range(1, calls + 1)
    )
    text = f"import time\n\n{inner}def step():\n    print(_out_of_1())\n"

    assert call_of(module_of(text), CLOCK).value().use is expected
