"""A report is made in memory that has no name, and the kernel copies it to standard output."""
import ctypes
import os
import sys


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

print("report follows", flush=True)
memory = os.memfd_create("report")
os.write(memory, f"measured at {nanoseconds()}\n".encode())
size = os.fstat(memory).st_size
os.lseek(memory, 0, os.SEEK_SET)
if os.sendfile(sys.stdout.fileno(), memory, 0, size) != size:
    sys.exit("short copy")
os.close(memory)
print("end of the report")
