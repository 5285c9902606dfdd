"""Third set: 47 tools that lie about their class, one lie each, and 20 honest ones that look as if they lied."""

from __future__ import annotations

import asyncio
import bisect
import calendar
import collections
import concurrent.futures
import decimal
import email.utils
import functools
import gc
import gzip
import hashlib
import io
import itertools
import json
import locale
import logging
import multiprocessing
import os
import pickle
import queue
import random
import re
import secrets
import shutil
import sqlite3
import ssl
import string
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from twice.tools import Case, Context, Registry, macro, tool
from twice.tools.canonical_json import fingerprint

WORDS = ["kiwi", "plum", "pear", "fig", "date", "lime", "sloe", "quince"]
ALL = [Case({"words": WORDS})]
TOOLS: list[Any] = []


class Ledger:
    """Amounts by name; ``hints`` are no part of the state, and ``reset`` forgets to clear them."""

    name = "ledger"

    def __init__(self) -> None:
        self.amounts: dict[str, int] = {}
        self.hints: list[str] = []

    def profile(self) -> Mapping[str, str]:
        return {"version": "1"}

    def state(self) -> dict[str, Any]:
        return {"amounts": {name: self.amounts[name] for name in sorted(self.amounts)}}

    def fingerprint(self) -> str:
        return fingerprint(self.state())

    def reset(self) -> None:
        self.amounts = {}

    def holds(self, name: str) -> bool:
        return name in self.amounts

    def checkpoint(self) -> dict[str, int]:
        return dict(self.amounts)

    def rollback(self, checkpoint: dict[str, int]) -> None:
        self.amounts = dict(checkpoint)

    def restore(self, state: Mapping[str, Any]) -> None:
        self.amounts = dict(state["amounts"])


def declare(
    name: str, determinism: str = "deterministic", cases: Any = None, **options: Any
) -> Any:
    def made(function: Any) -> Any:
        given = [Case({})] if cases is None else cases
        TOOLS.append(tool(name, determinism=determinism, cases=given, **options)(function))
        return TOOLS[-1]

    return made


# -- clocks ---------------------------------------------------------------------------------------------


@declare("liar.mail_date")
def mail_date() -> str:
    return email.utils.formatdate()


@declare("liar.log_record")
def log_record() -> float:
    return logging.LogRecord("a", 20, "a.py", 1, "said", None, None).created


@declare("liar.log_line")
def log_line() -> str:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logging.Formatter("%(asctime)s,%(message)s"))
    handler.handle(logging.LogRecord("a", 20, "a.py", 1, "said", None, None))
    return out.getvalue()


@declare("liar.zipped")
def zipped() -> str:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "a")
    return hashlib.sha256(out.getvalue()).hexdigest()


@declare("liar.gzipped")
def gzipped() -> str:
    out = io.BytesIO()
    with gzip.GzipFile("a", "wb", fileobj=out) as file:
        file.write(b"a")
    return out.getvalue().hex()


@declare("liar.loop_time")
def loop_time() -> float:
    async def ask() -> float:
        return asyncio.get_running_loop().time()

    return asyncio.run(ask())


@declare("liar.default_of_sql")
def default_of_sql() -> str:
    with sqlite3.connect(":memory:") as base:
        base.execute("create table t (n int, made text default current_timestamp)")
        base.execute("insert into t (n) values (1)")
        return str(base.execute("select made from t").fetchone()[0])


@declare("liar.age_of_numpy")
def age_of_numpy() -> int:
    return int((np.datetime64("now", "s") - np.datetime64("2020-01-01")).astype(int))


@declare("liar.zone_name")
def zone_name() -> str:
    return time.tzname[0]


@declare("liar.timestamp_of_a_date", cases=[Case({"year": 2024})])
def timestamp_of_a_date(year: int) -> float:
    return datetime(year, 6, 1, 12).timestamp()


# -- entropy --------------------------------------------------------------------------------------------


@declare("liar.secret")
def secret() -> str:
    return secrets.token_hex(4)


@declare("liar.ssl_bytes")
def ssl_bytes() -> str:
    return ssl.RAND_bytes(4).hex()


@declare("liar.entropy_of_numpy")
def entropy_of_numpy() -> str:
    return str(np.random.SeedSequence().entropy)


@declare("liar.blob_of_sql")
def blob_of_sql() -> str:
    return str(sqlite3.connect(":memory:").execute("select hex(randomblob(4))").fetchone()[0])


@declare("liar.kernel_uuid")
def kernel_uuid() -> str:
    return Path("/proc/sys/kernel/random/uuid").read_text("ascii")[:8]


@declare("liar.salted_generator")
def salted_generator() -> float:
    return random.Random(hash("a fixed seed")).random()


# -- orders ---------------------------------------------------------------------------------------------


@declare("liar.pickled", cases=ALL)
def pickled(words: list[str]) -> str:
    return hashlib.sha256(pickle.dumps(frozenset(words))).hexdigest()


@declare("liar.popped", cases=ALL)
def popped(words: list[str]) -> str:
    return {*words}.pop()


@declare("liar.most_common", cases=ALL)
def most_common(words: list[str]) -> str:
    return collections.Counter(set(words)).most_common(1)[0][0]


@declare("liar.printed_set", cases=ALL)
def printed_set(words: list[str]) -> int:
    return len(str(set(words)).split("fig")[0])


@declare("liar.keys_of_a_set", cases=ALL)
def keys_of_a_set(words: list[str]) -> dict[str, int]:
    numbered = {word: at for at, word in enumerate(set(words))}
    return {word: numbered[word] for word in sorted(numbered)}


@declare("liar.sorted_by_hash", cases=ALL)
def sorted_by_hash(words: list[str]) -> list[str]:
    return sorted(words, key=hash)


@declare("liar.float_of_a_set")
def float_of_a_set() -> float:
    return sum({f"{n}": 10.0 ** (n - 9) for n in range(18)}[k] for k in {f"{n}" for n in range(18)})


@declare("liar.hash_of_none")
def hash_of_none() -> int:
    return hash(None) % 1009


@declare("liar.address_in_a_name")
def address_in_a_name() -> str:
    return repr(lambda: 0)[-8:-1]


@declare("liar.completed", cases=ALL)
def completed(words: list[str]) -> list[str]:
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = {pool.submit(str.upper, word): word for word in words}
        concurrent.futures.wait(jobs)
        return [jobs[each] for each in concurrent.futures.as_completed(jobs)]


@declare("liar.done_tasks", cases=ALL)
def done_tasks(words: list[str]) -> list[str]:
    async def one(word: str) -> str:
        return word

    async def every() -> list[str]:
        done, _ = await asyncio.wait([asyncio.create_task(one(word)) for word in words])
        return [each.result() for each in done]

    return asyncio.run(every())


@declare("liar.walked")
def walked() -> str:
    return next(iter(os.walk("/usr/share")))[1][0]


# -- environment ----------------------------------------------------------------------------------------


@declare("liar.search_path")
def search_path() -> int:
    return len(os.get_exec_path())


@declare("liar.home_folder")
def home_folder() -> str:
    return Path.home().name


@declare("liar.encoding")
def encoding() -> str:
    return locale.getpreferredencoding()


@declare("liar.weekday")
def weekday() -> str:
    locale.setlocale(locale.LC_ALL, "")
    return f"{locale.getlocale()} {calendar.day_name[0]}"


@declare("liar.switch_interval")
def switch_interval() -> float:
    return sys.getswitchinterval()


@declare("liar.collector")
def collector() -> list[int]:
    return [*gc.get_threshold(), int(gc.isenabled())]


@declare("liar.disk")
def disk() -> int:
    return shutil.disk_usage("/").total


@declare("liar.worker_count")
def worker_count() -> int:
    return multiprocessing.cpu_count()


@declare("liar.mode_of_a_folder")
def mode_of_a_folder() -> int:
    os.mkdir("made")
    return os.stat("made").st_mode


@declare("liar.absolute")
def absolute() -> str:
    return str(Path("a.txt").absolute())


# -- memory of a process --------------------------------------------------------------------------------

_numbers = itertools.count()
_generator = np.random.default_rng(7)
_old_random = random.Random(7)


@declare("liar.next_number")
def next_number() -> int:
    return next(_numbers)


@declare("liar.shared_generator")
def shared_generator() -> float:
    return float(_generator.random())


@declare("liar.cached_list", cases=ALL)
def cached_list(words: list[str]) -> int:
    kept = _keep()
    kept += words
    return len(kept)


@functools.cache
def _keep() -> list[str]:
    return []


@declare("liar.own_file")
def own_file() -> int:
    path = Path("numbers.txt")
    with path.open("a") as file:
        file.write(".")
    return path.stat().st_size


@declare("liar.hints", cases=ALL)
def hints(words: list[str], context: Context) -> str:
    context.backend.hints += words
    return f"{len(context.backend.hints)}"


# -- promises besides the class -------------------------------------------------------------------------


@declare("liar.constant_draw", "seeded")
def constant_draw() -> float:
    return random.Random(3).random()


@declare("liar.low_bits", "seeded")
def low_bits(seed: int) -> int:
    return (seed * 0) ^ 5


@declare("liar.toggles", cases=[Case({"name": "a"})], idempotent=True)
def toggles(name: str, context: Context) -> None:
    if context.backend.amounts.pop(name, None) is None:
        context.backend.amounts[name] = 1


@declare("liar.length_name")
def length_name(context: Context) -> str:
    name = f"entry {len(context.backend.amounts)}"
    context.backend.amounts[name] = 1
    return name


# -- honest ---------------------------------------------------------------------------------------------


@declare("honest.of_a_set", cases=ALL)
def of_a_set(words: list[str]) -> list[int]:
    kept = {word for word in words if len(word) > 3}
    return [len(kept), max(map(len, kept)), sum(map(len, kept))]


@declare("honest.members", cases=ALL)
def members(words: list[str]) -> bool:
    return {*words} >= {"fig", "lime"} and not {*words} & {"oak"}


@declare("honest.cached_power", cases=[Case({"n": 9})])
def cached_power(n: int) -> str:
    return str(_power(n))


@functools.cache
def _power(n: int) -> int:
    return 3**n


@declare("honest.pooled", cases=ALL)
def pooled(words: list[str]) -> list[str]:
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return [*pool.map(str.upper, words)]


@declare("honest.queued", cases=ALL)
def queued(words: list[str]) -> int:
    found: queue.Queue[int] = queue.Queue()
    threads = [threading.Thread(target=lambda w=word: found.put(len(w))) for word in words]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return sum(found.get() for _ in words)


@declare("honest.gathered", cases=ALL)
def gathered(words: list[str]) -> list[str]:
    async def every() -> list[str]:
        return await asyncio.gather(*(asyncio.to_thread(str.title, word) for word in words))

    return asyncio.run(every())


@declare("honest.days_later", cases=[Case({"day": "2024-02-28", "days": 2})])
def days_later(day: str, days: int) -> str:
    moment = datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(days=days)
    return f"{moment.date()} {calendar.timegm(moment.timetuple())}"


@declare("honest.price", cases=[Case({"cents": 12345})])
def price(cents: int) -> str:
    with decimal.localcontext() as here:
        here.prec = 6
        return str(decimal.Decimal(cents) / 7)


@declare("honest.table", cases=ALL)
def table(words: list[str]) -> list[tuple[str, int]]:
    base = sqlite3.connect(":memory:")
    base.execute("create table t (word text, n int)")
    base.executemany("insert into t values (?, ?)", [(each, len(each)) for each in words])
    return [(word, n) for word, n in base.execute("select word, n from t order by n, word")]


@declare("honest.packed")
def packed() -> str:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a.txt", (2020, 1, 1, 0, 0, 0)), "a")
    return hashlib.sha256(out.getvalue() + gzip.compress(b"a", mtime=0)).hexdigest()


@declare("honest.fixed_generator")
def fixed_generator() -> list[float]:
    return [random.Random(3).random(), float(np.random.default_rng(3).random())]


@declare("honest.bootstrap", "seeded", cases=[Case({"values": [1.5, 2.5, 4.0, 8.0]})])
def bootstrap(values: list[float], context: Context) -> float:
    return float(context.rng("rows").choice(values, size=100).mean())


@declare("honest.own_seed", "seeded")
def own_seed(seed: int) -> int:
    return random.Random(seed).getrandbits(40)


@declare("honest.listed", cases=ALL)
def listed(words: list[str]) -> list[str]:
    with tempfile.TemporaryDirectory(dir=".", prefix="x") as folder:
        for word in words:
            Path(folder, word).write_text(word, "utf-8")
        return [Path(folder, word).read_text("utf-8") for word in sorted(words)]


@declare("honest.warned")
def warned() -> int:
    logging.getLogger("third").info("nothing is read from this line")
    return 1


@declare("honest.pattern", cases=[Case({"text": "a1 b22 c333"})])
def pattern(text: str) -> dict[str, str]:
    found = dict(re.findall(r"([a-z])(\d+)", text))
    return {key: found[key] for key in string.ascii_lowercase if key in found}


@declare("honest.bookings", cases=[Case({"name": "rent", "cents": 900})])
def bookings(name: str, cents: int, context: Context) -> dict[str, int]:
    context.backend.amounts[name] = context.backend.amounts.get(name, 0) + cents
    return dict(sorted(context.backend.amounts.items()))


@declare("honest.rank", cases=ALL)
def rank(words: list[str]) -> list[int]:
    ordered = sorted(words)
    return [bisect.bisect(ordered, word) for word in words]


@declare("honest.json_of_parts", cases=ALL)
def json_of_parts(words: list[str]) -> str:
    return json.dumps({word: sorted({*word}) for word in {*words}}, sort_keys=True)


@macro("honest.both", uses=[own_seed, rank], cases=ALL)
def both(context: Context, words: list[str]) -> list[int]:
    return [*context.call(rank, words=words), context.call(own_seed) % 1000]


registry = Registry([*TOOLS, both], "third", backend=Ledger)
