"""Asks a daemon for a number over a Unix socket by connect and read of the C library, and prints the answer."""
import ctypes
import os

libc = ctypes.CDLL(None)
handle = libc.socket(1, 1, 0)
address = (1).to_bytes(2, "little") + os.fsencode("daemon.sock") + b"\0"
if libc.connect(handle, address, len(address)) != 0:
    print("nobody there")
else:
    answer = ctypes.create_string_buffer(64)
    count = libc.read(handle, answer, ctypes.c_size_t(64))
    print("daemon says", answer.raw[:max(count, 0)].decode().strip())
libc.close(handle)
