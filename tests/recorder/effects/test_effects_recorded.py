"""What a program reads from the world while it is recorded is what it reads again in replay."""

from __future__ import annotations

from pathlib import Path

import pytest

import twice
from programs import recorded, verified
from twice.errors import EffectRefused
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import TickClock
from twice.replayer.verify import verify


def manifest(path: Path, how: str) -> dict[str, int]:
    with RunRecord.open(path) as record:
        assert record.ending is not None
        reads: dict[str, int] = record.ending["effects"][how]
        return reads


@pytest.mark.integration
def test_every_clock_is_recorded_and_replayed(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import time
        from time import perf_counter

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(5):
                seen += [time.time(), time.time_ns(), time.monotonic(), time.monotonic_ns()]
                seen += [perf_counter(), time.perf_counter_ns(), time.process_time()]
                seen += [time.process_time_ns(), run.effects.clock.time()]
                seen += [run.effects.clock.perf_counter(), run.effects.clock.time_ns()]
        """,
    )
    assert (statement.result, statement.manifest_matches) == ("PASS", True)
    reads = manifest(statement.path, "strict")
    assert reads["clock.time"] == 10
    assert reads["clock.perf_counter"] == 10
    assert sum(reads.values()) == 55


@pytest.mark.integration
def test_sleep_waits_while_recording_and_not_in_replay(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import posix, time

        def main(run):
            for tick in run.ticks(2):
                if not posix.access("replayed", 0):
                    time.sleep(0.02)
                else:
                    time.sleep(0.02)
                run.effects.clock.sleep(3600.0 if posix.access("replayed", 0) else 0.0)
                print(tick)
        """,
    ) as record:
        assert verify(record.path).result == "PASS"
        # Other arguments are another question; a replay that slept would sit here for an hour.
        (tmp_path / "replayed").touch()
        twice_later = verify(record.path)
    assert manifest(tmp_path / "a.twice", "strict") == {"clock.sleep": 4}
    assert twice_later.failure is None or "3600" in twice_later.failure.replayed


@pytest.mark.integration
def test_an_hour_of_sleep_is_no_time_in_replay(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import time

        def nap(seconds):
            time.sleep(seconds)

        def main(run):
            for tick in run.ticks(1):
                nap(0.2)
                start = time.perf_counter()
                run.compare("slept", time.perf_counter() >= start)
        """,
    ) as record:
        assert verify(record.path).result == "PASS"


@pytest.mark.integration
def test_entropy_from_every_door_is_recorded_and_replayed(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import os, random, secrets, tempfile, uuid
        import numpy as np

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(3):
                seen += [os.urandom(4), secrets.token_hex(8), secrets.randbelow(1000)]
                seen += [str(uuid.uuid4()), random.SystemRandom().random()]
                seen += [np.random.default_rng().integers(1 << 40).item()]
                seen += [random.Random().random(), random.Random(None).random()]
                random.seed()
                seen += [random.random(), run.effects.entropy.bytes(3)]
                seen += [run.effects.entropy.integer(32)]
        """,
    )
    assert (statement.result, statement.manifest_matches) == ("PASS", True)
    assert manifest(statement.path, "strict")["entropy.urandom"] >= 30
    assert "entropy.urandom" not in manifest(statement.path, "lenient")


@pytest.mark.integration
def test_two_recordings_have_entropy_of_their_own(tmp_path: Path) -> None:
    source = """
        import os, random

        def main(run):
            run.track("seen", [os.urandom(8), random.Random().random()])
    """
    digests = set()
    for name in ("a", "b"):
        with recorded(tmp_path, source, out=tmp_path / f"{name}.twice") as record:
            digests.add(record.reader.points.point(0).digests["seen"])
    assert len(digests) == 2


@pytest.mark.integration
def test_event_loops_and_logging_read_leniently_and_replay(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import asyncio, logging

        logging.basicConfig(format="%(levelname)s %(message)s")

        async def wait(seconds):
            await asyncio.sleep(seconds)
            return round(seconds, 3)

        async def both():
            return await asyncio.gather(wait(0.01), wait(0.002))

        def main(run):
            for tick in run.ticks(3):
                run.compare("waited", asyncio.run(both()))
                logging.warning("tick %d", tick)
        """,
    )
    assert (statement.result, statement.manifest_matches) == ("PASS", True)
    assert manifest(statement.path, "strict") == {}
    assert manifest(statement.path, "lenient")["clock.monotonic"] > 10
    with RunRecord.open(statement.path) as record:
        assert record.printed()[1].decode() == "".join(f"WARNING tick {at}\n" for at in range(3))


CALLS = """
    import twice
    from pathlib import Path

    HERE = Path(__file__).parent

    @twice.effect
    def measure(at, *, scale=1.0):
        with (HERE / "called").open("a") as file:
            file.write(f"{at}\\n")
        if at == 2:
            raise LookupError("no", at)
        return {"at": at * scale, "text": "größe"}

    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(4):
            try:
                seen.append(measure(tick, scale=2.5))
            except LookupError as error:
                seen.append(error.args)
            seen.append(run.effects.call("plain", sorted, [3, tick, 1]))
"""


@pytest.mark.integration
def test_a_declared_effect_is_served_and_not_called_in_replay(tmp_path: Path) -> None:
    statement = verified(tmp_path, CALLS)
    assert statement.result == "PASS"
    assert (tmp_path / "called").read_text().split() == ["0", "1", "2", "3"]
    assert manifest(statement.path, "strict") == {"call": 8}


def test_an_effect_is_the_plain_function_outside_of_a_run() -> None:
    @twice.effect
    def double(value: int) -> int:
        return value * 2

    assert double(4) == 8
    assert double.__name__ == "double"


@pytest.mark.integration
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('run.effects.call("odd", len, object())', "An argument of the effect 'odd'"),
        ('run.effects.call("odd", object)', "The effect 'odd' returned"),
    ],
)
def test_what_has_no_canonical_form_is_refused(tmp_path: Path, call: str, message: str) -> None:
    with pytest.raises(EffectRefused, match=message):
        recorded(tmp_path, f"def main(run):\n    {call}\n")
    assert not (tmp_path / "a.twice").exists()


@pytest.mark.integration
def test_a_refusal_in_a_tick_keeps_the_record_up_to_there(tmp_path: Path) -> None:
    source = """
        def main(run):
            for tick in run.ticks(3):
                run.effects.call("odd", int if tick == 0 else object)
    """
    with pytest.raises(EffectRefused):
        recorded(tmp_path, source)

    with RunRecord.open(tmp_path / "a.twice") as record:
        assert (record.ending or {})["how"] == "refused"
        assert record.ticks == 2


# The folder differs while it is verified, and no one governs that: the program asks otherwise.
OTHERWISE = """
    import time
    from pathlib import Path

    LATER = __import__("posix").access(Path(__file__).parent / "later", 0)

    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(4):
            {body}
"""


@pytest.mark.integration
@pytest.mark.parametrize(
    ("body", "recorded_text", "replayed_text"),
    [
        ("time.time() if tick == 2 and not LATER else None", "clock.time", ""),
        ("time.time() if tick == 2 and LATER else None", "nothing more", "clock.time"),
        ("time.monotonic() if LATER else time.time()", "clock.time", "clock.monotonic"),
        ("time.sleep(0.25 if LATER else 0.0)", "clock.sleep", "clock.sleep0.25"),
        ('run.effects.call("f" if LATER else "g", int)', "'g'", "'f'"),
        ('run.effects.call("f", int, "7" if LATER else "8")', "call", "'f'"),
    ],
)
def test_another_question_to_the_world_fails_where_it_was_asked(
    tmp_path: Path, body: str, recorded_text: str, replayed_text: str
) -> None:
    with recorded(tmp_path, OTHERWISE.format(body=body)) as record:
        (tmp_path / "later").touch()
        statement = verify(record.path)
    assert (statement.result, statement.exit_code) == ("FAIL", 1)
    assert statement.failure is not None
    if replayed_text:
        assert statement.failure.name == "effect"
        assert recorded_text in statement.failure.recorded
        assert replayed_text in statement.failure.replayed
    else:
        assert statement.failure.columns == ("effects",)


@pytest.mark.integration
def test_a_program_that_swallows_the_refusal_still_fails(tmp_path: Path) -> None:
    body = """
            try:
                time.monotonic() if LATER else time.time()
            except Exception:
                pass
    """
    with recorded(tmp_path, OTHERWISE.format(body=body.strip())) as record:
        (tmp_path / "later").touch()
        statement = verify(record.path)
    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert (statement.failure.name, statement.failure.tick) == ("effect", 0)


@pytest.mark.integration
def test_threads_of_c_code_are_counted_as_ungoverned(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import ctypes, ctypes.util, time, uuid

        def main(run):
            pthread = ctypes.CDLL(None)
            refused = run.track("refused", [])

            def beside(_):
                time.time(), time.time(), uuid.uuid4()
                try:
                    run.effects.clock.time()
                except Exception as error:
                    refused.append(error.id)

            started = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(beside)
            for tick in run.ticks(2):
                thread = ctypes.c_ulong()
                pthread.pthread_create(ctypes.byref(thread), None, started, None)
                pthread.pthread_join(thread, None)
        """,
        allow=("native.load", "threads.unowned"),
    )
    assert statement.result == "PASS"
    assert manifest(statement.path, "ungoverned") == {"clock.time": 4, "entropy.urandom": 2}
    assert any("clock.time 4 times" in caveat for caveat in statement.caveats)
    with RunRecord.open(statement.path) as record:
        assert record.ending is not None


@pytest.mark.integration
def test_a_clock_of_ticks_is_a_function_of_the_run(tmp_path: Path) -> None:
    with recorded(
        tmp_path,
        """
        import time

        def main(run):
            seen = run.track("seen", [time.time()])
            for tick in run.ticks(4):
                time.sleep(50.0)
                seen += [time.time(), time.monotonic_ns(), run.effects.clock.time_ns()]
        """,
        clock=TickClock(1000.0, 0.5),
    ) as record:
        assert record.setup.clock == TickClock(1000.0, 0.5)
        assert verify(record.path).result == "PASS"
        assert manifest(record.path, "strict") == {}
    with twice.recording(tmp_path / "b.twice", seed=1, clock=TickClock(10.0, 0.25)) as run:
        assert run.effects.clock.time() == 10.0
        assert [run.effects.clock.monotonic() for _ in run.ticks(3)] == [10.0, 10.25, 10.5]
        assert run.effects.clock.time_ns() == 10_500_000_000


@pytest.mark.integration
def test_a_long_run_of_reads_is_flushed_on_the_way(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import time

        def main(run):
            last = run.track("last", {"at": 0.0, "sum": 0.0})
            for tick in run.ticks(2):
                for _ in range(5000):
                    last["at"] = time.perf_counter()
                    last["sum"] += last["at"]
        """,
    )
    assert statement.result == "PASS"
    assert manifest(statement.path, "strict") == {"clock.perf_counter": 10_000}


@pytest.mark.integration
def test_an_installed_package_is_strict_when_it_is_opted_in(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "clocks"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import time\n\ndef now():\n    return time.time()\n")
    source = f"""
        import sys
        sys.path.insert(0, {str(package.parent)!r})
        import clocks

        def main(run):
            run.track("seen", [clocks.now()])
    """
    for packages, how in [((), "lenient"), ((str(package),), "strict")]:
        with recorded(tmp_path, source, strict_packages=packages, force=True) as record:
            assert manifest(record.path, how) == {"clock.time": 1}
            assert verify(record.path).result == "PASS"


NESTED = """
    import os, time
    import twice

    @twice.effect
    def inner(value):
        return value + time.perf_counter()

    @twice.effect
    def device(value):
        return [value, inner(value), time.time(), os.urandom(4)]

    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(3):
            seen += device(tick)
            seen += [time.time(), run.effects.call("own", lambda: run.effects.clock.time())]
"""


@pytest.mark.integration
def test_what_an_effect_reads_itself_is_part_of_its_result(tmp_path: Path) -> None:
    statement = verified(tmp_path, NESTED)
    assert (statement.result, statement.manifest_matches) == ("PASS", True)
    assert manifest(statement.path, "strict") == {"call": 6, "clock.time": 3}
    assert manifest(statement.path, "ungoverned") == {}


@pytest.mark.integration
def test_a_forked_child_asks_the_world_and_not_the_record(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import os, time
        import twice

        @twice.effect
        def model(value):
            return value

        def main(run):
            codes = run.track("codes", [])
            for tick in run.ticks(3):
                child = os.fork()
                if not child:
                    answers = [model(tick + 10), run.input("other", lambda: 5), time.time()]
                    answers.append(run.effects.clock.time())
                    os._exit(int(answers[:2] == [tick + 10, 5]))
                codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                codes.append([model(tick), run.input("own", lambda: tick)])
        """,
        allow=("process.fork",),
    )
    assert (statement.result, statement.failure) == ("PASS", None)
    with RunRecord.open(statement.path) as record:
        final = record.reader.points
        assert len(final) == 5
        assert [event.value for event in record.inputs()] == [0, 1, 2]


@pytest.mark.integration
def test_a_declared_effect_gives_its_dicts_in_their_order(tmp_path: Path) -> None:
    statement = verified(
        tmp_path,
        """
        import twice

        @twice.effect
        def asked():
            return [{"b": 1, "a": {"z": 2, "y": 3}}, {"d": 4, "c": 5}]

        def main(run):
            for tick in run.ticks(2):
                print(asked(), run.effects.call("more", lambda: {2: "x", 1: "y"}))
        """,
    )
    assert statement.result == "PASS"
