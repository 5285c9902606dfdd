"""Cuts an existing file to a random length by truncate of the C library, which never opens it."""
import ctypes

libc = ctypes.CDLL(None)
libc.getauxval.restype = ctypes.c_void_p
libc.getauxval.argtypes = [ctypes.c_ulong]
libc.truncate.argtypes = [ctypes.c_char_p, ctypes.c_long]
noise = ctypes.string_at(libc.getauxval(25), 8)
print("cut", libc.truncate(b"pad.bin", int.from_bytes(noise, "little") % 1_000_000))
