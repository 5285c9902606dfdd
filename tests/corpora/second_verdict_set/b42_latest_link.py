"""A deploy script that leaves nothing but a link, whose target is named after a clock that C read."""
import ctypes
import os


class Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def build_number():
    spec = Timespec()
    ctypes.CDLL(None).clock_gettime(0, ctypes.byref(spec))
    return spec.seconds * 10**9 + spec.nanoseconds


def point(link, target):
    beside = link + ".new"
    os.symlink(target, beside)
    os.replace(beside, link)


point("latest", f"builds/{build_number()}")
print("deployed")
