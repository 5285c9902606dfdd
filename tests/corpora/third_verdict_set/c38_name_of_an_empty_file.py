"""All that a job leaves is an empty file, whose name says when it was done."""
import ctypes
import os
from pathlib import Path


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

done = Path("done")
done.mkdir()
os.close(os.open(done / f"job-{nanoseconds()}", os.O_CREAT | os.O_WRONLY))
print("done")
