"""A progress line that is overwritten again and again; what finally stands there is another each time."""
import ctypes
import sys
import time


def noise():
    buffer = ctypes.create_string_buffer(8)
    ctypes.CDLL(None).getrandom(buffer, 8, 0)
    return int.from_bytes(buffer.raw, "little")


checksum = 0
for step in range(1, 11):
    checksum ^= noise()
    sys.stderr.write(f"\rchecking {step * 10:3d}%")
    sys.stderr.flush()
    time.sleep(0.01)
sys.stderr.write(f"\rchecksum of all parts is {checksum:016d}\n")
