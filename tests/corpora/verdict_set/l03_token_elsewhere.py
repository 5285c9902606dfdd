"""Draws 32 bytes by getrandom of the C library and writes them with C's streams to a file outside of the folder; prints one word."""
import ctypes
import os

libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
libc.fwrite.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p]
libc.fclose.argtypes = [ctypes.c_void_p]
token = ctypes.create_string_buffer(32)
libc.getrandom(token, ctypes.c_size_t(32), 0)
os.makedirs("/var/tmp/bs_l03", exist_ok=True)
file = libc.fopen(b"/var/tmp/bs_l03/token.bin", b"wb")
libc.fwrite(token, 1, 32, file)
libc.fclose(file)
print("done")
