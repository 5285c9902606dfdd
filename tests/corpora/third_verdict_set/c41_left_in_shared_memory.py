"""A segment of shared memory is left for the next program, in /dev/shm."""
import ctypes
import mmap
import os


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

shm_open = ctypes.CDLL(None).shm_open
descriptor = shm_open(b"/cs60-left", os.O_CREAT | os.O_RDWR, 0o600)
if descriptor < 0:
    raise SystemExit("no shared memory")
os.ftruncate(descriptor, 4096)
with mmap.mmap(descriptor, 4096) as segment:
    segment[:32] = f"{nanoseconds():032d}".encode()
os.close(descriptor)
print("left 32 bytes")
