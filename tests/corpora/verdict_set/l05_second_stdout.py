"""Writes sixteen bytes that the kernel drew for this process to duplicates of standard output: once by write in C, once by sendfile."""
import ctypes
import os

libc = ctypes.CDLL(None)
libc.getauxval.restype = ctypes.c_void_p
libc.getauxval.argtypes = [ctypes.c_ulong]
noise = ctypes.string_at(libc.getauxval(25), 16).hex().encode() + b"\n"
twin = os.dup2(os.dup(1), 57)
libc.write(twin, noise, len(noise))
memory = os.memfd_create("memory")
os.write(memory, noise[::-1])
os.sendfile(twin, memory, 0, len(noise))
print("done")
