"""A profiler, whose clock is read in C, writes how long each function took."""
import cProfile
import json


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def letters(text):
    return {c: text.count(c) for c in set(text)}


profiler = cProfile.Profile()
profiler.enable()
result = fibonacci(18), sorted(letters("determinism and replay" * 50).items())
profiler.disable()

rows = {}
for entry in profiler.getstats():
    code = entry.code
    name = code if isinstance(code, str) else code.co_name
    if name in ("fibonacci", "letters"):
        rows[name] = {"calls": entry.callcount, "seconds": entry.totaltime, "own": entry.inlinetime}
with open("profile.json", "w") as file:
    json.dump(rows, file, sort_keys=True)
print("profiled", sorted(rows), result[0])
