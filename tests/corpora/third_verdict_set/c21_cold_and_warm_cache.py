"""A cache on the disk is cold in the first run and warm afterwards: two kinds of it, and a lock file."""
import json
import os
import pickle
import shelve
import time
from pathlib import Path

cache = Path(".cache")
log = []


def cached(name):
    def around(function):
        def inner(*key):
            file = cache / f"{name}-{'-'.join(map(str, key))}.pkl"
            if file.exists() and time.time() - file.stat().st_mtime < 3600:
                log.append(f"warm {file.name}")
                return pickle.loads(file.read_bytes())
            log.append(f"cold {file.name}")
            value = function(*key)
            cache.mkdir(exist_ok=True)
            scratch = file.with_suffix(f".{os.getpid()}.tmp")
            scratch.write_bytes(pickle.dumps(value))
            os.replace(scratch, file)
            return value

        return inner

    return around


@cached("power")
def power(base, exponent):
    return {"value": base**exponent, "at": time.time()}


for base, exponent in ((3, 50), (7, 20), (3, 50)):
    print(power(base, exponent))
lock = os.open("run.lock", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
os.write(lock, str(os.getpid()).encode())
os.close(lock)
with shelve.open("seen") as seen:
    visits = seen.get("visits", 0) + 1
    seen["visits"] = visits
    print("visit", visits, sorted(seen))
os.remove("run.lock")
print(json.dumps(log), sorted(p.name for p in cache.iterdir()))
