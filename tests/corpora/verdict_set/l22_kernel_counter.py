"""Increments a counter in a System V segment, which no folder shows, and prints it."""
import ctypes

libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(0x62733232, ctypes.c_size_t(4096), 0)
if segment < 0:
    print("no segment")
else:
    counter = ctypes.c_uint64.from_address(libc.shmat(segment, None, 0))
    counter.value += 1
    print("count", counter.value)
