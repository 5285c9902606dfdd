"""Opens /dev/urandom in C and leaves with an exit code made of what it read; prints nothing of it."""
import ctypes
import sys

libc = ctypes.CDLL(None)
handle = libc.open(b"/dev/urandom", 0)
noise = ctypes.create_string_buffer(8)
libc.read(handle, noise, ctypes.c_size_t(8))
libc.close(handle)
print("leaving")
sys.exit(1 + int.from_bytes(noise.raw, "little") % 250)
