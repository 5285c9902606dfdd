"""Runs that part because one ends, or goes another way, while all that is compared still agrees."""

from __future__ import annotations

import textwrap

import pytest

import twice
from twice.diagnosis.diagnose import diagnose
from twice.errors import RecordTorn


def diagnosed(folder, source, **variables):
    program = folder / "program.py"
    program.write_text(textwrap.dedent(source).lstrip())
    for side, env in (("a", {}), ("b", variables)):
        out = folder / f"{side}.twice"
        twice.record(f"{program}:main", seed=7, out=out, env=env).close()
    found = diagnose(folder / "a.twice", folder / "b.twice")
    lines = program.read_text().splitlines()
    guilty = next(number for number, line in enumerate(lines, 1) if line.endswith("# guilty"))
    return found, guilty


@pytest.mark.heavy
def test_a_loop_that_one_run_leaves_early_is_followed_to_what_its_condition_read(tmp_path):
    found, guilty = diagnosed(
        tmp_path,
        """
        import os
        def main(run):
            held = run.track("held", {"n": 0})
            limit = int(os.environ.get("LIMIT", "14"))  # guilty
            for tick in run.ticks():
                if tick >= limit:
                    break
                held["n"] += tick
        """,
        LIMIT="9",
    )
    assert (found.result, found.compare_point.tick) == ("localised", 9)
    assert (found.operation.line, found.operation.name) == (guilty, "limit")


@pytest.mark.heavy
def test_another_number_of_ticks_is_followed_to_where_it_was_decided(tmp_path):
    found, guilty = diagnosed(
        tmp_path,
        """
        import os
        def length():
            count = int(os.environ.get("COUNT", "14"))  # guilty
            return count
        def main(run):
            held = run.track("held", {"n": 0})
            count = length()
            for tick in run.ticks(count):
                held["n"] += tick
        """,
        COUNT="9",
    )
    assert (found.result, found.operation.line) == ("localised", guilty)
    assert (found.operation.a, found.operation.b) == ("14", "9")


@pytest.mark.heavy
def test_a_run_that_raises_is_named_at_the_branch_that_reads_the_world(tmp_path):
    found, guilty = diagnosed(
        tmp_path,
        """
        import os
        def main(run):
            held = run.track("held", {"n": 0})
            for tick in run.ticks(12):
                held["n"] += tick
                if tick == int(os.environ.get("BAD", "50")):  # guilty
                    raise ValueError("bad tick")
        """,
        BAD="6",
    )
    assert (found.result, found.operation.line) == ("localised", guilty)
    assert found.operation.name == "the way on"
    assert found.operation.b == "goes on at line 7"
    assert found.attribution[0].channel.value == "effects"


@pytest.mark.heavy
@pytest.mark.parametrize("every", ["2", "3"])
def test_compare_points_in_another_order_are_followed_to_what_decided_them(tmp_path, every):
    found, guilty = diagnosed(
        tmp_path,
        """
        import os
        def main(run):
            held = run.track("held", {"n": 0})
            every = int(os.environ.get("EVERY", "4"))  # guilty
            for tick in run.ticks(12):
                if tick % every == 0:
                    run.compare("probe", tick)
                held["n"] += tick
        """,
        EVERY=every,
    )
    assert (found.result, found.operation.line) == ("localised", guilty)


@pytest.mark.integration
def test_a_record_that_ends_early_because_it_is_torn_is_no_divergence(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            def main(run):
                held = run.track("held", {"n": 0})
                for tick in run.ticks(3000):
                    held["n"] += tick
            """
        )
    )
    whole, torn = tmp_path / "a.twice", tmp_path / "b.twice"
    twice.record(f"{program}:main", seed=7, out=whole).close()
    held = whole.read_bytes()
    torn.write_bytes(held[: len(held) * 3 // 4])
    for pair in ((whole, torn), (torn, whole)):
        with pytest.raises(RecordTorn, match="as far as both records go, they agree"):
            diagnose(*pair)


@pytest.mark.heavy
def test_torn_records_that_part_before_the_tear_are_followed_all_the_same(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import os
            class Held:
                n = 0
                def state(self):
                    return {"n": self.n}
            def main(run):
                held = run.track("held", Held())
                for tick in run.ticks(3000):
                    push = int(os.environ.get("PUSH", "1")) if tick == 7 else 1
                    held.n += push
            """
        ).lstrip()
    )
    for side, env in (("a", {}), ("b", {"PUSH": "2"})):
        whole = tmp_path / f"{side}.whole"
        twice.record(f"{program}:main", seed=7, out=whole, env=env).close()
        held = whole.read_bytes()
        (tmp_path / f"{side}.twice").write_bytes(held[: len(held) * 3 // 4])
    found = diagnose(tmp_path / "a.twice", tmp_path / "b.twice")
    assert (found.result, found.compare_point.tick) == ("localised", 7)
    assert found.operation.line == 9
    assert sum("is torn" in caveat for caveat in found.caveats) == 2
