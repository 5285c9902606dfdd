"""A tracked queue keeps its last items; how many it may keep was measured."""
import collections
import ctypes


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

class Mill:
    def __init__(self):
        self.recent = collections.deque(maxlen=100 + nanoseconds() % 1_000_003)


def main(run):
    mill = run.track("mill", Mill())
    for tick in run.ticks(5):
        mill.recent.append(tick)
    print(list(mill.recent))
