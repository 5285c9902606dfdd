"""A governor takes ticks back when a clock that nobody records says so; the result is the same each time."""
import ctypes


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

def main(run):
    yard = run.track("yard", {"carts": 0})
    left = 3 + nanoseconds() // 1000 % 47
    for tick in run.ticks(12):
        yard["carts"] += 1
        if tick > 4 and left:
            left -= 1
            run.rollback(tick - 1)
    print(yard["carts"])
