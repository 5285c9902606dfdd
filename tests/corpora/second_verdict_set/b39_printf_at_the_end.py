"""Text that the C library keeps in its own buffer, and flushes only when the process ends."""
import ctypes

libc = ctypes.CDLL(None)
libc.time.restype = ctypes.c_long
libc.random.restype = ctypes.c_long


class Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def nanoseconds():
    spec = Timespec()
    libc.clock_gettime(1, ctypes.byref(spec))
    return spec.nanoseconds


libc.printf(b"solver: residual 1e-9\n")
libc.printf(b"solver: finished at %ld ns\n", ctypes.c_long(nanoseconds()))
libc.printf(b"solver: bye\n")
