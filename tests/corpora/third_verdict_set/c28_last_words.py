"""A meter that a module's global holds until the very end prints its reading when the interpreter takes it down."""
import ctypes
import sys


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

class Meter:
    def __init__(self, stream):
        self.stream = stream
        self.read = nanoseconds
        self.cycle = self

    def __del__(self):
        self.stream.write(f"last reading {self.read()}\n")
        self.stream.flush()


sys.modules["meter_of_this_program"] = Meter(sys.stdout)
print("measuring")
