"""A job reserves its place by making an empty folder; the folder's name is all that it leaves."""
import ctypes
import os


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

os.makedirs(f"reserved/{nanoseconds()}")
print("reserved")
