"""Takes the time through clock_gettime of the C library and writes it to the errors, as a line of a log."""
import ctypes
import logging


class Time(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


libc = ctypes.CDLL(None)


def now():
    time = Time()
    libc.clock_gettime(1, ctypes.byref(time))
    return time.seconds * 1_000_000_000 + time.nanoseconds


logging.basicConfig(format="%(levelname)s %(message)s")
begin = now()
total = sum(n * n for n in range(100000))
logging.warning("summed in %d ns", now() - begin)
print(total)
