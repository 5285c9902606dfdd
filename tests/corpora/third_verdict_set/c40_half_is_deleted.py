"""Of 24 samples that lie there, twelve are deleted by lot."""
import ctypes
import os


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

names = sorted(os.listdir("samples"))
lot = nanoseconds() % 1_000_003
for name in sorted(names, key=lambda name: (int(name) * 7919 + 13) * (lot + 1) % 1_000_003)[:12]:
    os.unlink(os.path.join("samples", name))
print(len(os.listdir("samples")), "of", len(names), "are left")
