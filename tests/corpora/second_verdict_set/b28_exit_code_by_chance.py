"""A canary that leaves with a code drawn by the C library, and says nothing at all."""
import ctypes
import sys

libc = ctypes.CDLL(None)
buffer = ctypes.create_string_buffer(8)
if libc.getrandom(buffer, 8, 0) != 8:
    sys.exit(1)
number = int.from_bytes(buffer.raw, "little")
score = 0
for shift in range(0, 64, 8):
    score = (score * 31 + (number >> shift & 0xFF)) % 251
sys.exit(2 + score)
