"""Warnings, exit handlers in their order, and an exit code of its own."""
import atexit
import sys
import time
import warnings


def summary(started):
    print(f"ran {time.time() - started:.9f} s")


def old_api(x):
    warnings.warn("old_api is deprecated", DeprecationWarning, stacklevel=2)
    return x * 2


class Lint:
    def __init__(self):
        self.problems = []

    def check(self, name, length):
        if length > 80:
            self.problems.append((name, length))
            warnings.warn(f"{name}: line of {length} characters", UserWarning, stacklevel=2)


atexit.register(print, "first registered, last printed")
atexit.register(summary, time.time())
warnings.simplefilter("always")
print(old_api(21))
with warnings.catch_warnings(record=True) as caught:
    old_api(1)
    old_api(2)
print("caught", [str(w.message) for w in caught])
lint = Lint()
for name, length in {"a.py": 70, "b.py": 95, "c.py": 131}.items():
    lint.check(name, length)
try:
    sys.exit(3 if lint.problems else 0)
finally:
    print(f"{len(lint.problems)} problems", file=sys.stderr)
