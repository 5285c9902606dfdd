"""Each way of reading entropy or a clock is governed: recorded, it replays with the very same value.

All probes are read in one run, one column each, so that one verification judges them one by one. Two runs
without governing show that the probe would have differed; where it would not, why is said.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from programs import recorded
from twice.errors import EffectRefused
from twice.replayer.verification import Verification
from twice.replayer.verify import verify

ENTROPY = {
    "os.urandom": "os.urandom(16)",
    "/dev/urandom": "open('/dev/urandom', 'rb').read(8)",
    "kernel uuid": "open('/proc/sys/kernel/random/uuid').read()",
    "os.getrandom": "os.getrandom(16)",
    "secrets.token_bytes": "secrets.token_bytes(16)",
    "secrets.token_hex": "secrets.token_hex()",
    "secrets.token_urlsafe": "secrets.token_urlsafe()",
    "secrets.randbits": "secrets.randbits(64)",
    "secrets.randbelow": "secrets.randbelow(10**18)",
    "secrets.choice": "secrets.choice(range(10**18))",
    "SystemRandom.random": "random.SystemRandom().random()",
    "SystemRandom.getrandbits": "random.SystemRandom().getrandbits(64)",
    "SystemRandom.shuffle": "shuffled(random.SystemRandom())",
    "random.Random()": "random.Random().random()",
    "random.seed()": "(random.seed(), random.random())[1]",
    "Random(x).seed()": "reseeded(random.Random(1))",
    "random.random": "random.random()",
    "uuid.uuid1": "str(uuid.uuid1())",
    "uuid.uuid4": "str(uuid.uuid4())",
    "tempfile.mktemp": "tempfile.mktemp()",
    "tempfile names": "next(tempfile._get_candidate_names())",
    "ssl.RAND_bytes": "ssl.RAND_bytes(16)",
    "email.utils.make_msgid": "email.utils.make_msgid(domain='here')",
    "email boundary": "email.generator._make_boundary()",
    "blake2b with a salt": "hashlib.blake2b(b'', salt=os.urandom(16)).hexdigest()",
    "scrypt with a salt": "hashlib.scrypt(b'', salt=secrets.token_bytes(8), n=2, r=1, p=1)",
    "hmac with a key": "hmac.new(secrets.token_bytes(16), b'', 'sha256').hexdigest()",
    "hash of a text": "hash('text')",
    "order of a set": "list({f'member {n}' for n in range(40)})",
    "numpy default_rng()": "int(np.random.default_rng().integers(2**62))",
    "numpy SeedSequence()": "np.random.SeedSequence().entropy",
    "numpy PCG64()": "int(np.random.PCG64().random_raw())",
    "numpy Philox()": "int(np.random.Philox().random_raw())",
    "numpy SFC64()": "int(np.random.SFC64().random_raw())",
    "numpy MT19937()": "int(np.random.MT19937().random_raw())",
    "numpy RandomState()": "float(np.random.RandomState().rand())",
    "numpy random.seed()": "(np.random.seed(), float(np.random.rand()))[1]",
    "numpy random.rand": "float(np.random.rand())",
    "torch.seed": "torch.seed()",
    "torch.initial_seed": "torch.initial_seed()",
    "torch.Generator().seed": "torch.Generator().seed()",
    "torch.rand": "float(torch.rand(1))",
    "torch.randperm": "torch.randperm(30).tolist()",
    "jax key of the clock": "np.asarray(jax.random.PRNGKey(time.time_ns() % 2**31)).tolist()",
}
CLOCKS = {
    "time.time": "time.time()",
    "time.time_ns": "time.time_ns()",
    "time.monotonic": "time.monotonic()",
    "time.monotonic_ns": "time.monotonic_ns()",
    "time.perf_counter": "time.perf_counter()",
    "time.perf_counter_ns": "time.perf_counter_ns()",
    "time.process_time": "time.process_time()",
    "time.process_time_ns": "time.process_time_ns()",
    "time.thread_time": "time.thread_time()",
    "time.thread_time_ns": "time.thread_time_ns()",
    "time.clock_gettime": "time.clock_gettime(time.CLOCK_BOOTTIME)",
    "time.clock_gettime_ns": "time.clock_gettime_ns(time.CLOCK_REALTIME)",
    "time.localtime": "tuple(time.localtime())",
    "time.gmtime": "tuple(time.gmtime())",
    "time.ctime": "time.ctime()",
    "time.asctime": "time.asctime()",
    "time.strftime": "time.strftime('%Y-%m-%d %H:%M:%S')",
    "time.get_clock_info": "time.get_clock_info('time').resolution",
    "datetime.now": "datetime.datetime.now().isoformat()",
    "datetime.now(UTC)": "datetime.datetime.now(datetime.timezone.utc).isoformat()",
    "datetime.utcnow": "quietly(datetime.datetime.utcnow).isoformat()",
    "datetime.today": "datetime.datetime.today().isoformat()",
    "date.today": "datetime.date.today().isoformat()",
    "os.times": "tuple(os.times())",
    "resource.getrusage": "tuple(resource.getrusage(resource.RUSAGE_SELF))",
    "logging": "logging.LogRecord('', 0, '', 0, '', (), None).created",
    "logging.Formatter": "logging.Formatter('%(asctime)s').format(logging.makeLogRecord({}))",
    "email.utils.formatdate": "email.utils.formatdate()",
    "email.utils.localtime": "email.utils.localtime().isoformat()",
    "http.cookiejar": "http.cookiejar.time2isoz()",
    "uuid.uuid1().time": "uuid.uuid1().time",
    "timeit.default_timer": "timeit.default_timer()",
    "os.getpid in eval": "os.getpid()",
    "a dataclass's factory": "Stamped().at",
    "loop.time": "loop_time()",
    "sched.scheduler": "sched.scheduler().timefunc()",
    "numpy of a clock": "int(np.datetime64(time.time_ns(), 'ns').astype(int))",
}
SAME_ANYWAY = {
    "time.get_clock_info": "a property of the machine",
    "date.today": "both runs are made on one day",
    "hash of a text": "PYTHONHASHSEED may be set where the tests run",
    "order of a set": "PYTHONHASHSEED may be set where the tests run",
}
HEAVY = {"torch": find_spec("torch"), "jax": find_spec("jax")}
"""Libraries that are large, and may not be installed: their probes are skipped then."""
SOURCE = """
import asyncio, contextlib, dataclasses, datetime, email.generator, email.utils, hashlib, hmac, http.cookiejar
import logging, os, random, resource, sched, secrets, ssl, tempfile, time, timeit, uuid, warnings
import numpy as np
with contextlib.suppress(ImportError):
    import jax
with contextlib.suppress(ImportError):
    import torch

def shuffled(rng):
    values = list(range(30))
    rng.shuffle(values)
    return values

def reseeded(rng):
    rng.seed()
    return rng.random()

def quietly(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function()

def loop_time():
    loop = asyncio.new_event_loop()
    try:
        return loop.time()
    finally:
        loop.close()

@dataclasses.dataclass
class Stamped:
    at: float = dataclasses.field(default_factory=time.time)

PROBES = {probes!r}

def read():
    return {{name: eval(code) for name, code in PROBES.items()}}

def main(run):
    seen = {{name: [] for name in PROBES}}
    for name, values in seen.items():
        run.track(name, values)
    for tick in run.ticks(2):
        for name, value in read().items():
            seen[name].append(value)

if __name__ == "__main__":
    import json
    print(json.dumps({{name: repr(value) for name, value in read().items()}}))
"""


def lacks(name: str) -> str:
    """Return the library that a probe needs and that is not installed; empty for none."""
    library = name.partition(".")[0].partition(" ")[0]
    return library if library in HEAVY and HEAVY[library] is None else ""


@dataclass(frozen=True)
class Probed:
    """What all probes gave without governing, twice, and whether each replayed when governed."""

    loose: list[dict[str, str]]
    statement: Verification


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Probed:
    """One run of all probes, verified, between two that nobody governs."""
    folder = tmp_path_factory.mktemp("probes")
    probes = {name: code for name, code in {**ENTROPY, **CLOCKS}.items() if not lacks(name)}
    source = SOURCE.format(probes=probes)
    (folder / "loose.py").write_text(source, encoding="utf-8")
    loose = []

    def run_loose() -> None:
        command = [sys.executable, str(folder / "loose.py")]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        loose.append(json.loads(done.stdout))

    run_loose()
    second = int(time.time())
    with recorded(folder, source) as record:
        statement = verify(record.path)
    while int(time.time()) == second:  # the resolution of some clocks
        threading.Event().wait(0.05)
    run_loose()
    return Probed(loose, statement)


@pytest.mark.integration
@pytest.mark.parametrize("name", [*ENTROPY, *CLOCKS])
def test_a_probe_replays_with_the_same_value(name: str, probed: Probed) -> None:
    if lacks(name):
        pytest.skip(f"{lacks(name)} is not installed: pip install -e '.[heavy]'")
    failed = () if probed.statement.failure is None else probed.statement.failure.columns
    assert name not in failed
    if name not in SAME_ANYWAY:
        assert probed.loose[0][name] != probed.loose[1][name]


def test_all_probes_together_pass(probed: Probed) -> None:
    assert probed.statement.failure is None
    assert probed.statement.result == "PASS"


@pytest.mark.integration
@pytest.mark.parametrize(
    ("code", "source"),
    [
        ("str(np.datetime64('now'))", "clock.numpy"),
        ("str(np.datetime64('today'))", "clock.numpy"),
    ],
)
def test_a_probe_that_cannot_be_recorded_is_named_and_does_not_pass(
    code: str, source: str, tmp_path: Path
) -> None:
    program = f"""
        import os
        from pathlib import Path
        import numpy as np

        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(1):
                seen.append({code})
    """
    with recorded(tmp_path, program) as record:
        assert record.ending is not None
        found = {row["source"]: row for row in record.ending["inventory"]}
        statement = verify(record.path)
    assert (found[source]["class"], found[source]["first"]) == ("unsupported", "program.py:9")
    assert statement.result in {"FAIL", "UNKNOWN"}


@pytest.mark.integration
def test_a_bare_descriptor_of_a_device_of_entropy_is_refused_at_once(tmp_path: Path) -> None:
    program = """
        import os

        def main(run):
            os.read(os.open('/dev/random', os.O_RDONLY), 8)
    """
    with pytest.raises(EffectRefused, match=r"was opened by os\.open"):
        recorded(tmp_path, program)


@pytest.mark.integration
def test_an_address_that_reaches_the_state_is_a_difference(tmp_path: Path) -> None:
    program = """
        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(1):
                seen.append(id(object()))
    """
    with recorded(tmp_path, program) as record:
        statement = verify(record.path)
    assert statement.result == "FAIL"
    assert statement.failure is not None
    assert statement.failure.columns == ("seen",)
