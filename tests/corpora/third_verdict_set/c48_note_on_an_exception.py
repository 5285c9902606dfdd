"""The run ends with an exception; its message is always the same, and a note on it holds what was measured."""
import ctypes


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

def load(row):
    try:
        return 10 // row
    except ZeroDivisionError as error:
        error.add_note(f"row {row} was read at {nanoseconds()}")
        raise


print([load(row) for row in (5, 2)])
load(0)
