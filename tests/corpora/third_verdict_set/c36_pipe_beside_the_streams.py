"""A child gets its number over a pipe of its own, none of the three streams, and writes a file that depends on it."""
import ctypes
import os
import subprocess
import sys


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

CHILD = """
import os, sys
number = int(os.read(int(sys.argv[1]), 100))
with open("lot.txt", "w") as out:
    out.write(f"lot {number}\\n")
print("written")
"""
reading, writing = os.pipe()
child = subprocess.Popen([sys.executable, "-c", CHILD, str(reading)], pass_fds=[reading])
os.close(reading)
os.write(writing, str(nanoseconds()).encode())
os.close(writing)
print("child left with", child.wait())
