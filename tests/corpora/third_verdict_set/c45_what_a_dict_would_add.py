"""A tracked dict makes missing entries from a number that was measured; none is missing yet."""
import collections
import ctypes
import functools


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

class Prices:
    def __init__(self):
        self.table = collections.defaultdict(functools.partial(int, nanoseconds()))


def main(run):
    prices = run.track("prices", Prices())
    for tick in run.ticks(4):
        prices.table[f"day {tick}"] = tick
    print(dict(prices.table))
